"""Accounting of an exchange: comparison with the one before, verdict, loss and cost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from time import perf_counter
from typing import Any, NamedTuple

from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.models import Booking, Exchange, Price, Run, SearchPrice, Turn
from sessions_app.prompt import pricing
from sessions_app.prompt.bookings import SpendingCause, answer_key
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.chunks import is_standard_text
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import CacheLoss, cache_loss
from sessions_app.prompt.pricing import NO_SEARCHES, Money, Rates, Searches
from sessions_app.prompt.reply import Reply, Usage
from sessions_app.prompt.stage_records import (
    AccountFigures,
    SendFigures,
    StageFigures,
    StageName,
    StageRecord,
    StageStatus,
)
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.verdict import Comparison, Verdict
from sessions_app.runs.comparison import compare_with_previous, previous_of
from sessions_app.runs.money_source import source_of
from sessions_app.runs.serving import price_of_served, search_price_of_served, serving_model


def account_for(
    exchange: Exchange,
    reply: Reply,
    *,
    items: Sequence[Item] | None = None,
    is_cut: bool = False,
    is_imported: bool = False,
    head: Turn | None = None,
) -> Comparison | None:
    """Sets ledger, break line and cost; returns the comparison with the previous exchange.

    `is_cut`: the reply is incomplete, so the cost is a lower bound: what the provider had counted by then.
    Tokens are estimated when it counted nothing. Nothing is booked when no reply arrived, and nothing again
    of an `is_imported` one that stands in another file as well. `head` becomes that of the session.
    """
    price = price_of(exchange)
    has_reply = reply.usage.is_counted or reply.wire is not None
    usage = reply.usage if reply.usage.is_counted else _estimated_usage(exchange, reply)
    rates = price.rates(usage.prompt) if price else None
    comparison = compare_with_previous(exchange, items)
    if has_reply:
        day = exchange.started_at.date()
        searched = searches_of(exchange.model, exchange.served_model, day, reply.searches)
        money = money_for(usage, rates, searched.charged, is_cut=is_cut) if rates else None
        book_cost(
            exchange, price, usage, money, head, searched=searched, is_cut=is_cut, is_imported=is_imported
        )
    elif head is not None:
        exchange.run.session.advance(head)
    return comparison


def money_for(usage: Usage, rates: Rates, searches: Searches = NO_SEARCHES, *, is_cut: bool = False) -> Money:
    """What these tokens cost, and how sure that is; `is_cut` as in `account_for`."""
    return replace(
        pricing.cost(usage, rates, searches),
        at_least=is_cut,
        estimated=not usage.is_counted,
        other_price=not is_standard_text(usage.raw),
    )


def price_of(exchange: Exchange) -> Price | None:
    """The price of the serving model on the day of the request."""
    return price_of_served(exchange.model, exchange.served_model, exchange.started_at.date())


class Searched(NamedTuple):
    """The searches of an answer, and the price of its day."""

    charged: Searches = NO_SEARCHES
    price: SearchPrice | None = None


NOT_SEARCHED = Searched()


def searches_of(model: str, served: str, day: date, queries: int) -> Searched:
    """A query only for an answer that took searches."""
    if not queries:
        return Searched()
    price = search_price_of_served(model, served, day)
    if price is None:
        return Searched(Searches(queries))
    return Searched(Searches(price.counted(queries), price.usd), price)


def book_cost(
    exchange: Exchange,
    price: Price | None,
    usage: Usage,
    money: Money | None,
    head: Turn | None = None,
    *,
    searched: Searched = NOT_SEARCHED,
    is_cut: bool = False,
    is_imported: bool = False,
) -> None:
    """Sets the cost and books it: three statements, five for the first of a day, one more in a retry.

    The statement that adds it to the session also makes `head` the session's head.
    """
    source = source_of(exchange)
    exchange.price = price
    exchange.usd = money.total if money else None
    exchange.money = replace(money, source=source).stored() if money else {}
    day = exchange.started_at.date()
    booking = Booking.of(
        exchange.run.session,
        cause_of(exchange),
        source,
        price,
        model=serving_model(exchange.model, exchange.served_model, day),
        exchange=exchange,
        day=day,
        usd=exchange.usd,
        **bounds_of(money, is_cut=is_cut),
        prompt_tokens=usage.prompt,
        cached_tokens=min(usage.cached, usage.prompt),
        output_tokens=usage.output,
        thought_tokens=usage.thoughts,
        tool_use_tokens=usage.tool_use,
        searches=searched.charged.count,
        search_price=searched.price,
        answer_key=answer_key(source, exchange.response_id, exchange.request_sha256, exchange.started_at),
    )
    if not (is_imported and Booking.objects.take_known(booking)):
        Booking.objects.book(booking, head=head)


def bounds_of(money: Money | None, *, is_cut: bool) -> dict[str, bool]:
    """How exact the sum of a booking is, by its columns: what came of an answer without its end is no bound
    where it is estimated. Without a price nothing of it is in a sum.
    """
    is_estimate = money is not None and money.is_estimate
    return {"cut_off": is_cut and not is_estimate, "estimated": is_estimate}


def cause_of(exchange: Exchange) -> SpendingCause:
    """A retry where the request repeats a failed one, or its run begins at a message again."""
    repeats = exchange.resend_of_id is not None or _begins_again(exchange.run)
    return SpendingCause.RETRY if repeats else SpendingCause.ANSWER


def _begins_again(run: Run) -> bool:
    """Whether an earlier run had its trigger: no query where the run has made it."""
    trigger = run.trigger
    if trigger is None or trigger.run_id == run.pk:
        return False
    return Run.objects.filter(trigger_id=trigger.pk, pk__lt=run.pk).exists()


def _estimated_usage(exchange: Exchange, reply: Reply) -> Usage:
    """Our estimate of a reply that the provider did not count: no bound in either direction."""
    prompt = sum(exchange.layer_tokens.values())
    return replace(reply.usage, prompt=prompt, output=estimate(reply.text), thoughts=estimate(reply.thoughts))


def set_verdict(exchange: Exchange, verdict: Verdict) -> None:
    """Sets the verdict and what was lost by it: the cost has to be set before."""
    exchange.verdict, exchange.verdict_figures = verdict.code.value, verdict.stored()
    loss = loss_of(exchange, verdict.code)
    exchange.lost_tokens, exchange.lost_usd = loss.tokens, loss.usd


def loss_of(exchange: Exchange, code: VerdictCode) -> CacheLoss:
    """Unknown where the cause is, nothing for the first request of a branch."""
    if code is VerdictCode.UNKNOWN:
        return CacheLoss()
    before = previous_of(exchange)
    rates = exchange.price.rates(exchange.prompt_tokens or 0) if exchange.price else None
    was_cached = before.cached_tokens if before else 0
    return cache_loss(was_cached, exchange.cached_tokens, exchange.prompt_tokens, rates)


def implicit_minimum(facts: Capabilities) -> int | None:
    """The shortest prefix that the serving model caches implicitly; None for an unknown one."""
    return facts.implicit_minimum if facts.known or facts.family.startswith("gemini-") else None


def append_stages(exchange: Exchange, began: float) -> None:
    """Appends the records of the stages `send` and `account`; `began` is a `perf_counter` value."""
    ms = (perf_counter() - began) * 1000
    error = str(exchange.error.get("message") or exchange.error.get("reason") or "")
    sent = SendFigures(
        case="failed" if error else "answered",
        size=exchange.request_size,
        outcome=exchange.outcome or "ended",
        error=error,
    )
    is_counted = exchange.prompt_tokens is not None or exchange.usd is not None
    counted = AccountFigures(
        case="" if is_counted else "uncounted",
        prompt=exchange.prompt_tokens or 0,
        output=exchange.output_tokens or 0,
        usd=exchange.usd,
    )
    exchange.stages += [
        _record(StageName.SEND, sent, exchange.total_ms or 0.0),
        _record(StageName.ACCOUNT, counted, ms),
    ]


def _record(name: StageName, figures: StageFigures, ms: float) -> dict[str, Any]:
    record = StageRecord(name=name, status=StageStatus.OK, figures=figures, ms=round(ms, 3))
    return record.stored()
