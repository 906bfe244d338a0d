"""What the model is sent when texts are templates, and what the records say of it."""

import sys
import uuid
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
from django.contrib.auth.models import User

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import PromptError
from sessions_app.models import Assistant, Exchange, PromptText, QueuedMessage, Run, Session, Turn
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.clock import clock_text
from sessions_app.prompt.templates import Rendered
from sessions_app.rendering.renderer import RenderTime, renderer
from sessions_app.runs.request import Endpoint, prepare
from sessions_app.runs.start import start_edit, start_next, start_retry, start_send
from tests import factories

PREPARE = "sessions_app.runs.request.prepare"
"""The module; the package has a function of that name."""

pytestmark = pytest.mark.django_db

ENDPOINT = Endpoint(
    "route-a", "Emulator", "gemini", has_explicit_caches=True, wire_body=lambda model, body: body
)


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def started(session: Session, text: str = "Hi", language: str = "") -> Run:
    run = start_send(session.pk, uuid.uuid4(), text, "process", language)
    assert run is not None
    return run


def request(session: Session, text: str = "Hi", language: str = "") -> Exchange:
    """The request for a message, recorded and not sent."""
    session.save(update_fields=["purpose", "background", "args", "settings", "assistant"])
    return prepare(started(session, text, language), 1, ENDPOINT, TOOLBOX).exchange


def layers(exchange: Exchange) -> tuple[dict[str, Any], dict[str, Any]]:
    """The static and the dynamic layer as they would travel."""
    parts = orjson.loads(exchange.request_body())["contents"][0]["parts"]
    return orjson.loads(parts[0]["text"]), orjson.loads(parts[1]["text"])


def record(exchange: Exchange, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in exchange.stages if each["name"] == name)
    return found


def codes(record: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["code"], one["title"]) for one in record["remarks"]]


def test_a_broken_turn_is_refused_by_its_number(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(session)
    assert run.trigger is not None
    error = PromptError(RefusalCode.EMPTY_PART, turn=str(run.trigger.public))
    monkeypatch.setattr(sys.modules[PREPARE], "verify_structure", Mock(side_effect=error))
    with pytest.raises(PromptError) as refused:
        prepare(run, 1, ENDPOINT, TOOLBOX)
    assert refused.value.figures == {"turn": 1}
    (last,) = Run.objects.values_list("stages", flat=True)
    assert last[-1]["remarks"] == [{"code": "empty_part", "turn": "", "part": None, "refused": {"turn": 1}}]


def end(session: Session) -> None:
    session.runs.update(status=Run.Status.COMPLETED)


def test_texts_are_sent_rendered_and_the_record_says_so(session: Session) -> None:
    session.purpose, session.args = "For {{ name }}", {"name": "Jo"}
    exchange = request(session)
    assert layers(exchange)[0]["session_goal"]["purpose"] == "For Jo"
    rendering = record(exchange, "render_templates")
    assert (rendering["status"], codes(rendering)) == ("ok", [("text_rendered", "purpose")])


def test_a_text_that_fails_is_sent_as_written_and_the_record_says_where(session: Session) -> None:
    session.background = "one\n{% broken"
    exchange = request(session)
    assert layers(exchange)[0]["session_goal"]["background"] == "one\n{% broken"
    rendering = record(exchange, "render_templates")
    assert rendering["status"] == "fallback"
    assert codes(rendering) == [("text_fell_back", "instructions")]
    assert rendering["remarks"][0]["line"] == 2 and rendering["remarks"][0]["reason"]


def test_a_clock_in_a_role_is_remarked_as_a_cache_breaker(session: Session) -> None:
    role = PromptText.objects.create(kind="role", name="Guide", body="one\ntwo\n{{ system.current_time }}")
    session.roles.add(role)
    rendering = record(request(session), "render_templates")
    assert rendering["status"] == "noticed"
    breaker = rendering["remarks"][-1]
    assert codes(rendering)[-1] == ("text_breaks_cache", "role “Guide”")
    assert (breaker["line"], breaker["path"], breaker["rate"]) == (3, "system.current_time", "always")


def test_a_moved_text_is_the_last_panel_and_leaves_the_static_layer_alone(session: Session) -> None:
    session.settings = {"dynamic_texts": ["background"]}
    session.background = "It is {{ system.current_datetime }}"
    first = request(session)
    end(session)
    second = request(session)
    static, dynamic = layers(second)
    assert list(dynamic)[-2:] == ["instructions", "current_datetime"]
    assert dynamic["instructions"]["texts"][0]["text"].startswith("It is 20")
    assert "20" not in static["session_goal"]["background"]
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize("minutes", [1, 7, 60])
def test_the_clock_that_is_sent_is_true_of_the_start_of_the_run(session: Session, minutes: int) -> None:
    session.settings = {"clock_minutes": minutes, "time_zone": "Asia/Kathmandu"}
    exchange = request(session)
    told, _, how = layers(exchange)[1]["current_datetime"].partition(" ")
    since = exchange.run.now - datetime.fromisoformat(told)
    assert timedelta(0) <= since < timedelta(minutes=minutes)
    assert how == clock_text(exchange.run.now, minutes).partition(" ")[2]


def test_collisions_of_the_arguments_are_in_the_record(session: Session) -> None:
    session.args = {"message": "mine", "a b": 1}
    preparing = record(request(session), "prepare_prompt_arguments")
    assert preparing["status"] == "noticed"
    assert [one["code"] for one in preparing["remarks"]] == ["argument_unnameable", "argument_loses"]


def test_without_templates_nothing_is_to_be_noticed(session: Session) -> None:
    exchange = request(session)
    names = ("prepare_prompt_arguments", "render_templates")
    assert [record(exchange, name)["status"] for name in names] == ["ok", "ok"]
    assert [record(exchange, name)["remarks"] for name in names] == [[], []]


def test_after_tools_the_message_is_still_the_trigger(session: Session) -> None:
    """The original's: both requests render `lang=fr text=bonjour`."""
    session.background = "lang={{message.language}} text={{message.text}}"
    session.save()
    run = started(session, "bonjour", "fr")
    first = prepare(run, 1, ENDPOINT, TOOLBOX).exchange
    chunk = factories.call_chunk("check_flight", {}, signature=b"signed", finish="STOP")
    factories.receive(first, [chunk])
    factories.answer_calls(run, {"ok": True})
    second = prepare(Run.objects.get(pk=run.pk), 2, ENDPOINT, TOOLBOX).exchange
    backgrounds = [layers(each)[0]["session_goal"]["background"] for each in (first, second)]
    assert backgrounds == ["lang=fr text=bonjour"] * 2


def test_the_persons_own_language_comes_before_the_browsers(session: Session) -> None:
    session.purpose, session.settings = "{{ message.language }}", {"message_language": "Portuguese"}
    assert layers(request(session, language="en-GB"))[0]["session_goal"]["purpose"] == "Portuguese"


def test_a_language_that_was_said_lasts_for_the_messages_after_it(session: Session) -> None:
    session.purpose, session.settings = "{{ message.language }}", {"message_language": "Portuguese"}
    request(session, language="en-GB")
    end(session)
    session.refresh_from_db()
    session.settings = {}
    later = request(session, "And now?", language="en-GB")
    assert Turn.objects.get(triggered=later.run).language == ""
    assert layers(later)[0]["session_goal"]["purpose"] == "Portuguese"


def test_example_messages_stand_in_the_static_layer_with_their_roles(session: Session) -> None:
    """Each is a template of its own: one that fails leaves the other; arguments come before defaults."""
    session.settings = {
        "examples": [
            {"role": "user", "text": "{{ loaves }} loaves, {{ oven.degrees }} degrees"},
            {"role": "assistant", "text": "{% broken"},
        ],
        "variables": [{"name": "loaves", "default": 2}, {"name": "oven.degrees", "default": 240}],
    }
    session.args = {"loaves": 3}
    exchange = request(session)
    static, _ = layers(exchange)
    assert static["example_messages"] == [
        {"role": "user", "text": "3 loaves, 240 degrees"},
        {"role": "assistant", "text": "{% broken"},
    ]
    assert codes(record(exchange, "render_templates"))[1] == ("text_fell_back", "example “assistant”")


def test_a_skill_is_rendered_with_the_arguments_of_the_run(session: Session) -> None:
    PromptText.objects.create(kind="skill", name="Greeting", body="Answer {{ message.text }} in {{ tone }}.")
    session.args = {"tone": "verse"}
    _, dynamic = layers(request(session, "Hi"))
    assert dynamic["skills"] == [{"name": "Greeting", "summary": "", "body": "Answer Hi in verse."}]


def test_a_command_is_written_in_the_language_that_lasts(session: Session) -> None:
    PromptText.objects.create(kind="command", name="Say", body="Say it in {{ message.language }}.")
    session.settings = {"message_language": "Portuguese"}
    session.save()
    started(session)
    end(session)
    Session.objects.filter(pk=session.pk).update(settings={})
    run = started(session, "/say", "en-GB")
    assert run.trigger is not None and run.trigger.text == "Say it in Portuguese."


def test_an_assistant_brings_roles_and_limits_tools(session: Session) -> None:
    guide = Assistant.objects.create(name="Guide", tools=["calculate"], language="Greek")
    guide.roles.add(PromptText.objects.create(kind="role", name="R", body="I am {{ assistant.name }}."))
    session.assistant = guide
    static, _ = layers(request(session))
    assert static["roles"] == [{"name": "R", "body": "I am Guide."}]
    assert (static["constraints"]["language"], static["tool_rules"]["tools"]) == ("Greek", ["calculate"])


def test_a_command_is_sent_and_kept_in_full(session: Session) -> None:
    PromptText.objects.create(kind="command", name="Shorten", body="Shorten for {{ name }}:")
    session.args = {"name": "Jo"}
    session.save()
    run = started(session, "/shorten this")
    assert run.trigger is not None and run.trigger.text == "Shorten for Jo:\n\nthis"


def test_an_edited_message_may_be_a_command_too(session: Session) -> None:
    PromptText.objects.create(kind="command", name="Shorten", body="Shorten.")
    run = started(session, "Hi", "pt")
    end(session)
    assert run.trigger is not None
    edited = start_edit(session.pk, uuid.uuid4(), run.trigger.public, "/shorten", "process")
    assert edited is not None and edited.trigger is not None
    assert (edited.trigger.text, edited.client_language) == ("Shorten.", "pt")


def test_the_browsers_language_lasts_where_nobody_says_another(session: Session) -> None:
    first = started(session, "Hi", "pt")
    end(session)
    again = start_retry(session.pk, uuid.uuid4(), first.public, "process")
    end(session)
    QueuedMessage.objects.create(session=session, client_id=uuid.uuid4(), text="Later")
    queued = start_next(session.pk, "process")
    assert again is not None and queued is not None
    assert (again.client_language, queued.client_language) == ("pt", "pt")


def test_a_turn_knows_the_language_a_person_chose(session: Session) -> None:
    session.settings = {"message_language": "Portuguese"}
    session.save()
    run = started(session, language="en")
    assert Turn.objects.get(triggered=run).language == "Portuguese"


def test_a_text_that_was_ended_is_sent_as_written_and_the_record_says_why(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renderer(), "seconds", 0)
    session.background, session.purpose = "{{ name }}", "Plain"
    exchange = request(session)
    goal = layers(exchange)[0]["session_goal"]
    assert (goal["background"], goal["purpose"]) == ("{{ name }}", "Plain")
    rendering = record(exchange, "render_templates")
    assert (rendering["status"], codes(rendering)) == ("fallback", [("text_fell_back", "instructions")])
    refused = rendering["remarks"][0]
    assert (refused["failure"], refused["limit"]) == ("no_time", 0) and "reason" not in refused


def test_all_texts_of_a_request_share_its_time(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[RenderTime | None] = []

    def seen(*args: Any, time: RenderTime | None = None, **kwargs: Any) -> tuple[Rendered, ...]:
        given.append(time)
        return original(*args, time=time, **kwargs)

    original = renderer().render
    monkeypatch.setattr(renderer(), "render", seen)
    session.assistant = Assistant.objects.create(name="Guide", description="{{ assistant.name }}")
    session.purpose = "{{ assistant.description }}"
    assert layers(request(session))[0]["session_goal"]["purpose"] == "Guide"
    described, written = given[-2:]
    assert described is written is not None and written.spent > 0
