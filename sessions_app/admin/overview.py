"""The first page of the admin: how the installation is, what runs, what failed and what it costs.

Every figure is computed from rows when the page is asked for. Each card needs the permission to view the rows
that it is of; none shows a text of a person.
"""

import platform
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncHour
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from sessions_app.admin.charts import BarChart
from sessions_app.context.api_key import keys
from sessions_app.error_codes import CaptureFault
from sessions_app.health.middleware import facts_of, version
from sessions_app.health.probe import HealthProbe
from sessions_app.models import (
    Booking,
    CacheEntry,
    Exchange,
    ExchangeAttempt,
    ImportJob,
    ModelLifecycle,
    QueuedMessage,
    Run,
)
from sessions_app.models.booking import INEXACT
from sessions_app.models.origin import Origin
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.wording import api_key, costs

RECENT = timedelta(hours=24)
SAMPLE = 10_000
"""The most answers of that time, the newest, from which the percentiles are taken."""

NOT_FAILED = (CaptureFault.CLIENT_LEFT, CaptureFault.NOT_IN_FILE)
"""Reasons for which a program's run has an error and nothing failed: it hung up, or a file leaves out how the
request ended.
"""

NOTHING = Decimal(0)

SHOWN = 20
"""Rows of one card."""

AHEAD = timedelta(days=60)
"""Models that end within this time are named."""


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Waits:
    """Milliseconds until the first chunk; None without an answer. `answers` is how many were looked at."""

    answers: int
    p50: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class SpentBy:
    """What was spent by whom, by which model or for what, today and in this month (UTC)."""

    name: str
    today: str
    month: str


def recent_waits(now: datetime) -> Waits:
    rows = Exchange.objects.filter(started_at__gt=now - RECENT, first_chunk_ms__isnull=False).order_by()
    newest = rows.order_by("-started_at").values_list("first_chunk_ms", flat=True)[:SAMPLE]
    waits = sorted(ms for ms in newest if ms is not None)
    return Waits(len(waits), nearest_rank(waits, 50), nearest_rank(waits, 99))


def nearest_rank(ordered: Sequence[float], percent: int) -> float | None:
    """The smallest value that at least `percent` of them do not exceed."""
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)] if ordered else None


def recent_failures(now: datetime) -> list[tuple[str, int]]:
    """(kind of error, runs that ended with it), the most frequent first.

    Without copies of runs, by a fork or an import: their rows are later than the end that they copied.
    """
    failed = Run.objects.filter(started_at__gt=now - RECENT).exclude(error={}).order_by()
    failed = failed.exclude(ended_at__lt=F("started_at"))
    failed = failed.filter(Q(error__reason__isnull=True) | ~Q(error__reason__in=NOT_FAILED))
    kinds = failed.annotate(kind=KeyTextTransform("kind", "error")).values_list("kind")
    counted = kinds.annotate(count=Count("pk")).order_by("-count", "kind")[:SHOWN]
    return [(kind or "unknown", count) for kind, count in counted]


def recent_refusals(now: datetime) -> int:
    """Answers of the provider with status 429: also those that were asked again."""
    recent = Exchange.objects.filter(started_at__gt=now - RECENT).order_by("started_at")
    # Not the smallest key, for which a database reads all rows in the order of the keys.
    since = recent.values_list("pk", flat=True).first()
    if since is None:
        return 0
    # The key only bounds what is read: exchanges of an imported file have later keys and earlier times.
    refused = ExchangeAttempt.objects.filter(exchange__gte=since, status=429)
    return refused.filter(exchange__started_at__gt=now - RECENT).count()


def runs_now() -> QuerySet[Run]:
    """Active runs of chats, the oldest first; runs of other programs end with their request."""
    rows = Run.objects.active().filter(session__origin=Origin.CHAT).select_related("session__owner")
    return rows.only(
        "public", "status", "started_at", "stop_requested", "model", "session__public", "session__model",
        "session__owner__username",
    ).order_by("started_at")  # fmt: skip


TITLES: dict[str, Callable[[Any], str]] = {
    "owner__username": lambda name: name or "erased people",
    "model": str,
    "cause": lambda cause: costs.title_of(SpendingCause(cause)),
}
"""How values of a column of bookings are shown, by column."""


def booked_this_month(today: date) -> list[Row]:
    """The sums of the month until today by person, model, cause, day and source: one query for all cards."""
    month = Booking.objects.filter(day__gte=today.replace(day=1), day__lte=today).order_by()
    return list(month.values(*TITLES, "day", "source").annotate(total=Sum("usd"), **INEXACT))


def spent_by(key: str, rows: Sequence[Row], today: date) -> list[SpentBy]:
    """The largest sums of the month by a column of bookings: what was paid, then what would have been."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    by_name = sorted(groups.items(), key=lambda group: str(group[0]))
    largest = sorted(
        by_name, key=lambda group: [-_spent(group[1], emulated=one).usd for one in (False, True)]
    )
    return [
        SpentBy(
            TITLES[key](value),
            amount_of([row for row in own if row["day"] == today]),
            amount_of(own),
        )
        for value, own in largest[:SHOWN]
    ]


def amount_of(rows: Sequence[Row]) -> str:
    return costs.spent_by_source(_spent(rows), _spent(rows, emulated=True))


def _spent(rows: Sequence[Row], *, emulated: bool = False) -> costs.Spent:
    own = [row for row in rows if (row["source"] == MoneySource.EMULATOR) == emulated]
    inexact = {name: sum(row[name] for row in own) for name in INEXACT}
    return costs.Spent(sum((row["total"] or NOTHING for row in own), NOTHING), **inexact)


def programs_amount(rows: Sequence[Row]) -> str:
    """What programs paid with keys of their own this month; empty where none did."""
    own = [row for row in rows if row["source"] == MoneySource.CLIENT]
    return amount_of(own) if own else ""


def spent_by_day(rows: Sequence[Row], today: date) -> BarChart:
    """What was paid on each day of the month until today."""
    days = [today.replace(day=n) for n in range(1, today.day + 1)]
    paid = [row for row in rows if row["source"] != MoneySource.EMULATOR]
    by_day = [[row for row in paid if row["day"] == day] for day in days]
    sums = list(map(_spent, by_day))
    told = [costs.spent_by_source(one, costs.Spent(NOTHING)) for one in sums]
    values = [float(one.usd) for one in sums]
    return BarChart.of("Paid by day", [f"{day:%d %b}" for day in days], values, told)


def asked_by_hour(now: datetime) -> BarChart:
    """Requests to models in each of the last 24 hours (UTC)."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    hours = [hour - timedelta(hours=n) for n in reversed(range(24))]
    rows = Exchange.objects.filter(started_at__gte=hours[0]).order_by()
    counts = dict(rows.annotate(hour=TruncHour("started_at")).values_list("hour").annotate(Count("pk")))
    values = [counts.get(one, 0) for one in hours]
    return BarChart.of("Requests by hour", [f"{one:%H:00}" for one in hours], values, list(map(str, values)))


@dataclass(frozen=True, slots=True)
class CacheStorage:
    """Explicit caches that the provider keeps, and what keeping caches cost this month."""

    caches: int
    tokens: int
    month: str


def cache_storage(rows: Sequence[Row]) -> CacheStorage:
    kept = CacheEntry.objects.at_provider().aggregate(caches=Count("pk"), tokens=Sum("tokens"))
    paid = amount_of([row for row in rows if row["cause"] == SpendingCause.CACHE_KEPT])
    return CacheStorage(kept["caches"], kept["tokens"] or 0, paid)


def database_size() -> int | None:
    """Bytes; None for a database in memory."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    files = [Path(f"{connection.settings_dict['NAME']}{suffix}") for suffix in ("", "-wal")]
    return sum(file.stat().st_size for file in files if file.exists()) or None


def queue() -> dict[str, Any]:
    """Messages that wait for an answer, and files that are being imported."""
    waiting = QueuedMessage.objects.order_by().aggregate(messages=Count("pk"), oldest=Min("queued_at"))
    return {**waiting, "imports": ImportJob.objects.active().count()}


def models_that_end(today: date) -> list[ModelLifecycle]:
    soon = ModelLifecycle.objects.filter(is_retired=True, valid_from__lte=today + AHEAD, valid_from__gt=today)
    return list(soon.order_by("valid_from", "model"))


def versions() -> list[tuple[str, str]]:
    database = ".".join(map(str, connection.get_database_version()))
    return [
        ("Pipeweb", version()),
        ("Django", django.get_version()),
        ("Python", platform.python_version()),
        (connection.display_name, database),
    ]


def health_of(probe: HealthProbe | None) -> list[tuple[str, str]]:
    """What the probe of this process said last, with the sizes of disk and database."""
    facts, disk, size = facts_of(probe), shutil.disk_usage(settings.PIPEWEB_DATA), database_size()
    rows = {
        "Status": f"{facts['status']}, seen {facts['age']} s ago" if "age" in facts else facts["status"],
        "Database": filesizeformat(size) if size else "in memory",
        "Disk": f"{filesizeformat(disk.free)} free of {filesizeformat(disk.total)}",
        "API key": api_key.IN_SHORT[keys.current().origin],
    }
    for name in ("database", "disk", "redis", "heartbeat"):
        if name in facts:
            title = name.capitalize()
            rows[title] = f"{facts[name]}, {rows[title]}" if title in rows else facts[name]
    return list(rows.items())


def overview(request: HttpRequest) -> dict[str, Any]:
    """What the person may see of it."""
    now, may = timezone.now(), request.user.has_perm
    today = now.date()
    probe = getattr(request, "scope", {}).get("probe")
    shown: dict[str, Any] = {
        "health": health_of(probe),
        "queue": queue(),
        "versions": versions(),
        "ending": models_that_end(today),
        "now": now,
    }
    if may("sessions_app.view_run"):
        running = list(runs_now()[: SHOWN + 1])
        shown |= {"runs": running[:SHOWN], "has_more_runs": len(running) > SHOWN}
        shown["failures"] = recent_failures(now)
    if may("sessions_app.view_exchange"):
        shown |= {"waits": recent_waits(now), "refusals": recent_refusals(now), "asked": asked_by_hour(now)}
    if may("sessions_app.view_booking"):
        booked = booked_this_month(today)
        titles = {"owner__username": "person", "model": "model", "cause": "cause"}
        shown["spent"] = [(title, spent_by(key, booked, today)) for key, title in titles.items()]
        shown |= {"by_day": spent_by_day(booked, today), "caches": cache_storage(booked)}
        shown["programs_amount"] = programs_amount(booked)
    return shown
