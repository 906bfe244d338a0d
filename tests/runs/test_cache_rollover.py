"""History rolls into the static layer, and every turn is sent exactly once, whatever is done to it."""

import random
import uuid
from collections.abc import Sequence

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.context.model_lookup import clear_caches
from sessions_app.models import CacheEntry, CacheEvent, Exchange, HistoryChunk, Run, Session, Turn
from sessions_app.panels import TOOLBOX
from sessions_app.prompt import wire
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.rollover import thresholds_for
from sessions_app.prompt.turns import user_task
from sessions_app.runs.cache_lifecycle import CacheRequest
from sessions_app.runs.cache_rollover import _plan_of
from sessions_app.runs.request import Endpoint, PreparedRequest, caching, prepare
from sessions_app.runs.runner import Runner
from tests.factories import answer_calls, call_chunk, make_session, receive, signatures, text_chunk
from tests.runs.conftest import Ask

ENDPOINT = Endpoint("0123456789abcdef", "Emulator", "gemini", True, lambda model, body: body)
LONG = "What do you make of it? " * 60


@pytest.fixture
def rolls_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tail of 600 tokens is worth a roll; money would wait for thousands."""
    monkeypatch.setattr("sessions_app.prompt.strategy.explicit_tail", lambda *_: 600.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.implicit_tail", lambda *_: 600.0)


async def told(session: Session) -> list[tuple[str, str, int]]:
    """Per exchange: the action, whether a cache was named, and the chunks that its manifest lists."""
    found = []
    async for exchange in Exchange.objects.filter(session=session).order_by("number"):
        names = [item.source.name for item in await sync_to_async(exchange.sent_items)()]
        chunks = sum(name.startswith("chunk:") for name in names)
        found.append((exchange.cache_action, exchange.cache_name, chunks))
    return found


@pytest.mark.usefixtures("rolls_early")
async def test_no_request_waits_for_a_roll_over_or_sends_the_prefix_again(ask: Ask, session: Session) -> None:
    for _ in range(5):
        await ask(LONG)
    seen = await told(session)
    assert [action for action, _, _ in seen] == ["create", "hit", "hit", "hit", "hit"]
    assert [chunks for *_, chunks in seen] == [0, 0, 1, 2, 3]
    assert len({name for _, name, _ in seen[1:]}) == 4


@pytest.mark.usefixtures("rolls_early")
async def test_the_cache_before_the_rollover_is_released_once_the_next_was_used(
    ask: Ask, session: Session
) -> None:
    for _ in range(3):
        await ask(LONG)
    states = [state async for state in CacheEntry.objects.order_by("pk").values_list("state", flat=True)]
    assert states == ["doomed", "live", "live"]


@pytest.mark.usefixtures("rolls_early")
async def test_a_cache_that_is_gone_is_not_made_again_where_a_longer_one_takes_its_place(
    ask: Ask, session: Session
) -> None:
    for _ in range(3):
        await ask(LONG)
    made = await CacheEntry.objects.acount()
    # Gone, as far as a plan can tell: the next request is sent inline.
    await CacheEntry.objects.aupdate(state="gone")
    await ask(LONG)
    planned = [one async for one in CacheEvent.objects.filter(kind="made").order_by("pk")]
    assert (await told(session))[-1][0] == "create"
    assert await CacheEntry.objects.acount() == made + 1 == len(planned)


@pytest.mark.usefixtures("rolls_early")
async def test_a_cache_is_made_again_where_the_longer_one_may_not_be(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await ask(LONG)
    await CacheEntry.objects.aupdate(state="gone")
    waived = CachePlan(CacheAction.NONE, "", PlanReason.REFUSED)
    monkeypatch.setattr("sessions_app.runs.cache_rollover._plan_of", lambda *_: waived)
    await ask(LONG)
    assert await CacheEntry.objects.filter(state="live").acount() == 1


@pytest.mark.usefixtures("rolls_early")
async def test_history_rolls_over_to_a_cache_that_another_run_made(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned(draft: PreparedRequest, request: CacheRequest) -> CachePlan:
        CacheEntry.objects.claim(request.fingerprint, model=request.model, route=request.route)
        later = timezone.now() + request.lifetime
        CacheEntry.objects.remember(request.fingerprint, name="cachedContents/a", tokens=5, expires=later)
        return _plan_of(draft, request)

    await ask(LONG)
    monkeypatch.setattr("sessions_app.runs.cache_rollover._plan_of", planned)
    await ask(LONG)
    assert await HistoryChunk.objects.filter(session=session).acount() == 1
    assert await CacheEntry.objects.filter(sessions=session, name="cachedContents/a").aexists()


@pytest.mark.usefixtures("rolls_early")
async def test_an_answer_by_another_model_rolls_nothing_over(
    ask: Ask, runner: Runner, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sessions_app.runs.cache_rollover.create_cache", refused)
        await ask(LONG)
        second = await ask(LONG)
    await runner.retry(session.pk, uuid.uuid4(), second.public, None, "gemini-3.6-flash")
    await runner.drain()
    assert not await HistoryChunk.objects.aexists()
    await ask(LONG)
    assert await HistoryChunk.objects.aexists()


@pytest.mark.usefixtures("rolls_early")
async def test_a_refused_rollover_moves_nothing(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(LONG)
    await ask(LONG)
    monkeypatch.setattr("sessions_app.runs.cache_rollover.create_cache", refused)
    before = await HistoryChunk.objects.acount()
    await ask(LONG)
    assert (await ask(LONG)).status == Run.Status.COMPLETED
    assert await HistoryChunk.objects.acount() == before


async def refused(*_: object) -> bool:
    return False


@pytest.mark.usefixtures("rolls_early")
async def test_implicit_history_rolls_before_the_request_and_keeps_an_exchange(
    ask: Ask, session: Session
) -> None:
    await Session.objects.filter(pk=session.pk).aupdate(settings={"cache_mode": "implicit"})
    for _ in range(4):
        await ask(LONG)
    assert [chunks for *_, chunks in await told(session)] == [0, 0, 1, 2]


def prepared(session: Session, text: str) -> tuple[Run, PreparedRequest]:
    """A request as it would leave now, for a new message."""
    session.refresh_from_db()
    run = Run.objects.create(session=session, client_id=uuid.uuid4(), status="running", process="here")
    run.trigger = Turn.append(session, user_task(str(uuid.uuid4()), text), parent=session.head, run=run)
    run.save(update_fields=["trigger"])
    return run, prepare(run, 1, ENDPOINT, TOOLBOX)


def converse(session: Session, text: str, *, calls: bool) -> PreparedRequest:
    """A message, perhaps a round of tools, an answer; the request that the message led to."""
    run, draft = prepared(session, text)
    if calls:
        call = call_chunk("get_time", {"zone": text}, signature=next(signatures), finish="STOP")
        receive(draft.exchange, [call])
        answer_calls(run, {"time": text})
        session.refresh_from_db()
        draft = prepare(run, 2, ENDPOINT, TOOLBOX)
    receive(draft.exchange, [text_chunk(f"Answer to {text}", signature=next(signatures), finish="STOP")])
    run.end(Run.Status.COMPLETED)
    return draft


def sent_once(draft: PreparedRequest, branch: Sequence[Turn]) -> None:
    """The law: chunks, buffer and trigger hold every turn of the branch once, and no other."""
    buffered = [turn.key for turn in draft.layers.turns]
    keys = [str(turn.public) for turn in branch]
    assert buffered == keys[len(keys) - len(buffered) :]
    frozen = branch[: len(keys) - len(buffered)]
    history = wire.loads(draft.layers.static_text).get("cached_history", [])
    for turn in frozen:
        assert sum(chunk.count(turn.text) for chunk in history) >= 1 or not turn.text
    held = HistoryChunk.objects.in_bulk([int(chunk.key) for chunk in draft.built.assembled.history.chunks])
    assert sum(chunk.messages for chunk in held.values()) == len(frozen)


@pytest.mark.django_db
@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("mode", ["implicit", "seed"])
@pytest.mark.parametrize("seed", range(3))
def test_no_turn_is_missing_or_doubled_whatever_is_branched_and_switched(
    alice: User, monkeypatch: pytest.MonkeyPatch, mode: str, seed: int
) -> None:
    monkeypatch.setattr("sessions_app.prompt.strategy.SEED", thresholds_for(400, 3))
    settings = {"cache_policy": "seed"} if mode == "seed" else {"cache_mode": "implicit"}
    session, dice = make_session(alice, settings=settings), random.Random(seed)
    prints: dict[str, tuple[str, bytes]] = {}
    for number in range(10):
        draft = converse(
            session, f"Task {number}. {LONG[: dice.randrange(500, 1400)]}", calls=dice.random() < 0.3
        )
        session.refresh_from_db()
        (trigger,) = Turn.objects.filter(public=draft.layers.trigger.key)
        sent_once(draft, Turn.objects.branch(trigger.pk))
        held = (draft.layers.static_text, draft.layers.declarations)
        assert prints.setdefault(draft.fingerprint, held) == held
        if dice.random() < 0.4:
            # Another branch comes into view: any answer of the session may be gone back to.
            answers = Turn.objects.filter(session=session, kind="model_response")
            session.advance(dice.choice(list(answers)))
    assert HistoryChunk.objects.filter(session=session).exists()


@pytest.mark.django_db
def test_equal_fingerprints_mean_equal_layers_and_another_text_another_fingerprint(alice: User) -> None:
    twins = [make_session(alice, purpose="Same"), make_session(alice, purpose="Same")]
    first, second = (converse(session, "Hello", calls=False) for session in twins)
    other = converse(make_session(alice, purpose="Another"), "Hello", calls=False)
    assert first.fingerprint == second.fingerprint != other.fingerprint
    assert first.layers.static_text == second.layers.static_text


@pytest.mark.django_db
def test_choosing_costs_a_price_and_then_nothing(alice: User, django_assert_num_queries: object) -> None:
    session = make_session(alice)
    converse(session, "Hello", calls=False)
    draft = converse(session, "Hello again", calls=False)
    clear_caches()
    for statements in (1, 0):
        with django_assert_num_queries(statements):  # type: ignore[operator]
            caching.choose(draft.context)
