"""Out as a file and in again: the same tree, the same bytes, and nothing that is no session."""

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from sessions_app.chat.import_file import ImportFile
from sessions_app.chat.import_history import check_file
from sessions_app.chat.run_ending import Ending
from sessions_app.chat.transfer import export_markdown, export_session
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import Run, Session, Turn
from sessions_app.panels.row_transfer import TRANSFERRED
from sessions_app.prompt.signatures import prepare_signatures, signatures_of
from sessions_app.prompt.turns import user_task
from sessions_app.prompt.verdict import Verdict
from sessions_app.wording import verdicts
from sessions_app.wording.endings import TITLES
from sessions_app.wording.imports import error_texts
from tests import factories
from tests.chat.importing import import_session
from tests.factories import NOW


@pytest.fixture
def session(alice: User) -> Session:
    """Two branches, tools, signatures, a NUL and settings."""
    session = factories.make_session(
        alice, purpose="Fly", settings={"temperature": 0.5}, args={"city": "Paris"}
    )
    factories.play_flight(session)
    factories.answered(session, "And \0 tomorrow?", "👩‍🚀 \0 done")
    first = Turn.objects.filter(session=session).order_by("pk")[0]
    Turn.append(session, user_task(str(uuid.uuid4()), "Another beginning"), parent=None)
    session.switch_branch(Turn.objects.get(session=session, depth=5))
    assert first.depth == 0
    return session


def shape(session: Session) -> list[tuple[Any, ...]]:
    turns = Turn.objects.filter(session=session).select_related("content", "parent", "run").order_by("pk")
    places = {turn.pk: place for place, turn in enumerate(turns)}
    return [
        (places.get(turn.parent_id or 0), turn.depth, turn.kind, turn.wire, turn.route, turn.text, turn.cut)
        for turn in turns
    ]


def changed(original: Session, /, **values: Any) -> bytes:
    return json.dumps(json.loads(export_session(original)) | values).encode()


def test_what_comes_back_is_the_same_tree_with_the_same_bytes(session: Session, bob: User) -> None:
    copy = import_session(bob, export_session(session))
    assert shape(copy) == shape(session)
    assert (copy.owner, copy.purpose, copy.args, copy.settings) == (
        bob,
        "Fly",
        {"city": "Paris"},
        {"temperature": 0.5},
    )
    assert copy.head and copy.head.depth == 5 and copy.public != session.public


def test_messages_keep_the_times_at_which_they_were_written(session: Session, bob: User) -> None:
    """History chunks are named by them, renditions tell them, and a search shows them."""
    written = [NOW - timedelta(days=40 - day) for day in range(session.turns.count())]
    for turn, moment in zip(session.turns.order_by("pk"), written, strict=True):
        Turn.objects.filter(pk=turn.pk).update(created_at=moment)
    copy = import_session(bob, export_session(session))
    assert [turn.created_at for turn in copy.turns.order_by("pk")] == written


def test_a_file_without_times_is_of_now(session: Session, bob: User) -> None:
    told = json.loads(export_session(session))
    turns = [{name: value for name, value in turn.items() if name != "created_at"} for turn in told["turns"]]
    before = timezone.now()
    copy = import_session(bob, changed(session, turns=turns))
    assert all(turn.created_at >= before for turn in copy.turns.all())


def test_signatures_of_another_route_are_not_sent(session: Session, bob: User) -> None:
    copy = import_session(bob, export_session(session))
    values = [turn.value for turn in Turn.objects.branch(copy.head_id)]
    dressed, notes = prepare_signatures(values, route="this-machine", required=True)
    assert any(signatures_of(value.wire) for value in values) and notes
    assert not any(signatures_of(value.wire) for value in dressed)


def test_runs_come_back_as_they_ended_and_requests_do_not(session: Session, bob: User) -> None:
    factories.make_run(session, "Going on")
    copy = import_session(bob, export_session(session))
    statuses = list(copy.runs.order_by("pk").values_list("status", flat=True))
    assert statuses == ["completed", "completed", "stopped"] and not copy.exchanges.exists()
    assert Run.objects.active_in(copy.pk) is None
    first, *_, last = copy.runs.order_by("pk")
    ending = Ending.of(last, [])
    assert first.trigger and ending and ending.title == TITLES["unanswered"]


def test_what_pipeweb_wrote_by_itself_still_says_so(session: Session, bob: User) -> None:
    session.runs.update(continuations=2)
    copy = import_session(bob, export_session(session))
    assert set(copy.runs.values_list("continuations", flat=True)) == {2}


def test_the_file_tells_of_the_requests(session: Session) -> None:
    file = json.loads(export_session(session))
    assert (file["format"], file["version"]) == ("pipeweb-session", 1)
    assert file["exchanges"][-1]["usage"]["promptTokenCount"] == 1204


def test_the_file_has_verdicts_as_figures_and_as_a_sentence(session: Session) -> None:
    exchange = json.loads(export_session(session))["exchanges"][-1]
    verdict = Verdict.restored(exchange["verdict_figures"], None)
    assert verdict is not None and exchange["verdict"] == verdict.code
    assert exchange["verdict_sentence"] == verdicts.sentence(verdict)


def test_a_file_of_a_version_that_wrote_verdicts_in_words_is_still_read(session: Session, bob: User) -> None:
    file = json.loads(export_session(session))
    for exchange in file["exchanges"]:
        exchange["verdict_words"] = "1,024 of 1,204 tokens cached."
        del exchange["verdict_figures"], exchange["verdict_sentence"]
    assert import_session(bob, json.dumps(file).encode()).turns.count() == session.turns.count()


def test_importing_twice_makes_two_sessions(session: Session, alice: User) -> None:
    assert import_session(alice, export_session(session)) != import_session(alice, export_session(session))


def test_the_export_takes_the_same_queries_however_long_it_is(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        factories.make_history(session, 3)
        with django_assert_num_queries(4 + len(TRANSFERRED)):
            export_session(session)


@pytest.mark.parametrize("read", ["run", "exchange"])
def test_what_is_added_while_it_is_read_is_left_out(session: Session, bob: User, read: str) -> None:
    before = export_session(session)
    added: list[Any] = []

    def add(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT") and f'FROM "sessions_app_{read}"' in sql and not added:
            added.append(None)
            added[0] = factories.make_exchange(factories.make_run(Session.objects.get(pk=session.pk)))
        return execute(sql, *rest)

    with connection.execute_wrapper(add):
        body = export_session(session)
    assert added and Run.objects.count() == len(json.loads(before)["runs"]) + 1
    assert {**json.loads(body), "exported_at": ""} == {**json.loads(before), "exported_at": ""}
    import_session(bob, body)


def test_markdown_is_the_branch_in_view(session: Session) -> None:
    text = export_markdown(session)
    assert text.startswith("# Flights\n") and "## You\n\nIs AA100 late?" in text
    assert "Tool `check_flight`" in text and "It is on time." in text and "Another beginning" not in text


def test_markdown_begins_with_the_model_where_it_spoke_first(alice: User) -> None:
    spoken = [{"role": role, "content": role} for role in ("assistant", "user")]
    text = export_markdown(import_session(alice, json.dumps(spoken).encode()))
    assert text.split("\n\n")[2:] == ["## Model", "assistant", "## You", "user\n"]


KEY = str(uuid.uuid4())

WIDE = f'{{"role": "user", "parts": [{{"text": "a", "odd": [{"[]," * 3_000_000}[]]}}]}}'
"""The content of a turn: 9 MB of empty lists."""


def turn_of(content: str) -> dict[str, Any]:
    return {"key": KEY, "kind": "user_task", "content": content}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("values", "reason", "where"),
    [
        ({"format": "something"}, ImportProblem.WRONG, "format"),
        ({"version": 2}, ImportProblem.NEWER, ""),
        ({"version": 0}, ImportProblem.WRONG, "version"),
        ({"version": "new"}, ImportProblem.WRONG, "version"),
        ({"session": {"model": ""}}, ImportProblem.WRONG, "session.model"),
        ({"session": {"model": "m", "settings": {"temperature": 9}}}, ImportProblem.WRONG, "temperature"),
        ({"session": {"model": "m", "args": {"a": "\0"}}}, ImportProblem.WRONG, "session.args"),
        ({"turns": [turn_of("{}")]}, ImportProblem.WRONG, "turns.0"),
        ({"turns": [turn_of("[" * 100_000)]}, ImportProblem.WRONG, "turns.0"),
        ({"turns": [turn_of(WIDE)]}, ImportProblem.WRONG, "turns.0"),
        ({"session": {"model": "m", "args": nested(260)}}, ImportProblem.TOO_DEEP, ""),
        ({"session": {"model": "m", "args": {"a": [[]] * 100_000}}}, ImportProblem.WRONG, "session.args"),
        ({"turns": {}}, ImportProblem.WRONG, "turns"),
        ({"turns": []}, ImportProblem.UNKNOWN_HEAD, ""),
        ({"runs": [{"key": KEY, "status": "over" * 9}]}, ImportProblem.WRONG, "runs.0.status"),
        ({"runs": [{"key": KEY, "status": "completed", "now": "0001-01-01T00:00:00Z"}]}, "wrong", "now"),
    ],
)
def test_what_is_wrong_is_said(
    session: Session, alice: User, values: dict[str, Any], reason: str, where: str
) -> None:
    before = Session.objects.count()
    with pytest.raises(NotImportable) as caught:
        import_session(alice, changed(session, **values))
    assert caught.value.reason == reason and where in caught.value.figures.get("where", "")
    sentence, hint = error_texts(caught.value)
    assert sentence.endswith(".") and "Value error" not in sentence and hint
    assert Session.objects.count() == before


def turns_of(session: Session) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = json.loads(export_session(session))["turns"]
    return turns


def test_a_turn_before_its_parent_is_refused(session: Session, alice: User) -> None:
    with pytest.raises(NotImportable, match="unknown_parent"):
        import_session(alice, changed(session, turns=turns_of(session)[::-1]))


def test_a_circle_of_turns_is_refused(session: Session, alice: User) -> None:
    turns = turns_of(session)
    turns[0]["parent"] = turns[1]["key"]
    with pytest.raises(NotImportable, match=r"unknown_parent.*turns\.0"):
        import_session(alice, changed(session, turns=turns))


def test_a_turn_that_stands_twice_is_refused(session: Session, alice: User) -> None:
    turns = turns_of(session)
    with pytest.raises(NotImportable, match=rf"repeated_turn.*turns\.{len(turns)}"):
        import_session(alice, changed(session, turns=[*turns, turns[0]]))


def test_a_model_that_speaks_as_a_person_is_refused(session: Session, alice: User) -> None:
    turns = turns_of(session)
    turns[0]["kind"] = "model_response"
    with pytest.raises(NotImportable, match="speaks as model"):
        import_session(alice, changed(session, turns=turns))


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_file_is_read_or_refused_with_words(tmp_path_factory: Any, body: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(body)
    with pytest.raises(NotImportable) as caught, ImportFile(path) as file:
        check_file(file, lambda: None)
    assert all(error_texts(caught.value))


def test_the_pages_export_and_import(client: Client, stranger: Client, session: Session) -> None:
    answer = client.get(reverse("export-json", args=[session.public]))
    assert answer["Content-Disposition"] == 'attachment; filename="flights.json"'
    assert stranger.get(reverse("export-json", args=[session.public])).status_code == 404
    assert stranger.get(reverse("export-markdown", args=[session.public])).status_code == 404
    made = client.post(reverse("import"), {"file": SimpleUploadedFile("x.json", answer.content)})
    assert made["Location"].startswith("/s/")


@pytest.mark.parametrize("body", [b"", b"no json", b"{}"])
def test_a_wrong_file_is_explained_on_the_list(client: Client, body: bytes) -> None:
    answer = client.post(reverse("import"), {"file": SimpleUploadedFile("x.json", body)}, follow=True)
    assert 'class="notice error"' in answer.content.decode() and not Session.objects.exists()
