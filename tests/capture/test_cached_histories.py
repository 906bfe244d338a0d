"""Programs that put a conversation into a cache, and send what is new alone: google-adk."""

from typing import Any

import orjson
import pytest

from sessions_app.capture.client_caches import making_of
from sessions_app.capture.known_groupings import KnownGroupings
from sessions_app.capture.recording import Recording
from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.models import CapturedRequest, Exchange, Turn
from tests.capture.answers import MODEL, audited, counted, event, says
from tests.capture.caching_program import ASKED, BOOK, NAME, TOKENS, CachingProgram, program
from tests.capture.conversations import body_of, model, result, user
from tests.factories import chunk

__all__ = ["program"]

pytestmark = pytest.mark.django_db

SIGNATURE = b"what was thought before the call"
CALL = {"functionCall": {"name": "weather", "args": {}, "id": "id-weather"}}
CALLED = event(chunk(CALL, signature=SIGNATURE, finish="STOP", usage=counted(9_000)))
CALL_TURN = orjson.loads(chunk(CALL, signature=SIGNATURE))["candidates"][0]["content"]
ANSWERED = result("weather", temp="21C")
OTHER = "cachedContents/d4e5f6"


def put(program: CachingProgram, name: str, *contents: Any) -> None:
    """Makes a cache of the instruction, the tools and these contents."""
    held = {"model": f"models/{MODEL}", **orjson.loads(body_of(contents)), "ttl": "3600s"}
    program.of_caches("POST", "/v1beta/cachedContents", held, program.said(name, 1))


def ask_behind(program: CachingProgram, name: str, *contents: Any, answer: str = "Warm.") -> Exchange:
    body = body_of(contents, system=None, tools=None, cachedContent=name)
    return program.exchange(body, says(answer, TOKENS + 20, TOKENS))


def converse(program: CachingProgram) -> list[Exchange]:
    """A question with a call, a second one, and a third one behind a newer cache."""
    found = [program.exchange(body_of([ASKED]), CALLED)]
    put(program, NAME, ASKED, CALL_TURN)
    found.append(ask_behind(program, NAME, ANSWERED))
    more = ANSWERED, model("Warm."), user("And in London?")
    found.append(ask_behind(program, NAME, *more, answer="Cold, I fear."))
    put(program, OTHER, ASKED, CALL_TURN, *more, model("Cold, I fear."))
    return [*found, ask_behind(program, OTHER, user("And in Rome?"), answer="Hot.")]


def test_it_is_one_conversation(program: CachingProgram) -> None:
    exchanges = converse(program)
    assert {one.session_id for one in exchanges} == {exchanges[0].session_id}
    rows = CapturedRequest.objects.exclude(exchange=None).order_by("pk")
    placed = [(row.relation, row.role, row.lane == rows[0].lane) for row in rows]
    assert placed == [("opens", "main", True), *[("continues", "main", True)] * 3]
    runs = [one.run_id for one in exchanges]
    assert runs[0] == runs[1] and len(set(runs)) == 3, "a run goes from a question to its answer"
    assert not audited()


def test_its_turns_stand_below_each_other(program: CachingProgram) -> None:
    session = converse(program)[-1].session
    session.refresh_from_db()
    kinds, turn = [], session.head
    while turn is not None:
        kinds.append(turn.kind)
        turn = turn.parent
    question, answer = Turn.Kind.USER_TASK, Turn.Kind.MODEL_RESPONSE
    first = [question, Turn.Kind.FUNCTION_CALLING, Turn.Kind.TOOL_RESPONSE, answer]
    assert kinds[::-1] == [*first, *[question, answer] * 2]
    assert Turn.objects.filter(session=session).count() == len(kinds)


def test_another_process_knows_what_the_cache_holds(program: CachingProgram) -> None:
    program.exchange(body_of([ASKED]), CALLED)
    put(program, NAME, ASKED, CALL_TURN)
    program.recording = Recording()
    ask_behind(program, NAME, ANSWERED)
    program.recording = Recording()
    ask_behind(program, NAME, ANSWERED, model("Warm."), user("And in London?"))
    rows = CapturedRequest.objects.exclude(exchange=None).order_by("pk")
    assert [row.relation for row in rows] == ["opens", "continues", "continues"]


def test_a_process_that_begins_reads_each_cache_once(
    program: CachingProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    converse(program)
    read: list[str] = []

    def noted(name: str, owner_id: int) -> bytes:
        read.append(name)
        return making_of(name, owner_id)

    monkeypatch.setattr("sessions_app.capture.known_groupings.making_of", noted)
    KnownGroupings().refresh(program.address.pk)
    assert read == [NAME, OTHER]


def test_a_signature_in_the_cache_has_come_back(program: CachingProgram) -> None:
    first, *_ = converse(program)
    (trace,) = received_traces(first)
    assert trace.state is SignatureState.EQUAL
    places = [(one.exchange, one.place) for one in trace.returned]
    assert places == [(number, "cached content 2, part 1") for number in (2, 3, 4)]


def test_a_signature_that_the_cache_has_not_has_not_come_back(program: CachingProgram) -> None:
    first = program.exchange(body_of([ASKED]), CALLED)
    put(program, NAME, ASKED, {"role": "model", "parts": [CALL]})
    ask_behind(program, NAME, ANSWERED)
    (trace,) = received_traces(first)
    assert trace.state is not SignatureState.EQUAL and not trace.returned


def test_two_questions_on_one_document_are_two_conversations(program: CachingProgram) -> None:
    put(program, NAME, BOOK)
    asked = [ask_behind(program, NAME, user(f"What says chapter {number} of bread?")) for number in (1, 2)]
    assert asked[0].session_id != asked[1].session_id


def test_two_questions_behind_one_conversation_are_two_conversations(program: CachingProgram) -> None:
    """As with examples of how to answer, which say nothing of where a question belongs."""
    put(program, NAME, user("Say it in one word: is bread good?"), model("Yes, it is good."))
    asked = [ask_behind(program, NAME, user(f"What says chapter {number} of bread?")) for number in (1, 2)]
    assert asked[0].session_id != asked[1].session_id
