"""Side requests whose answers take several requests: one text, one cost, within the same limits."""

import re
from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.db.models import Sum

from sessions_app.errors import AnswerRefused, BudgetSpent, PipewebError, RunError
from sessions_app.gemini import bounds
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Booking, Reservation, Session, Spending
from sessions_app.prompt.tokens import estimate
from sessions_app.runs import limits, side_requests
from sessions_app.runs.side_requests import SHORTEN, SummaryDraft, draft_summary
from sessions_app.wording import costs
from tests.conftest import ROOT
from tests.prices import make_price
from tests.prompt.examples import chunk, text
from tests.runs.hops import USAGE, Hops, done, paused


async def drafted(session: Session, *hops: Any) -> tuple[SummaryDraft | PipewebError, Hops]:
    provider = Hops(*hops)
    gateway = Gateway(api_key="k3y-of-a-test", transport=provider)
    try:
        return await draft_summary(gateway, session, [], SHORTEN), provider
    except PipewebError as error:
        return error, provider
    finally:
        await gateway.aclose()


def with_usage(hop: bytes, usage: dict[str, Any]) -> bytes:
    return orjson.dumps(orjson.loads(hop) | {"usageMetadata": usage})


def uncounted(hop: bytes) -> bytes:
    """The same without counts, as a provider of another dialect sends it."""
    return with_usage(hop, {})


ENDLESS = [[paused(text("a" * 90), token=f"dG{number}=")] for number in range(10, 20)]


async def test_a_draft_that_pauses_goes_on_with_its_token(session: Session) -> None:
    draft, provider = await drafted(session, [paused(text("One "))], [done(text("two."))])
    assert isinstance(draft, SummaryDraft)
    first, second = provider.bodies
    assert second.pop("continuationToken") == "YS9i-w==" and first == second
    assert (draft.text, draft.usage.prompt) == ("One two.", 2 * USAGE["promptTokenCount"])
    booked = await Spending.objects.aaggregate(tokens=Sum("prompt_tokens"), usd=Sum("usd"))
    assert (booked["tokens"], booked["usd"]) == (draft.usage.prompt, draft.usd)


async def test_the_budget_is_asked_before_each_hop(session: Session) -> None:
    session.settings = {"budget_usd": 0.000001}
    await session.asave()
    error, provider = await drafted(session, [paused(text("One "))], [done(text("two."))])
    assert isinstance(error, BudgetSpent) and len(provider.bodies) == 1


async def test_hops_without_end_are_ended(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HOP_LIMIT", 3)
    error, provider = await drafted(session, *ENDLESS)
    assert type(error) is RunError and len(provider.bodies) == 3


async def test_all_hops_share_the_bound_of_an_answer(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "ANSWER_LIMIT", 1_000)
    error, provider = await drafted(session, *ENDLESS)
    assert isinstance(error, AnswerRefused) and 1 < len(provider.bodies) < 5


async def test_what_was_counted_before_a_draft_took_too_long_is_booked(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_requests, "LONGEST_SECONDS", 0.5)
    error, _ = await drafted(session, [paused(text("One ")), None])
    assert type(error) is RunError
    booked = await Booking.objects.aget()
    assert (booked.session_id, booked.cause) == (session.pk, "summary")
    assert booked.prompt_tokens == USAGE["promptTokenCount"]


async def test_what_nobody_counted_is_an_estimate_and_not_free(session: Session) -> None:
    await sync_to_async(make_price)(session.model)
    draft, provider = await drafted(session, [uncounted(done(text("Two words.")))])
    assert isinstance(draft, SummaryDraft)
    booked = await Booking.objects.aget()
    (body,) = provider.bodies
    assert booked.prompt_tokens == pytest.approx(len(orjson.dumps(body)) / 3.3, abs=10)
    assert (booked.output_tokens, draft.usage.prompt) == (estimate("Two words."), booked.prompt_tokens)
    assert booked.usd == draft.usd and draft.usd
    assert draft.is_estimated and draft.cost.count(costs.BOUNDS["estimated"]) == 2


async def test_one_hop_that_nobody_counted_makes_an_estimate_of_all(session: Session) -> None:
    draft, _ = await drafted(session, [paused(text("One "))], [uncounted(done(text("two.")))])
    assert isinstance(draft, SummaryDraft) and draft.is_estimated


async def test_a_draft_that_was_counted_is_exact(session: Session) -> None:
    draft, _ = await drafted(session, [done(text("Two words."))])
    assert isinstance(draft, SummaryDraft) and not draft.is_estimated
    assert not draft.cost.startswith(costs.BOUNDS["estimated"])


async def test_a_draft_of_another_service_is_counted_and_its_money_estimated(session: Session) -> None:
    served = with_usage(done(text("Two words.")), USAGE | {"serviceTier": "flex"})
    await sync_to_async(make_price)(session.model)
    draft, _ = await drafted(session, [served])
    booked = await Booking.objects.aget()
    assert isinstance(draft, SummaryDraft) and not draft.is_estimated and booked.estimated
    assert draft.cost.count(costs.BOUNDS["estimated"]) == 1
    assert f"{costs.BOUNDS['estimated']}$" in draft.cost


@pytest.mark.parametrize(("said", "bookings"), [([text("One ")], 1), ([], 0)])
async def test_what_broke_off_uncounted_is_booked_where_anything_came(
    session: Session, monkeypatch: pytest.MonkeyPatch, said: list[dict[str, Any]], bookings: int
) -> None:
    monkeypatch.setattr(side_requests, "LONGEST_SECONDS", 0.5)
    error, _ = await drafted(session, [uncounted(chunk(*said)), None])
    assert type(error) is RunError
    estimates = Booking.objects.filter(estimated=True, cut_off=False, output_tokens__gt=0)
    assert await estimates.acount() == bookings
    assert await Booking.objects.acount() == bookings and not await Reservation.objects.acount()


async def test_an_answer_of_nothing_that_nobody_counted_is_not_booked(session: Session) -> None:
    error, _ = await drafted(session, [uncounted(done())])
    assert type(error) is RunError and not await Booking.objects.acount()


def test_the_proxy_of_a_deployment_waits_longer_than_a_draft_may_take() -> None:
    nginx = (ROOT / "sessions_app" / "deployment" / "nginx.conf").read_text(encoding="utf-8")
    waits = [int(seconds) for seconds in re.findall(r"proxy_read_timeout (\d+)s;", nginx)]
    assert waits and min(waits) > side_requests.LONGEST_SECONDS
