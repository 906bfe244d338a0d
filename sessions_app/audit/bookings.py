"""What has to be booked for each request of a session, beside what is."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from sessions_app.audit import money
from sessions_app.audit.answers import Answer
from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.estimates import is_estimate
from sessions_app.audit.kept import NAME, kept_text
from sessions_app.audit.money_sources import sources_of
from sessions_app.audit.prices import PriceRows
from sessions_app.audit.rows import Row
from sessions_app.models import Booking, CapturedRequest, Run, Session

Finding = tuple[MoneyFigure, Any, Any]
"""A figure, as stored and as found."""

SIDE_CAUSES = ("title", "summary")
NO_MONEY = Decimal(0)
WITHOUT_END = ("unfinished", "failed", "empty")
"""Outcomes of answers that have no end, unless they have a finish reason."""


class Counts(NamedTuple):
    """Tokens by kind; `cached` is part of `prompt`."""

    prompt: int = 0
    cached: int = 0
    tool_use: int = 0
    output: int = 0
    thoughts: int = 0

    def cost(self, price: Row, searched: Decimal = NO_MONEY) -> Decimal:
        tokens = (self.prompt, self.cached, self.tool_use, self.output + self.thoughts)
        return money.cost(price, *tokens, searched=searched)

    @property
    def booked(self) -> "Counts":
        """As the columns of a booking have them."""
        return self._replace(cached=min(self.cached, self.prompt))


class Searched(NamedTuple):
    """The price row that searches have to name, how many there were and are charged, and their dollars."""

    price: int | None = None
    counts: tuple[int, int] = (0, 0)
    usd: Decimal = NO_MONEY


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class BookingRows:
    """The bookings of a session and what decides their causes."""

    session_id: int
    tables: PriceRows

    @cached_property
    def session(self) -> Row:
        return Session.objects.filter(pk=self.session_id).values()[0]

    @cached_property
    def sources(self) -> dict[int, tuple[str, str]]:
        return sources_of(self.session_id)

    @cached_property
    def all(self) -> list[Row]:
        return list(Booking.objects.filter(session=self.session_id).order_by("pk").values())

    @cached_property
    def by_exchange(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = defaultdict(list)
        # Also those that name an exchange of this session and another session, or none.
        for row in Booking.objects.filter(exchange__session=self.session_id).order_by("pk").values():
            found[row["exchange_id"]].append(row)
        return found

    def elsewhere(self, exchange: Row) -> list[Row]:
        """The booking of the same answer, which stands in another session of the person and in an imported
        file, at the price of this one.
        """
        captured = CapturedRequest.objects.filter(exchange=exchange["id"]).select_related("address").first()
        if captured is None or not captured.address.token_hash.startswith("har:"):
            return []
        began = exchange["started_at"].astimezone(UTC).isoformat()
        known = f"request {exchange['request_sha256']} {began}"
        if exchange["response_id"] and self.sources[exchange["id"]][1] != "emulator":
            known = f"id {exchange['response_id']}"
        booked = Booking.objects.filter(owner=self.session["owner_id"])
        found = booked.filter(answer_key=sha256(known.encode()).hexdigest()).order_by("pk").values()[:1]
        return [row | {"price_id": exchange["price_id"]} for row in found]

    @cached_property
    def repeated_runs(self) -> set[int]:
        """Runs whose trigger had a run before."""
        seen, found = set(), set()
        for run, trigger in (
            Run.objects.filter(session=self.session_id).order_by("pk").values_list("pk", "trigger")
        ):
            if trigger in seen:
                found.add(run)
            seen |= {trigger} - {None}
        return found


def counts_of(exchange: Row, answer: Answer) -> Counts:
    """By the chunks, or by our own terms where the tokens are estimated.

    The counts of another dialect have other names; for these the columns have to do.
    """
    terms = exchange["money"].get("terms", [])
    if terms and exchange["money"].get("estimated"):
        kinds: dict[str, int] = {term["name"]: term["tokens"] for term in terms}
        cached = kinds.get("cached", 0)
        rest = (kinds.get(kind, 0) for kind in ("tool use", "output", "thoughts"))
        return Counts(kinds.get("new", 0) + cached, cached, *rest)
    if exchange["dialect"] != "gemini":
        columns = ("prompt_tokens", "cached_tokens", "output_tokens", "thought_tokens")
        prompt, cached, output, thoughts = (exchange[column] or 0 for column in columns)
        return Counts(prompt, cached, 0, output, thoughts)
    names = ("prompt", "cachedContent", "toolUsePrompt", "candidates", "thoughts")
    return Counts(*(answer.count(f"{name}TokenCount") for name in names))


def exchange_findings(rows: BookingRows, exchange: Row, answer: Answer) -> Iterator[Finding]:
    """One booking for each answer that arrived, and none for a request without one."""
    own = rows.by_exchange.get(exchange["id"], [])
    is_repeat = exchange["resend_of_id"] is not None or exchange["run_id"] in rows.repeated_runs
    arrived = answer.is_counted or answer.has_parts
    if exchange["dialect"] != "gemini":
        arrived = exchange["prompt_tokens"] is not None or bool(own)
    is_due = arrived and (bool(own) or not rows.elsewhere(exchange))
    due = ["retry" if is_repeat else "answer"] if is_due else []
    yield MoneyFigure.BOOKED_FOR, [one["cause"] for one in own], due
    for booking in own:
        yield from _answer_findings(rows, exchange, booking, counts_of(exchange, answer), answer)


def _answer_findings(
    rows: BookingRows, exchange: Row, booking: Row, counts: Counts, answer: Answer
) -> Iterator[Finding]:
    day, tables = exchange["started_at"].date(), rows.tables
    payer = (rows.session["id"], rows.session["owner_id"])
    yield MoneyFigure.BOOKED_PAYER, (booking["session_id"], booking["owner_id"]), payer
    yield MoneyFigure.BOOKED_DAY, booking["day"], day
    # Earlier versions kept no source, and booked what they knew of the model then.
    is_earlier = "source" not in exchange["money"] and booking["source"] == "unknown"
    if is_earlier:
        return
    yield MoneyFigure.BOOKED_SOURCE, booking["source"], rows.sources[exchange["id"]][1]
    is_gemini = exchange["dialect"] == "gemini"
    reported = kept_text(answer.model, NAME) if is_gemini else exchange["served_model"]
    yield MoneyFigure.BOOKED_MODEL, booking["model"], tables.serving(exchange["model"], reported, day)[:80]
    due = tables.due(booking, tables.valid(exchange["model"], reported, day))
    yield MoneyFigure.BOOKED_PRICE, booking["price_id"], due
    searched = searched_by(tables, exchange, booking, answer)
    yield MoneyFigure.SEARCH_PRICE, booking["search_price_id"], searched.price
    usage = answer.usage if exchange["dialect"] == "gemini" else exchange["usage"]
    is_estimated = booking["usd"] is not None and is_estimate(usage)
    # An earlier version did not keep it.
    yield MoneyFigure.BOOKED_ESTIMATE, booking["estimated"], booking["estimated"] and is_estimated
    yield MoneyFigure.BOOKED_CUT_OFF, booking["cut_off"], _is_cut_off(exchange, answer) and not is_estimated
    yield MoneyFigure.SEARCHES, (exchange["searches"] or 0, booking["searches"]), searched.counts
    yield from _amount_findings(booking, counts, tables.prices.get(due or 0), searched.usd)


def _is_cut_off(exchange: Row, answer: Answer) -> bool:
    """By the chunks. The stored reason tells whether one with its end was lost before it was recorded."""
    ended = bool(answer.finish_reason or answer.is_blocked)
    if exchange["dialect"] != "gemini":
        ended = bool(exchange["finish_reason"]) or exchange["outcome"] not in WITHOUT_END
    return not ended or exchange["verdict_figures"].get("reason") == "cut_off"


def searched_by(tables: PriceRows, exchange: Row, booking: Row, answer: Answer) -> Searched:
    """What the searches of an answer cost; an earlier version did not count them."""
    if exchange["searches"] is None or exchange["dialect"] != "gemini" or not answer.searches:
        return Searched()
    served = kept_text(answer.model, NAME)
    found = tables.search(exchange["model"], served, exchange["started_at"].date())
    due = tables.search_due(booking, found)
    count, usd = money.charged(tables.search_prices.get(due or 0), answer.searches)
    return Searched(due, (answer.searches, count), usd)


def _amount_findings(booking: Row, counts: Counts, price: Row | None, searched: Decimal) -> Iterator[Finding]:
    stored = tokens_of(booking)
    # Without a price no terms are kept, so of an answer that broke off only a bound is known.
    is_bound = price is None and all(has >= least for has, least in zip(stored, counts.booked, strict=True))
    yield MoneyFigure.BOOKED_TOKENS, stored, stored if is_bound else counts.booked
    yield MoneyFigure.BOOKED_USD, booking["usd"], counts.cost(price, searched) if price else None


def tokens_of(booking: Row) -> Counts:
    return Counts(
        *(booking[f"{kind}_tokens"] for kind in ("prompt", "cached", "tool_use", "output", "thought"))
    )


def side_findings(rows: BookingRows) -> Iterator[Finding]:
    """Titles and summaries: no bytes of them are kept, so their counts are those of the booking."""
    sources = {source for _, source in rows.sources.values()}
    for booking in rows.all:
        yield MoneyFigure.BOOKED_PAYER, booking["owner_id"], rows.session["owner_id"]
        if booking["cause"] in SIDE_CAUSES:
            yield from _side_findings(rows, booking)
            is_of_run = booking["cause"] == "title" and sources and booking["source"] not in sources
            yield (
                MoneyFigure.BOOKED_SOURCE,
                booking["source"],
                sorted(sources) if is_of_run else booking["source"],
            )
        elif not booking["exchange_id"] and not booking["cache_name"]:
            yield MoneyFigure.BOOKED_FOR, booking["cause"], None


def _side_findings(rows: BookingRows, booking: Row) -> Iterator[Finding]:
    tables = rows.tables
    due = tables.due(booking, tables.valid(booking["model"], booking["model"], booking["day"]))
    price = tables.prices.get(due or 0)
    yield MoneyFigure.BOOKED_PRICE, booking["price_id"], due
    yield MoneyFigure.BOOKED_USD, booking["usd"], tokens_of(booking).cost(price) if price else None
