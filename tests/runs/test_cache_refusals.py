"""A refusal of the provider is remembered for what it was about: this text, this model, or nothing at all."""

import uuid
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import orjson
import pytest
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheEvent, CacheRefusal, Exchange, Session
from sessions_app.prompt.caching import (
    FIRST_PAUSE,
    SIZE_PAUSE,
    CacheAction,
    CacheFacts,
    PlanReason,
    plan_cache,
    total_in,
)
from sessions_app.runs.runner import Runner
from tests.factories import NOW
from tests.runs.running import running

MINIMUM = 3_000
SMALL = "Cached content is too small. total_token_count={}, min_total_token_count={}"


class Refusing(EmulatorTransport):
    """Refuses caches with `status` and `said`; counts twice the tokens that we estimate for it."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.asked: list[int] = []
        self.status, self.said = 400, ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST" or not request.url.path.endswith("/cachedContents"):
            return await super().handle_async_request(request)
        counted = 2 * len(await request.aread()) * 10 // 33
        self.asked.append(counted)
        if not self.said and counted >= MINIMUM:
            return await super().handle_async_request(request)
        error = {
            "code": self.status,
            "message": self.said or SMALL.format(counted, MINIMUM),
            "status": {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}.get(
                self.status, "UNAVAILABLE"
            ),
        }
        return httpx2.Response(self.status, content=orjson.dumps({"error": error}))


@pytest.fixture
def provider() -> Refusing:
    return Refusing()


@pytest.fixture
def session(session: Session) -> Session:
    session.settings = {"cache_mode": "explicit", "tools": ["get_time"]}
    session.purpose = "Try everything, and then again. " * 92
    session.save()
    return session


@pytest.fixture
async def runner(session: Session, provider: Refusing) -> AsyncIterator[Runner]:
    async with running(Gateway.to_emulator(provider)) as runner:
        yield runner


async def talk(runner: Runner, session: Session, times: int = 3) -> list[tuple[str, str]]:
    """The action and its reason of each request."""
    for _ in range(times):
        await runner.send(session.pk, uuid.uuid4(), "Hello")
        await runner.drain()
    exchanges = Exchange.objects.filter(session=session).order_by("number")
    return [(one.cache_action, one.plan_figures["reason"]) async for one in exchanges]


async def test_a_text_that_is_too_small_is_posted_once(
    runner: Runner, session: Session, provider: Refusing
) -> None:
    provider.said = SMALL.format(918, 1_024)
    plans = await talk(runner, session)
    assert len(provider.asked) == 1
    assert plans[0] == ("create", "new") and {action for action, _ in plans[1:]} == {"none"}
    entry, refusal = await CacheEntry.objects.aget(), await CacheRefusal.objects.aget()
    assert entry.state == CacheEntry.State.REFUSED and "918" in entry.said
    assert (refusal.minimum, refusal.counted) == (1_024, 918) and refusal.estimated > 918


async def test_a_longer_text_is_tried_where_the_providers_own_count_allows_it(
    runner: Runner, session: Session, provider: Refusing
) -> None:
    await talk(runner, session)
    assert len(provider.asked) == 1 and provider.asked[0] < MINIMUM
    ratio = (await CacheRefusal.objects.aget()).calibration
    assert 1.5 < ratio < 3
    # By our estimate it is still too small, by the provider's count it is not.
    await Session.objects.filter(pk=session.pk).aupdate(purpose=session.purpose * 2)
    plans = await talk(runner, session)
    assert len(provider.asked) == 2 and provider.asked[1] >= MINIMUM
    assert [action for action, _ in plans[3:]] == ["create", "hit", "hit"]


@pytest.mark.parametrize(
    ("refusal", "is_for_model"),
    [
        ((400, "The contents are not supported for caching."), False),
        ((403, "The caller does not have permission to create caches."), True),
        ((404, "models/x is not found for API version v1beta."), True),
        ((412, "Precondition failed."), False),
    ],
)
async def test_whatever_the_provider_says_no_to_is_asked_once(
    runner: Runner, session: Session, provider: Refusing, refusal: tuple[int, str], is_for_model: bool
) -> None:
    provider.status, provider.said = refusal
    plans = await talk(runner, session)
    assert len(provider.asked) == 1
    assert [action for action, _ in plans] == ["create", "none", "none"]
    assert await CacheRefusal.objects.filter(refused_until__isnull=False).aexists() is is_for_model


async def test_a_provider_that_is_down_has_refused_nothing(
    runner: Runner, session: Session, provider: Refusing
) -> None:
    provider.status, provider.said = 503, "The model is overloaded."
    plans = await talk(runner, session)
    assert [action for action, _ in plans] == ["create"] * 3 and len(provider.asked) >= 3


@pytest.mark.parametrize(
    ("answer", "state", "kind", "pause"),
    [
        ((400, SMALL.format(918, 1_024)), "refused", "refused", SIZE_PAUSE),
        ((400, "The contents are not supported for caching."), "refused", "refused", FIRST_PAUSE),
        ((403, "The caller does not have permission to create caches."), "gone", "refused", None),
        ((503, "The model is overloaded."), "gone", "not_made", None),
    ],
)
async def test_a_no_ends_the_claim_and_its_event_names_the_request(
    runner: Runner,
    session: Session,
    provider: Refusing,
    *,
    answer: tuple[int, str],
    state: str,
    kind: str,
    pause: timedelta | None,
) -> None:
    provider.status, provider.said = answer
    began = timezone.now()
    await talk(runner, session, 1)
    entry, exchange = await CacheEntry.objects.aget(), await Exchange.objects.aget()
    assert (entry.state, entry.leased_until, entry.said) == (state, None, answer[1])
    if pause is not None:
        assert entry.retry_at is not None and began + pause <= entry.retry_at <= timezone.now() + pause
    event = await CacheEvent.objects.alatest("pk")
    assert (event.kind, event.exchange_id, event.session_id) == (kind, exchange.pk, session.pk)


async def test_a_cache_that_is_made_ends_the_refusals_of_its_model(
    runner: Runner, session: Session, provider: Refusing
) -> None:
    provider.status, provider.said = 404, "models/x is not found for API version v1beta."
    await talk(runner, session, 1)
    assert (await CacheRefusal.objects.aget()).failures == 1
    await CacheRefusal.objects.aupdate(refused_until=timezone.now())
    await Session.objects.filter(pk=session.pk).aupdate(purpose=session.purpose * 2)
    provider.said = ""
    await talk(runner, session, 1)
    assert (await CacheEntry.objects.alatest("pk")).state == CacheEntry.State.LIVE
    refusal = await CacheRefusal.objects.aget()
    assert (refusal.failures, refusal.refused_until) == (0, None)


async def test_a_minimum_without_a_count_says_nothing_of_our_estimates(
    runner: Runner, session: Session, provider: Refusing
) -> None:
    provider.said = "Cached content is too small. min_total_token_count=1024"
    await talk(runner, session, 1)
    refusal = await CacheRefusal.objects.aget()
    assert (refusal.minimum, refusal.counted, refusal.calibration) == (1_024, 0, 1.0)


@pytest.mark.parametrize(
    ("message", "total"),
    [
        ("Cached content is too small. total_token_count=16, min_total_token_count=1024", 16),
        ("min_total_token_count=1024", None),
        ("The cached content is of 9 tokens. The minimum token count to start caching is 4096.", 9),
    ],
)
def test_a_refusal_names_its_own_count(message: str, total: int | None) -> None:
    assert total_in(message) == total


@pytest.mark.parametrize(
    ("calibration", "action", "tokens"), [(1.0, CacheAction.NONE, 600), (2.0, CacheAction.CREATE, 1_200)]
)
def test_a_plan_counts_as_the_provider_does(calibration: float, action: CacheAction, tokens: int) -> None:
    plan = plan_cache(600, CacheFacts(1_024, calibration=calibration), NOW)
    assert (plan.action, plan.tokens) == (action, tokens)
    assert plan.reason is (PlanReason.NEW if action is CacheAction.CREATE else PlanReason.TOO_SMALL)
