"""Old messages that the model lets go: a branch without them, with the same bytes behind, and back again."""

import uuid
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.errors import NotKept, RowGone
from sessions_app.models import Exchange, HistoryChunk, HistoryDrop, Note, Run, Session, Turn
from sessions_app.prompt.tokens import estimate
from sessions_app.runs.history_drops import ELSEWHERE, OTHERS_FIRST, put_back
from sessions_app.runs.runner import Runner
from tests.factories import answered, make_session
from tests.runs.conftest import Ask

MADE = 45
WORDS = "word " * 330
DROP = "drop part 1 of the history and note: we counted to thirty"


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    """Enough turns for two chunks by seed 4's thresholds."""
    settings = {"cache_policy": "seed", "cache_mode": "implicit", "tools": ["drop_history", "close_file"]}
    session = make_session(alice, settings=settings)
    for number in range(MADE):
        answered(session, f"Question {number}. {WORDS}", f"Answer {number}")
    return session


@sync_to_async
def branch(session: Session) -> list[Turn]:
    return Turn.objects.branch(Session.objects.get(pk=session.pk).head_id)


@sync_to_async
def sent(session: Session) -> list[tuple[str, bytes]]:
    """Layer and bytes of what the newest request sent, but the present state and the trigger."""
    newest = Exchange.objects.filter(session=session).latest("number")
    items = newest.sent_items()
    return [(item.source.name, item.wire) for item in items if item.layer in ("static", "buffered")]


@sync_to_async
def response(session: Session) -> dict[str, Any]:
    turn = Turn.objects.filter(session=session, kind="tool_response").latest("pk")
    (part,) = turn.parts
    found: dict[str, Any] = (part.response or {})["response"]
    return found


async def test_the_next_request_lacks_the_part_and_nothing_else(session: Session, ask: Ask) -> None:
    await ask("And now?")
    chunks = [chunk async for chunk in HistoryChunk.objects.filter(session=session)]
    assert len(chunks) == 2
    before = await branch(session)
    run = await ask(DROP)
    assert run.status == Run.Status.COMPLETED
    left = await sent(session)
    assert [turn.content_id for turn in await branch(session)] == [
        turn.content_id for turn in (await branch_to(session))[chunks[0].messages :]
    ]
    await ask("And then?")
    now = await sent(session)
    assert (await HistoryChunk.objects.aget(parent=None, drops=None)).sha256 == chunks[1].sha256
    texts = [wire for name, wire in left if not name.startswith("chunk:") or name != f"chunk:{chunks[0].pk}"]
    # The first part has no comma before it; what follows is the same to the byte.
    assert [one[-2_000:] for _, one in now[: len(texts)]] == [one[-2_000:] for one in texts]
    assert len(before) > len(await branch(session)) - 6
    assert [note.text async for note in Note.objects.filter(session=session)] == ["we counted to thirty"]
    found = await sync_to_async(lambda: list(audit_session(session.pk, "played")))()
    # The first exchanges are rows that nobody played.
    assert not [one for one in found if one.exchange > MADE]


@sync_to_async
def branch_to(session: Session) -> list[Turn]:
    return Turn.objects.branch(HistoryDrop.objects.get(session=session).left_id)


async def test_what_it_costs_is_what_stood_behind_it(session: Session, ask: Ask) -> None:
    """Reckoned from the bytes of the request, piece by piece, and not from the manifest's tokens."""
    await ask("And now?")
    await ask(DROP)
    told = await response(session)

    @sync_to_async
    def reckoned() -> tuple[int, int, int]:
        asked = Exchange.objects.filter(session=session, step=1).latest("number")
        held = HistoryChunk.objects.filter(session=session).order_by("pk")[0].content.bytes.decode()
        body = orjson.loads(asked.request_body())
        parts = [part for content in body["contents"] for part in content["parts"]]
        texts = [part.get("text") or orjson.dumps(part).decode() for part in parts]
        quoted = orjson.dumps(held).decode()
        at = next(index for index, text in enumerate(texts) if quoted in text)
        texts = [texts[at].split(quoted)[1], *texts[at + 1 :]]
        return estimate(held), sum(map(estimate, texts)), len(texts)

    held, behind, items = await reckoned()
    assert abs(told["frees_tokens"] - held) <= held * 0.02
    # An item is rounded up once, and may be counted with the mark-up of the wire around a text.
    assert abs(told["resends_tokens"] - behind) <= 12 * items


async def test_a_person_puts_it_back_with_what_was_said_since(session: Session, ask: Ask) -> None:
    await ask("And now?")
    await ask(DROP)
    await ask("And then?")
    since = [turn.content_id for turn in (await branch(session))[-2:]]
    drop = await HistoryDrop.objects.aget(session=session)
    old = [turn.content_id for turn in await branch_to(session)]
    await sync_to_async(put_back)(session.pk, drop.key)
    assert [turn.content_id for turn in await branch(session)] == [*old, *since]
    with pytest.raises(NotKept):
        await sync_to_async(put_back)(session.pk, drop.key)
    with pytest.raises(RowGone):
        await sync_to_async(put_back)(session.pk, "nothing")
    assert (await ask("And at last?")).status == Run.Status.COMPLETED


async def test_another_version_in_view_is_left_alone(session: Session, ask: Ask) -> None:
    await ask("And now?")
    await ask(DROP)
    drop = await HistoryDrop.objects.aget(session=session)
    await Session.objects.filter(pk=session.pk).aupdate(head_id=drop.left_id)
    with pytest.raises(NotKept) as refused:
        await sync_to_async(put_back)(session.pk, drop.key)
    assert refused.value.message == ELSEWHERE().message


async def test_it_waits_while_the_run_brings_no_answer(runner: Runner, session: Session, ask: Ask) -> None:
    await ask("And now?")
    run = await ask(f"{DROP} /error 400 later")
    assert run.status == Run.Status.FAILED
    drop = await HistoryDrop.objects.aget(session=session)
    assert drop.done_at is None
    await sync_to_async(put_back)(session.pk, drop.key)
    assert (await ask("Go on.")).status == Run.Status.COMPLETED
    drop = await HistoryDrop.objects.aget(session=session)
    assert drop.done_at is None and drop.undone_at is not None


async def test_a_queued_message_is_answered_below_what_is_left(
    runner: Runner, session: Session, ask: Ask
) -> None:
    await ask("And now?")
    await runner.send(session.pk, uuid.uuid4(), DROP)
    await runner.send(session.pk, uuid.uuid4(), "And then?")
    await runner.drain()
    newest = await Run.objects.filter(session=session).select_related("trigger").alatest("pk")
    assert newest.status == Run.Status.COMPLETED and newest.trigger and newest.trigger.text == "And then?"
    drop = await HistoryDrop.objects.aget(session=session)
    assert drop.head_id in [turn.pk for turn in await branch(session)]


@pytest.mark.parametrize("parts", [(1, 2), (2, 1)])
async def test_two_parts_go_in_one_answer_and_come_back_one_after_the_other(
    session: Session, ask: Ask, parts: tuple[int, int]
) -> None:
    await ask("And now?")
    gone = {chunk.pk: chunk.messages async for chunk in HistoryChunk.objects.filter(session=session)}
    whole = len(await branch(session)) + 4
    other = await Session.objects.acreate(owner_id=session.owner_id)
    elsewhere = await HistoryDrop.objects.acreate(session=other, key="k", chunk_id=min(gone), messages=1)
    await ask("\n".join(f'call drop_history {{"part": {part}, "note": "We counted."}}' for part in parts))
    assert len(await branch(session)) == whole - sum(gone.values())
    await elsewhere.arefresh_from_db()
    assert (elsewhere.done_at, elsewhere.undone_at) == (None, None)
    first, last = [drop async for drop in HistoryDrop.objects.filter(session=session).order_by("done_at")]
    with pytest.raises(NotKept) as refused:
        await sync_to_async(put_back)(session.pk, first.key)
    assert refused.value.message == OTHERS_FIRST().message
    await sync_to_async(put_back)(session.pk, last.key)
    await sync_to_async(put_back)(session.pk, first.key)
    assert len(await branch(session)) == whole
