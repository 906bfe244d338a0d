"""Side requests whose answers take several requests: one text, one cost, within the same limits."""

from typing import Any

import pytest
from django.db.models import Sum

from sessions_app.errors import AnswerRefused, BudgetSpent, PipewebError, RunError
from sessions_app.gemini import bounds
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Booking, Session, Spending
from sessions_app.runs import limits, side_requests
from sessions_app.runs.side_requests import SHORTEN, SummaryDraft, draft_summary
from tests.prompt.examples import text
from tests.runs.test_hops import USAGE, Hops, done, paused


async def drafted(session: Session, *hops: Any) -> tuple[SummaryDraft | PipewebError, Hops]:
    provider = Hops(*hops)
    gateway = Gateway(api_key="k3y-of-a-test", transport=provider)
    try:
        return await draft_summary(gateway, session, [], SHORTEN), provider
    except PipewebError as error:
        return error, provider
    finally:
        await gateway.aclose()


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
