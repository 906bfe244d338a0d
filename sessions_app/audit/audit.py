"""The audit of one session."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from sessions_app.audit import money
from sessions_app.audit.answers import Answer, answer_of
from sessions_app.audit.breaks import break_findings
from sessions_app.audit.cache_life import CacheRows, life_findings, named_findings
from sessions_app.audit.compared import compared_findings
from sessions_app.audit.differences import Difference, Figure, Finding
from sessions_app.audit.kept import FINISH_REASON, NAME, kept_text, kept_values
from sessions_app.audit.losses import loss_findings
from sessions_app.audit.minimums import minimum_findings
from sessions_app.audit.reservations import reservation_findings
from sessions_app.audit.rows import Row, SessionRows, StoredItem
from sessions_app.audit.verdicts import verdict_findings

COUNTS = {
    Figure.PROMPT_TOKENS: "promptTokenCount",
    Figure.CACHED_TOKENS: "cachedContentTokenCount",
    Figure.OUTPUT_TOKENS: "candidatesTokenCount",
    Figure.THOUGHT_TOKENS: "thoughtsTokenCount",
}


def audit_session(session_id: int, public: str) -> Iterator[Difference]:
    """Every figure of its exchanges that the raw rows do not give; nothing for a sound session."""
    rows = SessionRows(session_id)
    caches = CacheRows(rows)
    for exchange in rows.exchanges:
        for figure, stored, found in findings(rows, caches, exchange):
            if stored != found:
                yield Difference(public, exchange["number"], figure, stored, found)
    for figure, stored, found in life_findings(caches):
        yield Difference(public, 0, figure, stored, found)


def findings(rows: SessionRows, caches: CacheRows, exchange: Row) -> Iterator[Finding]:
    """All findings of an exchange; where its payload was purged, those that follow from other rows."""
    if exchange["payload_purged_at"] is not None:
        yield from term_findings(exchange)
        yield from compared_findings(rows, exchange)
        yield from loss_findings(rows, exchange)
        return
    yield from request_findings(exchange, rows.items(exchange), rows.body(exchange))
    # What an exchange asked in another dialect was answered in it: its counts have other names.
    if exchange["ended_at"] is not None and exchange["dialect"] == "gemini":
        answer = answer_of(rows.chunks(exchange))
        yield from answer_findings(exchange, answer)
        yield from money_findings(exchange, answer, rows.prices)
    yield from compared_findings(rows, exchange)
    yield from minimum_findings(rows, exchange)
    yield from break_findings(rows, exchange)
    yield from loss_findings(rows, exchange)
    yield from verdict_findings(caches, exchange)
    yield from named_findings(caches, exchange)
    yield from reservation_findings(rows, exchange)


def request_findings(exchange: Row, items: list[StoredItem], body: bytes) -> Iterator[Finding]:
    yield Figure.REQUEST_SIZE, exchange["request_size"], len(body)
    yield Figure.REQUEST_SHA256, exchange["request_sha256"], hashlib.sha256(body).hexdigest()
    layers: Counter[str] = Counter()
    for item in items:
        layers[item.layer] += item.tokens
    stored = {layer: tokens for layer, tokens in exchange["layer_tokens"].items() if tokens}
    yield Figure.LAYER_TOKENS, stored, {layer: tokens for layer, tokens in layers.items() if tokens}


def answer_findings(exchange: Row, answer: Answer) -> Iterator[Finding]:
    yield Figure.USAGE, exchange["usage"], kept_values(answer.usage)
    if answer.is_counted:
        for figure, name in COUNTS.items():
            yield figure, exchange[figure], answer.count(name)
    else:
        for figure in COUNTS:
            yield figure, exchange[figure], None
    reason = kept_text(answer.finish_reason, FINISH_REASON)
    yield Figure.FINISH_REASON, exchange["finish_reason"], reason
    yield Figure.SERVED_MODEL, exchange["served_model"], kept_text(answer.model, NAME)
    yield Figure.RESPONSE_ID, exchange["response_id"], kept_text(answer.response_id, NAME)


def money_findings(exchange: Row, answer: Answer, prices: dict[int, Row]) -> Iterator[Finding]:
    """The sum of the stored terms always; the cost from the counts where it is not marked as estimated."""
    yield from term_findings(exchange)
    price = prices.get(exchange["price_id"] or 0)
    if price is None or exchange["money"].get("estimated") or not answer.is_counted:
        return
    prompt, cached = answer.count("promptTokenCount"), answer.count("cachedContentTokenCount")
    output = answer.count("candidatesTokenCount") + answer.count("thoughtsTokenCount")
    tool_use = answer.count("toolUsePromptTokenCount")
    terms = {term["name"]: term for term in exchange["money"].get("terms", [])}
    # How many are charged, and at which price, is for the booking (`audit.bookings`).
    search = terms.get("search", {"tokens": 0, "rate": "0"})
    searched = Decimal(search["rate"]) * search["tokens"] / 1_000
    yield Figure.COST, exchange["usd"], money.cost(price, prompt, cached, tool_use, output, searched=searched)


def term_findings(exchange: Row) -> Iterator[Finding]:
    """The cost as the sum of its stored terms."""
    terms = exchange["money"].get("terms", [])
    if terms:
        total = sum(
            Decimal(term["rate"]) * term["tokens"] / (1_000 if term["name"] == "search" else 1_000_000)
            for term in terms
        )
        yield Figure.COST, exchange["usd"], total.quantize(money.CENTS)
