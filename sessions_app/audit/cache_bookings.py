"""What has to be booked for each explicit cache, by the events of its life, beside what is.

A cache is made once, kept for the time that was asked for and for what each extension added, and gives back
the time that it did not live. No row says how many tokens one held that is gone: what making it cost says it,
and storage has to be of as many.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property

from sessions_app.audit import money
from sessions_app.audit.bookings import Finding
from sessions_app.audit.differences import MoneyFigure
from sessions_app.audit.money_sources import EMULATOR_HEADER, source_of, sources_of
from sessions_app.audit.prices import PriceRows
from sessions_app.audit.rows import Row
from sessions_app.models import Booking, CacheEntry, CacheEvent, CapturedRequest, Exchange

AT_CREATION = timedelta(seconds=60)
"""Between the time asked for and the end that the provider names: its clock, and how long the answer took."""

AT_THE_END = 10.0
"""Seconds between what was given back and the event of the end."""

EXACT = 0.001
"""Seconds by which floating point numbers of one span may differ."""

ENDS = ("deleted", "gone")

LEFT_OVER = ["cache_made", "cache_kept"]
"""What is booked for a cache that was not needed and could not be deleted."""


@dataclass(slots=True)
class Kept:
    """Storage that was paid: what is left of it. `rest` and `usd` shrink as it is given back."""

    row: Row
    rest: float
    usd: Decimal | None


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
class CacheBookings:
    """One cache by its name at the provider. `ahead`: as much its clock may be before ours.

    `of_program` is the entry of a person whose captured program made it.
    """

    name: str
    tables: PriceRows
    ahead: timedelta = field(default=timedelta())
    of_program: Row | None = None

    @cached_property
    def bookings(self) -> list[Row]:
        rows = Booking.objects.filter(cache_name=self.name)
        if self.of_program:
            rows = rows.filter(owner=self.of_program["owner_id"])
        return list(rows.order_by("pk").values())

    @cached_property
    def events(self) -> list[Row]:
        rows = CacheEvent.objects.filter(name=self.name)
        if self.of_program:
            rows = rows.filter(entry=self.of_program["id"])
        return list(rows.order_by("at", "pk").values())

    @cached_property
    def entry(self) -> Row | None:
        return self.of_program or CacheEntry.objects.filter(events__name=self.name).values().first()

    @cached_property
    def sources(self) -> set[str]:
        """The sources of the requests over its route in the session that had it made."""
        route = self.entry["route"] if self.entry else ""
        makers = {event["session_id"] for event in self.events if event["kind"] == "made"} - {None}
        found = (one for maker in makers for one in sources_of(maker).values())
        return {source for used, source in found if used == route} or {self._source_of_nobody(route)}

    def _source_of_nobody(self, route: str) -> str:
        """A captured program pays for its cache itself: the relay makes none with the server's key."""
        source = source_of(route)
        if source != "provider" or self.entry is None or not self.entry["is_programs"]:
            return source
        made = CapturedRequest.objects.filter(pk=self.entry["captured_request_id"]).values("response_headers")
        is_named = any(EMULATOR_HEADER in dict(one["response_headers"]) for one in made)
        return "emulator" if is_named else "client"

    def of_cause(self, cause: str) -> list[Row]:
        return [row for row in self.bookings if row["cause"] == cause]

    @property
    def paid(self) -> list[Row]:
        return [row for row in self.of_cause("cache_kept") if row["stored_seconds"] > 0]

    @cached_property
    def tokens(self) -> int | None:
        """By what making it cost; None where that was unknown, or is no such product."""
        for row in self.of_cause("cache_made"):
            price = self.tables.prices.get(row["price_id"] or 0)
            if price and row["usd"] is not None:
                rates = {price["input"], price["input_above"]} - {None, 0}
                sizes = {round(row["usd"] * 1_000_000 / rate) for rate in rates}
                return next((one for one in sizes if _cost_of_making(one, price) == row["usd"]), None)
        return None


def cache_findings(cache: CacheBookings) -> Iterator[Finding]:
    made = next((event for event in cache.events if event["kind"] == "made"), None)
    if made is None:
        # Made and not needed: no row has it. It was deleted at once, or, where that failed, is kept once.
        causes = [row["cause"] for row in cache.bookings]
        yield MoneyFigure.BOOKED_FOR, causes, causes if causes == LEFT_OVER else ["cache_made"]
        return
    if made["session_id"] is None and not cache.of_cause("cache_made"):
        # Earlier versions booked caches without their names.
        return
    gains = list(_gains(cache.events))
    longer = [(event, gain) for event, gain in gains if gain > 0]
    yield MoneyFigure.BOOKED_FOR, len(cache.of_cause("cache_made")), 1
    yield MoneyFigure.BOOKED_FOR, len(cache.paid), 1 + len(longer)
    yield from _tokens_findings(cache)
    for row in cache.of_cause("cache_made") + cache.paid[:1]:
        yield from _row_findings(cache, row, made)
    for row in cache.paid[:1]:
        yield MoneyFigure.STORED_SECONDS, row["stored_seconds"], _first_seconds(cache, row, made)
    for row, (event, gain) in zip(cache.paid[1:], longer, strict=False):
        yield from _row_findings(cache, row, event)
        yield MoneyFigure.STORED_SECONDS, row["stored_seconds"], _near(row["stored_seconds"], gain, EXACT)
    shrunk = -sum(gain for _, gain in gains if gain < 0)
    yield from _refund_findings(cache, shrunk + sum(_unlived(cache.events)))


def _tokens_findings(cache: CacheBookings) -> Iterator[Finding]:
    """As many as the entry says while it has this cache, and as many as an answer from it was given."""
    tokens = cache.tokens
    if tokens is None or cache.entry is None:
        return
    if cache.entry["name"] == cache.name:
        yield MoneyFigure.BOOKED_TOKENS, tokens, cache.entry["tokens"]
    named = Exchange.objects.filter(cache_name=cache.name, cached_tokens__gt=0, dialect="gemini")
    for counted in named.values_list("cached_tokens", flat=True)[:1]:
        yield MoneyFigure.BOOKED_TOKENS, tokens, counted


def _gains(events: Sequence[Row]) -> Iterator[tuple[Row, float]]:
    """The extensions, with the seconds that each added to the life."""
    expires: datetime | None = None
    for event in events:
        if event["kind"] == "extended" and expires is not None and event["expires"] is not None:
            yield event, (event["expires"] - expires).total_seconds()
        if event["kind"] in ("made", "extended"):
            expires = event["expires"]


def _unlived(events: Sequence[Row]) -> Iterator[float]:
    """The seconds between the end of the cache and the end that was paid for."""
    expires = [event["expires"] for event in events if event["kind"] in ("made", "extended")]
    for event in events:
        if event["kind"] in ENDS and expires and expires[-1] is not None:
            yield max((expires[-1] - event["at"]).total_seconds(), 0.0)
            return


def _first_seconds(cache: CacheBookings, row: Row, made: Row) -> float:
    """What was asked for, as far as the answer tells it."""
    lived: timedelta = made["expires"] - made["at"]
    seconds: float = row["stored_seconds"]
    if lived - cache.ahead - AT_CREATION <= timedelta(seconds=seconds) <= lived + AT_CREATION:
        return seconds
    return lived.total_seconds()


def _near(stored: float, found: float, tolerance: float) -> float:
    return stored if abs(stored - found) <= tolerance else found


def _row_findings(cache: CacheBookings, row: Row, event: Row) -> Iterator[Finding]:
    """Payer, day, source, model, price and amount of one booking, by the event that it was for."""
    entry, tables, at = cache.entry, cache.tables, event["at"]
    if entry is None:
        return
    if row["session_id"] != event["session_id"]:
        yield MoneyFigure.BOOKED_PAYER, row["session_id"], _planner(entry, event)
    days = {at.date(), (at + timedelta(seconds=AT_THE_END)).date()}
    yield MoneyFigure.BOOKED_DAY, row["day"], row["day"] if row["day"] in days else at.date()
    sources = cache.sources
    yield (
        MoneyFigure.BOOKED_SOURCE,
        row["source"],
        row["source"] if row["source"] in sources else sorted(sources),
    )
    served = tables.serving(entry["model"], _family_of(entry["route"]), row["day"])
    yield MoneyFigure.BOOKED_MODEL, row["model"], served[:80]
    due = tables.due(row, tables.valid(entry["model"], served, row["day"]))
    yield MoneyFigure.BOOKED_PRICE, row["price_id"], due
    yield MoneyFigure.BOOKED_USD, row["usd"], _amount(cache, row, tables.prices.get(due or 0))


def _planner(entry: Row, event: Row) -> int | None:
    """The session that had a cache made: for one whose process died by the newest plan of its owner."""
    if event["session_id"] is not None or event["kind"] != "made":
        found: int | None = event["session_id"]
        return found
    plans = Exchange.objects.filter(
        fingerprint=entry["fingerprint"], cache_action="create", session__owner=entry["owner_id"]
    )
    return plans.order_by("-pk").values_list("session", flat=True).first()


def _family_of(route: str) -> str:
    """The second half of a route; a long one is only there as 16 hex digits."""
    family = route.partition("/")[2]
    is_hash = len(family) == 16 and not set(family) - set("0123456789abcdef")
    return "" if is_hash else family


def _amount(cache: CacheBookings, row: Row, price: Row | None) -> Decimal | None:
    tokens, is_making = cache.tokens, row["cause"] == "cache_made"
    if is_making and cache.entry and cache.entry["name"] == cache.name:
        tokens = cache.entry["tokens"]
    if price is None or (price["storage"] is None and not is_making):
        return None
    if tokens is None:
        # Making it had no price: nothing says how large it was.
        booked: Decimal | None = row["usd"]
        return booked
    if is_making:
        return _cost_of_making(tokens, price)
    # The seconds are a floating point number, and so are the hours that were charged.
    usd: Decimal = tokens * Decimal(row["stored_seconds"] / 3_600) * price["storage"] / 1_000_000
    return usd.quantize(money.CENTS, ROUND_HALF_EVEN)


def _cost_of_making(tokens: int, price: Row) -> Decimal:
    return money.cost(price, tokens, 0, 0, 0)


def _refund_findings(cache: CacheBookings, due: float) -> Iterator[Finding]:
    """What was paid last comes back first, at what was paid for it, to whoever had paid."""
    paid: list[Kept] = []
    given = 0.0
    for row in cache.of_cause("cache_kept"):
        if row["stored_seconds"] > 0:
            paid.append(Kept(row, row["stored_seconds"], row["usd"]))
            continue
        given -= row["stored_seconds"]
        if not paid:
            yield MoneyFigure.GIVEN_BACK_SECONDS, -row["stored_seconds"], 0.0
            continue
        yield from _one_refund(paid[-1], row)
        if paid[-1].rest <= EXACT:
            paid.pop()
    due = min(due, given + sum(one.rest for one in paid))
    yield MoneyFigure.GIVEN_BACK_SECONDS, given, _near(given, due, AT_THE_END)


def _one_refund(last: Kept, row: Row) -> Iterator[Finding]:
    payer = ("session_id", "owner_id", "price_id", "model", "source")
    yield MoneyFigure.BOOKED_PAYER, [row[key] for key in payer], [last.row[key] for key in payer]
    rest = max(last.rest + row["stored_seconds"], 0.0)
    if last.usd is not None:
        share = last.usd * Decimal(rest) / Decimal(last.rest) if rest > 0 else Decimal(0)
        left = share.quantize(money.CENTS, ROUND_HALF_EVEN)
        yield MoneyFigure.BOOKED_USD, row["usd"], left - last.usd
        last.usd = left
    else:
        yield MoneyFigure.BOOKED_USD, row["usd"], None
    last.rest = rest


def caches_of(session_id: int | None) -> Iterable[str]:
    """The names of the caches that a session caused or paid for; None: those of erased ones and of nobody."""
    booked = Booking.objects.filter(session=session_id).exclude(cache_name="")
    caused = CacheEvent.objects.filter(session=session_id, kind__in=("made", "extended"))
    return sorted({*booked.values_list("cache_name", flat=True), *caused.values_list("name", flat=True)})


def left_caches(tables: PriceRows) -> Iterator[CacheBookings]:
    """Those of no session. What a program made is booked once for each person, with their first entry."""
    for name in caches_of(None):
        of_owners: dict[int | None, Row] = {}
        for entry in CacheEntry.objects.filter(is_programs=True, name=name).order_by("pk").values():
            of_owners.setdefault(entry["owner_id"], entry)
        if not of_owners:
            yield CacheBookings(name, tables)
        for first in of_owners.values():
            yield CacheBookings(name, tables, of_program=first)
