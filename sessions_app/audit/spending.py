"""Sums of bookings: those of a session, of a person's days and months, and of all sessions together."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal

from sessions_app.audit.bookings import NO_MONEY, BookingRows, Finding
from sessions_app.audit.differences import Difference, MoneyFigure
from sessions_app.audit.rows import Row
from sessions_app.audit.shown import CauseMoney, Loss, ShownMonth, ShownSession
from sessions_app.models import Booking, Session, Spending

CACHE_CAUSES = ("cache_made", "cache_kept")

TOKEN_COLUMNS = tuple(f"{kind}_tokens" for kind in ("prompt", "cached", "tool_use", "output", "thought"))
MONEY_COLUMNS = ("usd", "cache_usd", "storage_usd")
DAY_COLUMNS = ("exchanges", "unpriced", "cut_off", "estimates", "caches", *TOKEN_COLUMNS, *MONEY_COLUMNS)

Day = tuple[int | None, date, str, str]
"""Person, day, model and source."""


def money_of(rows: Iterable[Row]) -> Decimal:
    return sum((row["usd"] for row in rows if row["usd"] is not None), NO_MONEY)


def by_cause(rows: Iterable[Row]) -> set[CauseMoney]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["cause"]].append(row)
    return {
        CauseMoney(
            cause,
            money_of(own),
            len(own),
            sum(map(lacks_price, own)),
            sum(row["cut_off"] for row in own),
            sum(row["estimated"] is True for row in own),
            sum(row["estimated"] is None for row in own),
        )
        for cause, own in groups.items()
    }


def session_findings(rows: BookingRows, exchanges: Iterable[Row], shown: ShownSession) -> Iterator[Finding]:
    """The columns that the session keeps of its sums, and what its pages say."""
    own, session = rows.all, rows.session
    asked = [row for row in own if row["exchange_id"]]
    columns = (
        *("spent_usd", "emulated_usd", "unpriced", "cut_off", "estimates"),
        *("prompt_tokens", "cached_tokens"),
    )
    sums = [
        money_of(own),
        money_of(row for row in own if row["source"] == "emulator"),
        sum(map(lacks_price, own)),
        sum(row["cut_off"] for row in own),
        sum(row["estimated"] is True for row in own),
        sum(row["prompt_tokens"] for row in asked),
        sum(row["cached_tokens"] for row in asked),
    ]
    stored = [session[column] for column in columns]
    # Earlier versions counted tokens and unknown prices otherwise.
    is_earlier = any(row["source"] == "unknown" for row in own)
    known = 2 if is_earlier else len(columns)
    yield MoneyFigure.SESSION_SUMS, stored[:known], sums[:known]
    yield MoneyFigure.SESSION_CAUSES, set(shown.causes), by_cause(own)
    yield MoneyFigure.SESSION_LOSSES, set(shown.losses), set(_losses(exchanges))


def _losses(exchanges: Iterable[Row]) -> Iterator[Loss]:
    groups = defaultdict(list)
    for row in exchanges:
        if row["prompt_tokens"] is not None and row["verdict"] and row["lost_tokens"] != 0:
            groups[row["verdict"]].append(row)
    for verdict, own in groups.items():
        known = [row for row in own if row["lost_tokens"] is not None]
        yield Loss(
            verdict,
            len(own),
            sum(row["lost_tokens"] for row in known),
            sum((row["lost_usd"] for row in known if row["lost_usd"] is not None), NO_MONEY),
            len(own) - len(known),
            sum(row["lost_usd"] is None for row in known),
        )


def audit_days() -> Iterator[Difference]:
    """Every person, day, model and source: the kept sums beside the bookings; then all of them together."""
    booked: dict[Day, list[Row]] = defaultdict(list)
    for row in Booking.objects.order_by("pk").values():
        booked[_day_of(row)].append(row)
    kept: dict[Day, list[Row]] = defaultdict(list)
    for held in Spending.objects.values():
        kept[_day_of(held)].append(held)
    for day in sorted(booked.keys() | kept.keys(), key=str):
        # Of what earlier versions counted only the money was booked.
        columns = MONEY_COLUMNS if day[3] == "unknown" else DAY_COLUMNS
        stored = {name: sum((row[name] for row in kept[day]), NO_MONEY) for name in columns}
        found = {name: amount for name, amount in _sums(booked[day]).items() if name in columns}
        if stored != found:
            label = f"person {day[0]}, {day[1]}, {day[2]}, {day[3]}"
            yield Difference(label, 0, MoneyFigure.DAY_SUMS, stored, found)
    yield from _all_sessions(kept.values())


def lacks_price(booking: Row) -> bool:
    """Whether more was spent than it says."""
    has_unpriced_searches = booking["searches"] > 0 and booking["search_price_id"] is None
    return booking["usd"] is None or has_unpriced_searches


def _day_of(row: Row) -> Day:
    return row["owner_id"], row["day"], row["model"], row["source"]


def _sums(rows: list[Row]) -> dict[str, Decimal]:
    asked = [row for row in rows if row["cause"] not in CACHE_CAUSES]
    made = [row for row in rows if row["cause"] == "cache_made"]
    counts = {name: sum(row[name] for row in asked) for name in TOKEN_COLUMNS}
    return {
        **{name: Decimal(count) for name, count in counts.items()},
        "exchanges": Decimal(len(asked)),
        "unpriced": Decimal(sum(map(lacks_price, rows))),
        "cut_off": Decimal(sum(row["cut_off"] for row in rows)),
        "estimates": Decimal(sum(row["estimated"] is True for row in rows)),
        "usd": money_of(asked),
        "caches": Decimal(len(made)),
        "cache_usd": money_of(made),
        "storage_usd": money_of(row for row in rows if row["cause"] == "cache_kept"),
    }


def _all_sessions(days: Iterable[list[Row]]) -> Iterator[Difference]:
    """The sums of all sessions, with what erased ones left, are those of all days."""
    sessions = sum(Session.objects.values_list("spent_usd", flat=True), NO_MONEY)
    left = money_of(Booking.objects.filter(session=None).values("usd"))
    spent = sum((row[name] for rows in days for row in rows for name in MONEY_COLUMNS), NO_MONEY)
    if spent != sessions + left:
        yield Difference("all sessions", 0, MoneyFigure.ALL_SESSIONS, spent, sessions + left)


def audit_month(owner: int | None, month: date, shown: ShownMonth) -> Iterator[Difference]:
    """What the Spending page says of one person's month."""
    rows = Booking.objects.filter(owner=owner, day__year=month.year, day__month=month.month).values()
    emulated = [row for row in rows if row["source"] == "emulator"]
    paid = [row for row in rows if row["source"] != "emulator"]
    label = f"person {owner}, {month:%Y-%m}"
    for figure, stored, found in (
        (MoneyFigure.MONTH_SUMS, (shown.usd, shown.emulated_usd), (money_of(paid), money_of(emulated))),
        (MoneyFigure.DAY_CAUSES, shown.paid, _day_causes(paid)),
        (MoneyFigure.DAY_CAUSES, shown.emulated, _day_causes(emulated)),
    ):
        if stored != found:
            yield Difference(label, 0, figure, stored, found)


def _day_causes(rows: Iterable[Row]) -> Mapping[tuple[date, str], CauseMoney]:
    days = defaultdict(list)
    for row in rows:
        days[row["day"]].append(row)
    return {(day, one.cause): one for day, own in days.items() for one in by_cause(own)}


def booked_months() -> list[tuple[int | None, date]]:
    """Each person with the first days of the months in which something was booked or kept."""
    found = {
        (owner, day.replace(day=1))
        for rows in (Booking.objects, Spending.objects)
        for owner, day in rows.order_by().values_list("owner", "day").distinct()
    }
    return sorted(found, key=str)
