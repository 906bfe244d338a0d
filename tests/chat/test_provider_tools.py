"""The provider's own tools on the pages of a chat, and what exports keep of their answers."""

import uuid
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.chat.answer_markdown import told
from sessions_app.chat.provider_tools import ProviderToolSwitches, left_out_notes
from sessions_app.chat.transfer import export_markdown, export_session
from sessions_app.models import Assistant, Session, Turn
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.citations import Citations, CitedPlace, CitedSource
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.wire import dumps
from sessions_app.runs import history_edits
from tests import factories
from tests.chat.importing import import_session

SUGGESTIONS = (
    '<style>.chip{color:red}</style><a class="chip" href="https://www.google.com/search?q=bees">bees</a>'
)
CODE = {"executableCode": {"language": "PYTHON", "code": "print('```')"}}
RESULT = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "```\n"}}


@pytest.fixture
def session(alice: User) -> Session:
    return factories.make_session(alice)


def answer(session: Session, *parts: dict[str, Any], **facts: Any) -> Turn:
    run = factories.make_run(session, "Do bees dance?")
    value = TurnValue(
        str(uuid.uuid4()), TurnKind.MODEL_RESPONSE, dumps({"role": "model", "parts": list(parts)})
    )
    turn = Turn.append(session, value, parent=session.head, run=run, **facts)
    factories.finish(run)
    return turn


def switch(client: Client, session: Session, name: str, on: bool) -> Session:
    data = {"name": name, "on": ["code_execution", *([name] if on else [])]}
    address = reverse("provider-tools", args=[session.public])
    answered = client.post(address, data, headers={"hx-request": "true"})
    assert answered.status_code == 200
    session.refresh_from_db()
    return session


def test_a_tool_is_switched_on_and_off(client: Client, session: Session) -> None:
    assert switch(client, session, "google_search", True).options.provider_tools == ["google_search"]
    assert switch(client, session, "code_execution", True).options.provider_tools == [
        "code_execution",
        "google_search",
    ]
    assert switch(client, session, "google_search", False).options.provider_tools == ["code_execution"]


def test_no_other_name_is_taken(client: Client, session: Session) -> None:
    address = reverse("provider-tools", args=[session.public])
    assert client.post(address, {"name": "google_maps", "on": "google_maps"}).status_code == 404


def test_what_a_model_leaves_out_is_said(session: Session) -> None:
    assert left_out_notes("gemini-3.8-flash", ["google_search"], "") == ()
    assert len(left_out_notes("gemini-2.5-flash", ["google_search"], "")) == 1
    assert len(left_out_notes("gemini-2.5-flash", ["google_search"], '{"type": "object"}')) == 2
    session.model = "somebody-elses"
    assert [one.is_known for one in ProviderToolSwitches.of(session).switches] == [False, False, False]


def test_another_dialect_offers_none(session: Session, settings: Settings) -> None:
    settings.PIPEWEB_DIALECT = "openai"
    assert not any(one.is_known for one in ProviderToolSwitches.of(session).switches)
    assert len(left_out_notes(session.model, ["google_search"], '{"type": "object"}')) == 2


def test_an_assistant_brings_its_tools_and_schema(client: Client, alice: User) -> None:
    schema = '{"type": "object"}'
    assistant = Assistant.objects.create(
        owner=alice, name="Finder", provider_tools=["google_search"], answer_schema=schema
    )
    client.post(reverse("new-session"), {"quick": "1", "assistant": str(assistant.public)})
    options = Session.objects.of(alice).latest("pk").options
    assert (options.provider_tools, options.answer_schema) == (["google_search"], schema)
    copy = assistant.duplicate(alice)
    assert (copy.provider_tools, copy.answer_schema) == (["google_search"], schema)


def test_a_box_of_the_assistant_that_was_unchecked_stays_off(client: Client, alice: User) -> None:
    assistant = Assistant.objects.create(owner=alice, name="Finder", provider_tools=["google_search"])
    named = {"assistant": str(assistant.public), "tools_of": str(assistant.public)}
    client.post(reverse("new-session"), {"quick": "1", "provider_tools": ["url_context"], **named})
    assert Session.objects.of(alice).latest("pk").options.provider_tools == ["url_context"]


def test_the_suggestions_stand_in_a_frame_without_scripts(client: Client, session: Session) -> None:
    turn = answer(session, {"text": "They do."}, citations=Citations(suggestions=SUGGESTIONS))
    address = reverse("suggestions", args=[session.public, turn.public])
    page = client.get(session.get_absolute_url()).content.decode()
    frame = page.partition("<iframe")[2].partition(">")[0]
    assert address in frame and 'sandbox="allow-popups allow-popups-to-escape-sandbox"' in frame
    shown = client.get(address)
    policy = shown["Content-Security-Policy"]
    assert SUGGESTIONS in shown.content.decode() and shown["X-Frame-Options"] == "SAMEORIGIN"
    assert "default-src 'none'" in policy and "sandbox allow-popups" in policy
    assert "script-src" not in policy and "allow-scripts" not in policy and "allow-same-origin" not in policy
    other = session.turns.exclude(pk=turn.pk).get()
    assert client.get(reverse("suggestions", args=[session.public, other.public])).status_code == 404


def test_code_stands_in_the_text_and_moves_the_marks(session: Session) -> None:
    citations = Citations(
        sources=(CitedSource(title="a"),),
        places=(CitedPlace(end=5, sources=(0,)), CitedPlace(end=9, sources=(0,))),
    )
    turn = answer(session, {"text": "Bees."}, CODE, RESULT, {"text": "They"}, citations=citations)
    markdown, moved = told(turn)
    assert markdown.startswith("Bees.\n\n````python\nprint('```')\n````\n\n````output\n```\n````\n\nThey")
    ends = [markdown[: place.end] for place in moved.places]
    assert ends[0].endswith("Bees.") and ends[1].endswith("They")


def test_failed_code_is_marked_so(session: Session) -> None:
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": ""}}
    assert "```failed\n" in told(answer(session, CODE, failed)).markdown


def test_a_search_is_a_tool_of_the_activity(client: Client, session: Session) -> None:
    called = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["bees"]}, "id": "a"}}
    returned = {
        "toolResponse": {
            "toolType": "GOOGLE_SEARCH_WEB",
            "response": {"search_suggestions": "<b>"},
            "id": "a",
        }
    }
    answer(session, called, returned, {"text": "They do."})
    page = client.get(session.get_absolute_url()).content.decode()
    assert "Web search" in page and "bees" in page and "search_suggestions" not in page


JSON_TEXT = '{"city":"Oslo"}'


def test_an_answer_by_a_schema_is_formatted(client: Client, session: Session) -> None:
    turn = answer(session, {"text": JSON_TEXT}, fit=Fit(case="fits"))
    assert told(turn).markdown == '```json\n{\n  "city": "Oslo"\n}\n```'
    page = client.get(session.get_absolute_url()).content.decode()
    assert '<span class="code-language">json</span>' in page and "misfit" not in page


def test_one_that_does_not_fit_says_where(client: Client, session: Session) -> None:
    answer(session, {"text": JSON_TEXT}, fit=Fit(case="misfit", path="$.city", rule="type", places=1))
    page = client.get(session.get_absolute_url()).content.decode()
    assert "misfit" in page and "$.city" in page


def test_a_fork_and_an_import_keep_all_of_it(session: Session) -> None:
    facts = {"citations": Citations(suggestions=SUGGESTIONS), "fit": Fit(case="fits")}
    turn = answer(session, CODE, RESULT, {"text": JSON_TEXT}, **facts)
    fork = history_edits.fork_session(session.pk, turn.public)
    copy = import_session(session.owner, export_session(session))
    for other in (fork, copy):
        other.refresh_from_db()
        assert other.head is not None
        assert other.head.wire == turn.wire
        assert (other.head.cited, other.head.schema_fit) == (turn.cited, turn.schema_fit)


def test_the_markdown_has_the_code_and_its_sources(session: Session) -> None:
    citations = Citations(sources=(CitedSource(title="Bees", uri="https://bees.example/"),))
    answer(session, CODE, RESULT, {"text": "They do."}, citations=citations)
    written = export_markdown(session)
    assert "````python" in written and "They do." in written and "1. Bees <https://bees.example/>" in written


def test_the_settings_of_an_exported_chat_come_back(session: Session) -> None:
    session.settings = {"provider_tools": ["url_context"], "answer_schema": '{"type": "object"}'}
    session.save()
    answer(session, {"text": "They do."})
    copy = import_session(session.owner, export_session(session))
    assert copy.options.provider_tools == ["url_context"]
    assert orjson.loads(copy.options.answer_schema) == {"type": "object"}
