"""The history stages of a request, through a whole run: what is frozen, mended, refused."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from pipeweb.composition import build_emulator
from sessions_app.models import Exchange, HistoryChunk, Run, Session, Turn
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.detach import SEED, chunk_text
from sessions_app.prompt.layers import Layer
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare
from sessions_app.runs.runner import Runner
from tests.factories import answered, finish, make_run, make_session, play_flight
from tests.runs.conftest import Ask

WORDS = "word " * 330
"""500 estimated tokens."""


@pytest.fixture
def old(alice: User) -> Session:
    """As many turns as seed 4's thresholds need for one chunk, by its own policy."""
    session = make_session(alice, settings={"cache_policy": "seed"})
    for number in range(30):
        answered(session, f"Question {number}. {WORDS}", f"Answer {number}")
    return session


def prepared(session: Session, text: str = "And now?") -> PreparedRequest:
    """A request for a message below the session's head, which then stands where it stood."""
    head = Session.objects.get(pk=session.pk).head
    run = make_run(Session.objects.get(pk=session.pk), text)
    draft = prepare(run, 1, Endpoint.of(build_emulator()), TOOLBOX)
    finish(run).session.advance(head)
    return draft


def sources(draft: PreparedRequest) -> list[str]:
    return [item.source for item in draft.payload.items]


def stage(exchange: Exchange, name: str) -> dict[str, Any]:
    return next(record for record in exchange.stages if record["name"] == name)


@pytest.mark.django_db
def test_old_turns_move_to_the_end_of_the_static_layer(old: Session) -> None:
    branch = Turn.objects.branch(old.head_id)
    draft = prepared(old)
    chunk = HistoryChunk.objects.get()
    assert chunk.messages >= SEED.chunk_messages and chunk.tokens >= SEED.chunk_tokens
    assert chunk.policy == "seed"
    statics = [item.source for item in draft.payload.items if item.layer is Layer.STATIC]
    assert statics[-2:] == [f"chunk:{chunk.pk}", "template:static"]
    assert chunk.content.bytes.decode() == chunk_text([turn.value for turn in branch[: chunk.messages]])
    kept = [str(turn.public) for turn in branch[chunk.messages :]]
    assert [turn.key for turn in draft.layers.buffered] == kept


@pytest.mark.django_db
def test_a_second_request_finds_the_chunk_and_sends_the_same_static_layer(old: Session) -> None:
    first, second = prepared(old), prepared(old, "And then?")
    assert HistoryChunk.objects.count() == 1
    assert first.layers.static == second.layers.static
    assert first.fingerprint == second.fingerprint


@pytest.mark.django_db
def test_the_stage_says_what_was_frozen(old: Session) -> None:
    record = stage(prepared(old).exchange, "detach_history")
    figures = record["figures"]
    assert (figures["chunks_before"], figures["turns_before"], figures["chunks"]) == (0, 61, 1)
    chunk = HistoryChunk.objects.get()
    assert [(one["code"], one["chunk"]) for one in record["remarks"]] == [("chunk_frozen", str(chunk.pk))]
    assert stage(prepared(old).exchange, "detach_history")["status"] == "nothing"


@pytest.mark.django_db
def test_a_detached_request_is_stored_so_that_it_can_be_rebuilt(old: Session) -> None:
    draft = prepared(old)
    kept = Exchange.objects.get(pk=draft.exchange.pk)
    assert kept.request_body() == draft.payload.body and kept.is_faithful()


@pytest.mark.django_db
def test_a_detached_turn_is_never_buffered_as_well(old: Session) -> None:
    draft = prepared(old)
    told = [source for source in sources(draft) if source.startswith(("turn:", "chunk:"))]
    assert len(told) == len(set(told))
    held = HistoryChunk.objects.get().messages
    assert held + len(draft.layers.turns) == len(Turn.objects.branch(draft.exchange.run.trigger_id))


@pytest.fixture
def stopped(alice: User) -> Session:
    """A session whose newest round of tools was never followed by an answer."""
    session = make_session(alice)
    play_flight(session)
    head = session.head
    assert head is not None
    session.advance(head.parent)
    return session


@pytest.mark.django_db
def test_a_message_right_below_a_stopped_round_is_sent_with_a_filler(
    stopped: Session,
) -> None:
    draft = prepared(stopped)
    assert [turn.kind.value for turn in draft.layers.turns] == [
        "user_task",
        "function_calling",
        "tool_response",
        "model_response",
        "user_task",
    ]
    record = stage(draft.exchange, "validate_history")
    assert record["status"] == "repaired"
    assert [one["code"] for one in record["remarks"]] == ["answer_inserted"]
    assert "answer_inserted" in [note["code"] for note in draft.exchange.notes]


@pytest.mark.django_db
def test_a_repair_is_the_same_bytes_every_time(stopped: Session) -> None:
    first, second = prepared(stopped), prepared(stopped, "What now?")
    assert first.layers.buffered == second.layers.buffered


async def test_a_strict_session_sends_nothing_and_says_why(
    runner: Runner, session: Session, ask: Ask
) -> None:
    await _break_a_round(session)
    run = await ask("What now?")
    assert run.status == Run.Status.FAILED and run.error["kind"] == "HistoryInvalid"
    (broken,) = run.error["figures"]["violations"]
    assert (broken["rule"], broken["named"], broken["before_what"]) == ("sequence", "“And now?”", "results")
    assert not await Exchange.objects.filter(run=run).aexists()
    assert run.stages[-1]["name"] == "validate_history" and run.stages[-1]["status"] == "blocked"
    assert [one["code"] for one in run.stages[-1]["remarks"]] == ["history_invalid"]


@sync_to_async
def _break_a_round(session: Session) -> None:
    """A message right below tool responses, as versions before 0019 stored it."""
    play_flight(session)
    head = session.head
    assert head is not None
    session.advance(head.parent)
    finish(make_run(session, "And now?"))
    session.settings = {"history_policy": "strict"}
    session.save(update_fields=["settings"])


@pytest.mark.django_db
def test_what_is_repaired_keeps_the_old_rows(stopped: Session) -> None:
    before = Turn.objects.count()
    prepared(stopped)
    assert Turn.objects.count() == before + 1
