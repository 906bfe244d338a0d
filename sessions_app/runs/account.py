"""After an answer: what was the same as before, whether the provider reused it, and what it cost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from time import perf_counter
from typing import Any

from django.db.models import F, Q

from sessions_app.context.capabilities import facts_of
from sessions_app.gemini.capabilities import Capabilities
from sessions_app.models import Exchange, Price, Session, Source, Spending, Turn
from sessions_app.models.price import Entry as Booking
from sessions_app.prompt import breaks, ledger, pricing, wire
from sessions_app.prompt.breaks import BreakLine, Piece
from sessions_app.prompt.ledger import Entry
from sessions_app.prompt.payload import Item
from sessions_app.prompt.pricing import Money, Rates
from sessions_app.prompt.reply import Reply, Usage
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import FILLER
from sessions_app.prompt.verdict import Comparison, Verdict
from sessions_app.runs.pipeline import Work

BEFORE = ("number", "model", "route", "manifest", "prompt_tokens", "started_at", "ended_at", "session")
"""What is read of the exchange before; its usage, stages and notes can be large."""

PREVIOUS = Exchange._meta.get_field("previous")


def previous_of(work: Work) -> int | None:
    """The exchange that this request is compared with; None in a new session. Mostly no query.

    In a round of tools it is the step before; else the one that produced the newest answer of the
    branch. A branch without an answer (the first message, edited) is compared with what was sent last.
    What the provider never counted it never read, so such exchanges are passed over.
    """
    if work.resend_of is not None:
        return work.resend_of.previous_id
    said = (turn for turn in reversed(work.turns) if turn.kind.is_model and turn.wire != FILLER)
    answer = next((turn.key for turn in said), None)
    past, is_sure = work.past, work.past.is_whole
    if work.step > 1:
        known, wanted = past.counted(run=work.run.pk), Q(run=work.run)
    elif answer is not None:
        above = _above(work, answer)
        known, wanted = past.counted(pk=above.exchange_id) if above else None, Q(turns__public=answer)
        is_sure = above is not None and (is_sure or above.exchange_id is None)
    else:
        known, wanted = past.counted(), Q()
    if known is not None or is_sure:
        return known
    counted = Exchange.objects.filter(wanted, session=work.session, prompt_tokens__gt=0)
    return counted.order_by("number").values_list("pk", flat=True).last()


def _above(work: Work, answer: str) -> Turn | None:
    """The turn that the run's trigger stands below, if it is that answer: mostly, and then it is at hand."""
    parent = work.run.trigger.parent if work.run.trigger else None
    return parent if parent is not None and str(parent.public) == answer else None


def account(
    exchange: Exchange, reply: Reply, *, items: Sequence[Item] | None = None, is_cut: bool = False
) -> Comparison | None:
    """The ledger, the break line and the money of an exchange; answers the comparison a verdict needs.

    `is_cut`: the answer was not received to its end, so the sum is a lower bound. Where the provider
    counted nothing but something came, the tokens are estimated; where nothing came, nothing is claimed.
    """
    price = price_of(exchange)
    has_come = bool(reply.usage.raw) or reply.wire is not None
    is_whole = bool(reply.usage.raw) and not is_cut
    usage, is_ours = (reply.usage, False) if is_whole else heard(exchange, reply)
    rates = price.rates(usage.prompt) if price else None
    seen = compare(exchange, rates, items)
    if has_come:
        money = pricing.cost(usage, rates) if rates else None
        bound = replace(money, at_least=is_cut, estimated=is_ours) if money else None
        charge(exchange, price, usage, bound)
    return seen


def compare(
    exchange: Exchange, rates: Rates | None, items: Sequence[Item] | None = None
) -> Comparison | None:
    """Sets the exchange's ledger and break line; answers the comparison with the exchange before.

    `items` are those of its payload, where they are at hand: it is a statement less. A break costs two.
    """
    before, now = _before(exchange), entries_of(exchange, items)
    kept = identities_of(before) if before else []
    prefix = ledger.prefix_of(kept, [entry.identity for entry in now])
    is_same = before is not None and is_same_reader(before, exchange)
    sums = ledger.enter(kept if is_same else [], now)
    exchange.ledger = sums.stored()
    if before is None:
        return None
    broken = find_break(exchange, before, prefix)
    if broken is not None:
        resent = set(kept)
        lost = sum(entry.tokens for entry in now[prefix:] if entry.identity in resent)
        broken = replace(broken, lost_tokens=lost, usd=breaks.priced(lost, rates))
    exchange.break_line = broken.stored() if broken else {}
    return Comparison(
        number=before.number,
        prefix_tokens=sum(entry.tokens for entry in now[:prefix]),
        tokens=sums.tokens,
        was_prompt=before.prompt_tokens,
        idle=max(exchange.started_at - (before.ended_at or before.started_at), timedelta(0)),
        same_model=is_same,
        same_config=settings_of(before) == settings_of(exchange),
        broken=broken,
    )


def _before(exchange: Exchange) -> Exchange | None:
    """The exchange that it is compared with: one statement, unless it is at hand."""
    if exchange.previous_id is None or PREVIOUS.is_cached(exchange):
        return exchange.previous
    return Exchange.objects.only(*BEFORE).get(pk=exchange.previous_id)


def is_same_reader(before: Exchange, exchange: Exchange) -> bool:
    """Whether the same model behind the same door reads: its caches hold for both."""
    return (before.model, before.route) == (exchange.model, exchange.route)


def entries_of(exchange: Exchange, items: Sequence[Item] | None = None) -> list[Entry]:
    """The manifest's items as the ledger compares them; a source row is one source with its bytes."""
    listed: list[list[Any]] = exchange.manifest.get("entries", [])
    if items is None:
        rows = Source.objects.filter(pk__in=identities_of(exchange)).values_list("pk", "name", "tokens")
        known = {pk: (name, tokens) for pk, name, tokens in rows}
    else:
        known = {entry[0]: (item.source, item.tokens) for entry, item in zip(listed, items, strict=True)}
    return [Entry(layer, known[key][0], key, known[key][1], lead is None) for key, layer, lead, *_ in listed]


def identities_of(exchange: Exchange) -> list[int]:
    return [entry[0] for entry in exchange.manifest.get("entries", [])]


def settings_of(exchange: Exchange) -> Any:
    """The generation settings as they were sent; the name of a cache is no setting."""
    tail = exchange.manifest.get("tail", "")
    return wire.loads('{"contents":[' + tail).get("generationConfig") if tail else None


def find_break(exchange: Exchange, before: Exchange, prefix: int) -> BreakLine | None:
    """Where the bytes left those of the exchange before; None when they only went on."""
    was, now = before.manifest["entries"], exchange.manifest["entries"]
    if prefix == len(was):
        return None
    keys = {entry[0] for entry in (*was, *now)}
    names = dict(Source.objects.filter(pk__in=keys).values_list("pk", "name"))
    shown = {entry[0] for entry in (*now[max(0, prefix - 1) : prefix + 1], was[prefix])}
    sources = Source.objects.select_related("blob").in_bulk(shown)

    def piece(entry: list[Any]) -> Piece:
        source = sources[entry[0]]
        return Piece(entry[1], source.name, source.blob.bytes, entry[3], entry[4])

    return breaks.find(
        prefix,
        [names[entry[0]] for entry in was],
        [names[entry[0]] for entry in now],
        piece(was[prefix]),
        piece(now[prefix]) if prefix < len(now) else None,
        last=piece(now[prefix - 1]).wire if prefix else b"",
    )


def price_of(exchange: Exchange) -> Price | None:
    """The price of the day it was sent on, of the model that served it."""
    served = exchange.served_model or exchange.model
    family = facts_of(served).family
    return Price.objects.of(served, exchange.started_at.date(), family=family)


def charge(exchange: Exchange, price: Price | None, usage: Usage, money: Money | None) -> None:
    """Writes down what it cost and books it for its owner and its session: two statements, the first of
    a day four.
    """
    exchange.price = price
    exchange.usd = money.total if money else None
    exchange.money = money.stored() if money else {}
    model = price.model if price else exchange.served_model or exchange.model
    booking = Booking(exchange.run.session.owner_id, exchange.started_at.date(), model)
    Spending.objects.add_exchange(booking, usage, exchange.usd)
    Session.objects.filter(pk=exchange.session_id).update(
        spent_usd=F("spent_usd") + (exchange.usd or Decimal(0)),
        unpriced=F("unpriced") + int(exchange.usd is None),
        prompt_tokens=F("prompt_tokens") + usage.prompt,
        cached_tokens=F("cached_tokens") + min(usage.cached, usage.prompt),
    )


def heard(exchange: Exchange, reply: Reply) -> tuple[Usage, bool]:
    """What an unfinished answer used at least, and whether that is our estimate.

    The provider's last count stands before the text it sent after it; the larger of both is the bound.
    """
    usage, text, thoughts = reply.usage, estimate(reply.text), estimate(reply.thoughts)
    prompt = usage.prompt or sum(exchange.layer_tokens.values())
    bound = replace(
        usage, prompt=prompt, output=max(usage.output, text), thoughts=max(usage.thoughts, thoughts)
    )
    return bound, bound != usage


def pronounce(exchange: Exchange, verdict: Verdict) -> None:
    exchange.verdict, exchange.verdict_words = verdict.code.value, verdict.words[:400]


def implicit_minimum(facts: Capabilities) -> int | None:
    """The shortest prefix that the model keeps of its own accord; None for a stranger."""
    return facts.implicit_minimum if facts.known or facts.model.startswith("gemini-") else None


def tell(exchange: Exchange, began: float) -> None:
    """Goes on with the list that the pipeline began: what was sent, and what came of it.

    `began` is when the accounting did, on the clock of `perf_counter`.
    """
    money, ms = Money.restored(exchange.money), (perf_counter() - began) * 1000
    counted = f"{exchange.prompt_tokens or 0:,} prompt, {exchange.output_tokens or 0:,} output tokens"
    details = [exchange.verdict_words, *([money.equation] if money else [])]
    spent = pricing.dollars(exchange.usd)
    said = exchange.error.get("message") or exchange.outcome.replace("_", " ") or "ended"
    exchange.stages += [
        _record("send", f"{exchange.request_size:,} bytes", said, exchange.total_ms or 0.0, []),
        _record("account", counted, spent, ms, details),
    ]


def _record(name: str, came_in: str, came_out: str, ms: float, details: list[str]) -> dict[str, Any]:
    words = {"name": name, "status": "ok", "came_in": came_in, "came_out": came_out}
    return {**words, "details": details, "ms": round(ms, 3)}
