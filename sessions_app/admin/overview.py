"""The first page of the admin: how the installation is, what runs, what failed and what it costs.

Every figure is computed from rows when the page is asked for. Each card needs the permission to view the rows
that it is of; none shows a text of a person.
"""

import platform
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncHour
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from sessions_app.admin.charts import BarChart
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
from sessions_app.models.origin import Origin
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.wording import costs

RECENT = timedelta(hours=24)
SAMPLE = 10_000
"""Of the newest answers of that time, from which the percentiles are taken."""

SHOWN = 20
"""Rows of one card."""

AHEAD = timedelta(days=60)
"""In which a model ends that is named."""


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
    """(kind of error, runs that ended with it), the most frequent first."""
    failed = Run.objects.filter(started_at__gt=now - RECENT).exclude(error={}).order_by()
    kinds = failed.annotate(kind=KeyTextTransform("kind", "error")).values_list("kind")
    counted = kinds.annotate(count=Count("pk")).order_by("-count", "kind")[:SHOWN]
    return [(kind or "unknown", count) for kind, count in counted]


def recent_refusals(now: datetime) -> int:
    """Answers of the provider with status 429: also those that were asked again."""
    since = Exchange.objects.filter(started_at__gt=now - RECENT).aggregate(first=Min("pk"))["first"]
    if since is None:
        return 0
    return ExchangeAttempt.objects.filter(exchange__gte=since, status=429).count()


def runs_now() -> QuerySet[Run]:
    """Of chats, the oldest first: those of other programs end with their request."""
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
"""By column of bookings, how its values are shown."""


def spent_by(key: str, today: date) -> list[SpentBy]:
    """The largest sums of the month by a column of bookings."""
    month = Booking.objects.filter(day__gte=today.replace(day=1), day__lte=today).order_by()
    is_emulated, is_today = Q(source=MoneySource.EMULATOR), Q(day=today)
    sums = month.values(key).annotate(
        paid=Sum("usd", filter=~is_emulated),
        emulated=Sum("usd", filter=is_emulated),
        paid_today=Sum("usd", filter=~is_emulated & is_today),
        emulated_today=Sum("usd", filter=is_emulated & is_today),
    )
    # Nulls have no one place on all databases.
    ordered = sorted(sums, key=lambda row: (-(row["paid"] or 0), -(row["emulated"] or 0), str(row[key])))
    return [
        SpentBy(
            TITLES[key](row[key]),
            _amount(row["paid_today"], row["emulated_today"]),
            _amount(row["paid"], row["emulated"]),
        )
        for row in ordered[:SHOWN]
    ]


def _amount(paid: Decimal | None, emulated: Decimal | None) -> str:
    return costs.amount(paid or Decimal(0), emulated or Decimal(0))


def spent_by_day(today: date) -> BarChart:
    """What was paid on each day of the month until today."""
    first = today.replace(day=1)
    month = Booking.objects.filter(day__gte=first, day__lte=today).exclude(source=MoneySource.EMULATOR)
    sums = dict(month.order_by().values_list("day").annotate(Sum("usd")))
    days = [first + timedelta(days=n) for n in range(today.day)]
    values = [float(sums.get(day) or 0) for day in days]
    told = [costs.amount(sums.get(day) or Decimal(0), Decimal(0)) for day in days]
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


def cache_storage(today: date) -> CacheStorage:
    kept = CacheEntry.objects.at_provider().aggregate(caches=Count("pk"), tokens=Sum("tokens"))
    month = Booking.objects.filter(
        day__gte=today.replace(day=1), day__lte=today, cause=SpendingCause.CACHE_KEPT
    )
    is_emulated = Q(source=MoneySource.EMULATOR)
    cost = month.aggregate(paid=Sum("usd", filter=~is_emulated), emulated=Sum("usd", filter=is_emulated))
    return CacheStorage(kept["caches"], kept["tokens"] or 0, _amount(cost["paid"], cost["emulated"]))


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
        shown["spent"] = (
            ("person", spent_by("owner__username", today)),
            ("model", spent_by("model", today)),
            ("cause", spent_by("cause", today)),
        )
        shown |= {"by_day": spent_by_day(today), "caches": cache_storage(today)}
    return shown
