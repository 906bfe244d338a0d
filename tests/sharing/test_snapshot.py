"""What leaves with a snapshot, and what never does."""

import uuid

import pytest
from django.contrib.auth.models import User
from pydantic import ValidationError

from sessions_app.error_codes import ShareProblem
from sessions_app.errors import NotShareable
from sessions_app.events import CARRY_ON
from sessions_app.models import Note, Run, Session, Todo, Turn
from sessions_app.prompt.media import inline_part
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind
from sessions_app.prompt.wire import dumps
from sessions_app.sharing import building, snapshot
from sessions_app.sharing.building import Branch
from sessions_app.sharing.shown import shown
from tests.factories import (
    answer_calls,
    answered,
    call_chunk,
    finish,
    make_exchange,
    make_run,
    make_session,
    play_flight,
    text_chunk,
)
from tests.sharing.links import snapshot_of

PNG = b"\x89PNG\r\n\x1a\n picture"


def append(session: Session, kind: TurnKind, *parts: dict[str, object], **marks: object) -> Turn:
    role = "model" if kind.is_model else "user"
    value = TurnValue(str(uuid.uuid4()), kind, dumps({"role": role, "parts": list(parts)}))
    turn = Turn.append(session, value, parent=session.head)
    Turn.objects.filter(pk=turn.pk).update(**marks)
    return turn


def secretive(alice: User) -> Session:
    """A session whose every other field holds a marker."""
    User.objects.filter(pk=alice.pk).update(
        username="MARK-user", first_name="MARK-first", last_name="MARK-last", email="MARK@example.org"
    )
    session = make_session(
        User.objects.get(pk=alice.pk),
        purpose="MARK-purpose",
        background="MARK-background",
        args={"MARK-argument": "MARK-value"},
    )
    Todo.objects.create(session=session, title="MARK-todo", position=1)
    Note.objects.create(session=session, title="MARK-note", position=1, text="MARK-note")
    play_flight(session)
    run = make_run(session, "Thanks")
    bodies = [
        text_chunk("You are welcome.", signature=b"MARK-signature"),
        b'{"candidates":[{"content":{"parts":[{"mystery":"MARK-part"}],"role":"model"},"finishReason":"STOP"}]}',
    ]
    exchange = make_exchange(run, bodies, usd="98765.4321", response_id="MARK-response")
    finish(run)
    Run.objects.filter(pk=run.pk).update(
        status=Run.Status.FAILED, error={"kind": "ProviderDown", "message": "MARK-error", "hint": "MARK-hint"}
    )
    assert exchange.pk
    return session


@pytest.mark.parametrize("has_details", [True, False])
def test_nothing_but_the_conversation_leaves(alice: User, has_details: bool) -> None:
    stored = snapshot_of(secretive(alice), has_details=has_details).stored().decode()
    assert "You are welcome." in stored and "Is AA100 late?" in stored
    for marker in ("MARK", "TUFSSy", "98765", "thoughtSignature", "gemini", "9876"):
        assert marker not in stored


def test_a_model_that_spoke_first_answers_nobody(alice: User) -> None:
    session = make_session(alice)
    append(session, TurnKind.MODEL_RESPONSE, {"text": "How can I help?"})
    append(session, TurnKind.USER_TASK, {"text": "Is AA100 late?"})
    greeting, message = snapshot_of(session).messages
    assert [step.text for step in greeting.steps] == ["How can I help?"]
    assert (greeting.is_asked, message.is_asked) == (False, True)


def test_text_only_has_neither_tools_nor_thoughts(alice: User) -> None:
    session = make_session(alice)
    play_flight(session)
    run = make_run(session, "And now?")
    make_exchange(
        run, [text_chunk("Let me think.", thought=True), text_chunk("Now **it** is.", finish="STOP")]
    )
    finish(run)
    full, text = snapshot_of(session), snapshot_of(session, has_details=False)
    assert full.messages[0].steps[0].calls[0].name == "check_flight"
    assert full.messages[0].steps[0].calls[0].state == "done"
    assert not full.messages[0].steps[0].calls[0].is_code
    assert full.messages[1].steps[0].thoughts == "Let me think."
    assert [len(message.steps) for message in text.messages] == [1, 1]
    assert "check_flight" not in str(text) and "delayed" not in str(text) and "think" not in str(text)
    assert text.messages[1].steps[0].text == "Now **it** is."


def test_a_stopped_run_says_so_and_a_cut_answer_tells_its_outcome(alice: User) -> None:
    session = make_session(alice)
    for status, outcome in ((Run.Status.STOPPED, ""), (Run.Status.COMPLETED, Outcome.MAX_TOKENS)):
        run = make_run(session)
        make_exchange(run, [text_chunk("Half", finish="STOP")])
        run.end(status)
        Run.objects.filter(pk=run.pk).update(outcome=outcome)
    found = snapshot_of(session).messages
    assert [message.ending for message in found] == ["stopped", "max_tokens"]
    assert all(message.ending_title for message in found)


def test_an_ending_is_a_code() -> None:
    with pytest.raises(ValidationError):
        snapshot.Message(author="person", text="", ending="The provider said no.")


def test_a_summary_and_a_message_of_pipeweb_are_not_the_persons(alice: User) -> None:
    session = make_session(alice)
    append(session, TurnKind.COMPRESSED_HISTORY, {"text": "We met."}, covers=7)
    append(session, TurnKind.MODEL_RESPONSE, {"text": "Yes."})
    first = answered(session, "Go on", "I go on").run
    second = answered(session, "Please go on.", "More").run
    Run.objects.filter(pk=second.pk).update(continuations=1)
    assert first.pk != second.pk
    found = snapshot_of(session).messages
    assert [message.author for message in found] == ["summary", "person", "pipeweb"]
    assert found[0].covers == 7 and found[0].text == "We met."


@pytest.mark.parametrize("by_person", [True, False])
def test_an_answer_that_went_on_is_one_answer(alice: User, by_person: bool) -> None:
    session = make_session(alice)
    answered(session, "Tell me", "The beginning")
    rest = answered(session, CARRY_ON if by_person else "Please go on.", "and the end").run
    Run.objects.filter(pk=rest.pk).update(continuations=0 if by_person else 1)
    found = snapshot_of(session)
    assert [(message.goes_on, message.text) for message in found.messages] == [(False, "Tell me"), (True, "")]
    html = shown(found, ())
    assert html.count('class="bubble"') == 1 and 'class="run goes-on"' in html
    assert "Please go on" not in html and CARRY_ON not in html


def test_a_copy_of_an_earlier_version_with_a_message_of_pipeweb_is_still_read(alice: User) -> None:
    message = snapshot.Message(author="pipeweb", text="Please go on.", steps=(snapshot.Step(text="More"),))
    html = shown(snapshot.Snapshot(title="x", has_details=False, messages=(message,)), ())
    assert "More" in html and "Please go on." not in html


@pytest.mark.parametrize("has_details", [True, False])
def test_thoughts_say_how_long_they_took(alice: User, has_details: bool) -> None:
    session = make_session(alice)
    run = make_run(session, "Think")
    make_exchange(
        run, [text_chunk("Hm.", thought=True), text_chunk("Yes.", finish="STOP")], thought_ms=4_200.0
    )
    finish(run)
    found = snapshot_of(session, has_details=has_details)
    assert ("Thought for 4 s" in shown(found, ())) is has_details
    assert ("4200" in found.stored().decode()) is has_details


@pytest.mark.parametrize("has_details", [True, False])
def test_sources_leave_with_their_answer_and_searches_with_tools(alice: User, has_details: bool) -> None:
    session = make_session(alice)
    run = make_run(session, "Bees?")
    metadata = {
        "groundingChunks": [{"web": {"uri": "https://bees.example", "title": "Bees"}}],
        "groundingSupports": [{"segment": {"endIndex": 4, "text": "Yes."}, "groundingChunkIndices": [0]}],
        "webSearchQueries": ["MARK-query"],
    }
    make_exchange(run, [text_chunk("Yes.", finish="STOP", beside={"groundingMetadata": metadata})])
    finish(run)
    found = snapshot_of(session, has_details=has_details)
    html = shown(found, ())
    assert 'href="#m1-1-source-1"' in html and 'id="m1-1-source-1"' in html
    assert ("MARK-query" in html) is ("MARK-query" in found.stored().decode()) is has_details


def test_files_leave_one_by_one_and_without_their_path(alice: User) -> None:
    session = make_session(alice)
    parts = [inline_part(PNG, "image/png", name) for name in ("/home/MARK/a.png", "b.png")]
    append(session, TurnKind.USER_TASK, *parts, {"text": "Look"})
    append(session, TurnKind.MODEL_RESPONSE, {"text": "I see."})
    none, second = snapshot_of(session).messages[0], snapshot_of(session, chosen=(0,)).messages[0]
    assert none.files == () and none.withheld == 2
    assert [(file.number, file.name) for file in second.files] == [(0, "a.png")]
    assert second.withheld == 1
    other = snapshot_of(session, chosen=(1, 9)).messages[0]
    assert [(file.number, file.name) for file in other.files] == [(0, "b.png")]
    assert "MARK" not in str(second)


def test_a_file_whose_bytes_are_elsewhere_cannot_be_chosen(alice: User) -> None:
    session = make_session(alice)
    data = {"mimeType": "video/mp4", "fileUri": "https://example.org/v1beta/files/a"}
    append(session, TurnKind.USER_TASK, {"fileData": data}, {"text": "Look"})
    append(session, TurnKind.MODEL_RESPONSE, {"text": "I see."})
    message = snapshot_of(session, chosen=(0,)).messages[0]
    assert (message.files, message.withheld) == ((), 0)


def test_a_message_of_a_file_alone_was_asked_and_an_answer_may_end_without_a_word() -> None:
    file = snapshot.File(number=0, name="a.png", mime="image/png", size=1, is_made=False)
    for facts in ({"files": (file,)}, {"withheld": 1}):
        message = snapshot.Message.model_validate({"author": "person", "text": ""} | facts)
        assert message.is_asked and message.ending_title == ""
    assert not snapshot.Message(author="person", text="").is_asked


def test_files_are_counted_on_the_side_that_they_come_from(alice: User) -> None:
    session = make_session(alice)
    append(session, TurnKind.USER_TASK, inline_part(PNG, "image/png", "mine.png"), {"text": "Paint it"})
    append(session, TurnKind.MODEL_RESPONSE, *[inline_part(PNG, "image/png", "made.png")] * 2)
    none, one = snapshot_of(session), snapshot_of(session, chosen=(1,))
    (message,) = none.messages
    assert (message.withheld, message.answer_withheld, message.steps) == (1, 2, ())
    assert [(one.withheld, one.answer_withheld) for one in one.messages] == [(1, 1)]
    before, _, answer = shown(none, ()).partition("Model</h3>")
    assert "1 file not shared" in before and "2 files not shared" in answer


def test_a_lone_surrogate_and_a_nul_are_gone(alice: User) -> None:
    session = make_session(alice)
    answered(session, "Hello", "x")
    wire = b'{"role":"model","parts":[{"text":"a\\ud800b\\u0000c"}]}'
    value = TurnValue(str(uuid.uuid4()), TurnKind.MODEL_RESPONSE, wire)
    Turn.append(session, value, parent=session.head)
    stored = snapshot_of(session).stored()
    assert snapshot.Snapshot.model_validate_json(stored).stored() == stored


def test_the_emulators_account_of_a_request_stays(alice: User) -> None:
    session = make_session(alice)
    report = "Hello.\n\n~~~~pipeweb-emulator-report\nsystem: MARK\n~~~~\n\nMore."
    answered(session, "Hello", report)
    assert snapshot_of(session).messages[0].steps[0].text == "Hello.\n\n\n\nMore."


def test_what_is_being_answered_is_left_out(alice: User) -> None:
    session = make_session(alice)
    answered(session, "First", "One")
    make_run(session, "Second")
    session.refresh_from_db()
    branch = Branch.ending_at(session, session.head)
    assert branch.is_cut
    assert [message.text for message in branch.snapshot(has_details=True, chosen=()).messages] == ["First"]


def test_what_became_of_open_calls(alice: User) -> None:
    session = make_session(alice)
    run = make_run(session)
    make_exchange(run, [call_chunk("check_flight", {"flight": "AA100"}, finish="STOP")])
    answer_calls(run, {"error": "no such flight"})
    make_exchange(run, step=2)
    finish(run)
    assert snapshot_of(session).messages[0].steps[0].calls[0].state == "failed"


@pytest.mark.parametrize("asked", [False, True])
def test_without_an_answer_there_is_nothing_to_share(alice: User, asked: bool) -> None:
    session = make_session(alice)
    if asked:
        make_run(session)
    with pytest.raises(NotShareable) as caught:
        snapshot_of(session)
    assert caught.value.reason == ShareProblem.EMPTY


def test_a_snapshot_has_a_size(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session(alice)
    answered(session, "Hello", "x" * 500)
    monkeypatch.setattr(building, "SIZE_LIMIT", 400)
    with pytest.raises(NotShareable) as caught:
        snapshot_of(session)
    assert caught.value.reason == ShareProblem.TOO_LARGE and caught.value.figures["limit"] == 400
