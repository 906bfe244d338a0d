"""Accounting of an exchange: cache ledger, break line, verdict and cost."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from sessions_app.context.model_lookup import facts_of
from sessions_app.gemini.model_capabilities import Capabilities, base_of
from sessions_app.gemini.routes import endpoint_of
from sessions_app.models import Booking, Exchange, Price, Run, Source
from sessions_app.prompt import prefix_diff, pricing, wire
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import BreakLine, ManifestPiece
from sessions_app.prompt.pricing import Money, Rates
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
from sessions_app.runs.money_source import source_of

PREVIOUS_FIELDS = (
    "number",
    "model",
    "served_model",
    "route",
    "manifest",
    "prompt_tokens",
    "started_at",
    "ended_at",
    "session",
)
"""Columns read of the previous exchange; its usage, stages and notes can be large."""

PREVIOUS_FIELD = Exchange._meta.get_field("previous")


def account_for(
    exchange: Exchange, reply: Reply, *, items: Sequence[Item] | None = None, is_cut: bool = False
) -> Comparison | None:
    """Sets ledger, break line and cost; returns the comparison with the previous exchange.

    `is_cut`: the reply is incomplete, so the cost is a lower bound. Tokens are estimated when the provider
    sent no usage. Nothing is booked when no reply arrived.
    """
    price = price_of(exchange)
    has_reply = bool(reply.usage.raw) or reply.wire is not None
    is_whole = bool(reply.usage.raw) and not is_cut
    usage, is_estimated = (reply.usage, False) if is_whole else partial_usage(exchange, reply)
    rates = price.rates(usage.prompt) if price else None
    comparison = compare_with_previous(exchange, rates, items)
    if has_reply:
        money = pricing.cost(usage, rates) if rates else None
        bound = replace(money, at_least=is_cut, estimated=is_estimated) if money else None
        book_cost(exchange, price, usage, bound)
    return comparison


def compare_with_previous(
    exchange: Exchange, rates: Rates | None, items: Sequence[Item] | None = None
) -> Comparison | None:
    """Sets ledger and break line; returns the comparison, or None without a previous exchange.

    Passing the payload's `items` saves a query. A break costs two more.
    """
    before, now = _previous(exchange), exchange.ledger_entries(items)
    old_keys = identities_of(before) if before else []
    prefix = prefix_diff.common_prefix(old_keys, [entry.identity for entry in now])
    same_model = before is not None and asks_same_model(before, exchange)
    totals = prefix_diff.ledger_of(old_keys if same_model else [], now)
    exchange.ledger = totals.stored()
    if before is None:
        return None
    broken = find_break(exchange, before, prefix)
    if broken is not None:
        old_key_set = set(old_keys)
        lost = sum(entry.tokens for entry in now[prefix:] if entry.identity in old_key_set)
        broken = replace(broken, lost_tokens=lost, usd=prefix_diff.break_cost(lost, rates))
    exchange.break_line = broken.stored() if broken else {}
    idle = exchange.started_at - (before.ended_at or before.started_at)
    return Comparison(
        number=before.number,
        prefix_tokens=sum(entry.tokens for entry in now[:prefix]),
        tokens=totals.tokens,
        was_prompt=before.prompt_tokens,
        idle_seconds=max(0.0, idle.total_seconds()),
        same_model=same_model,
        same_served=served_by_one(before, exchange),
        same_config=settings_of(before) == settings_of(exchange),
        broken=broken,
    )


def _previous(exchange: Exchange) -> Exchange | None:
    """The exchange that it is compared with: one query unless it is loaded."""
    if exchange.previous_id is None or PREVIOUS_FIELD.is_cached(exchange):
        return exchange.previous
    return Exchange.objects.only(*PREVIOUS_FIELDS).get(pk=exchange.previous_id)


def asks_same_model(before: Exchange, exchange: Exchange) -> bool:
    """Whether both asked one endpoint for one model, maybe by two names (an alias).

    The whole route is not compared: its second half is what was known of the serving model beforehand.
    """
    if endpoint_of(before.route) != endpoint_of(exchange.route):
        return False
    served = base_of(exchange.served_model)
    return before.model == exchange.model or (bool(served) and served == base_of(before.served_model))


def served_by_one(before: Exchange, exchange: Exchange) -> bool:
    """False when the answers name two models."""
    names = {base_of(one.served_model) for one in (before, exchange) if one.served_model}
    return len(names) < 2


def identities_of(exchange: Exchange) -> list[int]:
    return [entry[0] for entry in exchange.manifest.get("entries", [])]


def settings_of(exchange: Exchange) -> Any:
    """The generation settings as sent, without the name of the cache."""
    tail = exchange.manifest.get("tail", "")
    return wire.loads('{"contents":[' + tail).get("generationConfig") if tail else None


def find_break(exchange: Exchange, before: Exchange, prefix: int) -> BreakLine | None:
    """The first difference from the previous request; None when that is a prefix of this one."""
    was, now = before.manifest["entries"], exchange.manifest["entries"]
    if prefix == len(was):
        return None
    keys = {entry[0] for entry in (*was, *now)}
    names = dict(Source.objects.filter(pk__in=keys).values_list("pk", "name"))
    shown = {entry[0] for entry in (*now[max(0, prefix - 1) : prefix + 1], was[prefix])}
    sources = Source.objects.select_related("blob").in_bulk(shown)

    def piece(entry: list[Any]) -> ManifestPiece:
        source = sources[entry[0]]
        return ManifestPiece(entry[1], source.name, source.blob.bytes, entry[3], entry[4])

    return prefix_diff.find_break(
        prefix,
        [names[entry[0]] for entry in was],
        [names[entry[0]] for entry in now],
        piece(was[prefix]),
        piece(now[prefix]) if prefix < len(now) else None,
        last=piece(now[prefix - 1]).wire if prefix else b"",
    )


def price_of(exchange: Exchange) -> Price | None:
    """The price of the serving model on the day of the request."""
    served = exchange.served_model or exchange.model
    family = facts_of(served).family
    return Price.objects.of(served, exchange.started_at.date(), family=family)


def book_cost(exchange: Exchange, price: Price | None, usage: Usage, money: Money | None) -> None:
    """Sets the cost and books it: four statements, six for the first of a day."""
    source = source_of(exchange.route)
    exchange.price = price
    exchange.usd = money.total if money else None
    exchange.money = replace(money, source=source).stored() if money else {}
    booking = Booking.of(
        exchange.run.session,
        cause_of(exchange),
        source,
        price,
        model=exchange.served_model or exchange.model,
        exchange=exchange,
        day=exchange.started_at.date(),
        usd=exchange.usd,
        prompt_tokens=usage.prompt,
        cached_tokens=min(usage.cached, usage.prompt),
        output_tokens=usage.output,
        thought_tokens=usage.thoughts,
    )
    Booking.objects.book(booking)


def cause_of(exchange: Exchange) -> SpendingCause:
    """A retry where the request repeats a failed one, or its run begins at a message again."""
    run = exchange.run
    repeats = exchange.resend_of_id is not None or (
        run.trigger_id is not None and Run.objects.filter(trigger_id=run.trigger_id, pk__lt=run.pk).exists()
    )
    return SpendingCause.RETRY if repeats else SpendingCause.ANSWER


def partial_usage(exchange: Exchange, reply: Reply) -> tuple[Usage, bool]:
    """A lower bound of the usage of an incomplete reply, and whether it is an estimate.

    The provider's last count does not include the text that followed it, so the larger value is used.
    """
    usage, text, thoughts = reply.usage, estimate(reply.text), estimate(reply.thoughts)
    prompt = usage.prompt or sum(exchange.layer_tokens.values())
    bound = replace(
        usage, prompt=prompt, output=max(usage.output, text), thoughts=max(usage.thoughts, thoughts)
    )
    return bound, bound != usage


def set_verdict(exchange: Exchange, verdict: Verdict) -> None:
    exchange.verdict, exchange.verdict_figures = verdict.code.value, verdict.stored()


def implicit_minimum(facts: Capabilities) -> int | None:
    """The shortest prefix that the model caches implicitly; None for an unknown model."""
    return facts.implicit_minimum if facts.known or facts.model.startswith("gemini-") else None


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
    counted = AccountFigures(
        prompt=exchange.prompt_tokens or 0, output=exchange.output_tokens or 0, usd=exchange.usd
    )
    exchange.stages += [
        _record(StageName.SEND, sent, exchange.total_ms or 0.0),
        _record(StageName.ACCOUNT, counted, ms),
    ]


def _record(name: StageName, figures: StageFigures, ms: float) -> dict[str, Any]:
    record = StageRecord(name=name, status=StageStatus.OK, figures=figures, ms=round(ms, 3))
    return record.stored()
