"""What a person may do, and the checks before it is done.

Each check counts rows after it has locked the person's row, so that several processes cannot exceed a limit
together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from math import ceil
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BigIntegerField, DateTimeField, Q, QuerySet, Value
from django.db.models.signals import m2m_changed
from django.utils import timezone

from sessions_app.context.model_lookup import TimedCache
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit
from sessions_app.models import ImportJob, PersonalLimits, QueuedMessage, Run, Session, SharedLink
from sessions_app.models.import_job import ACTIVE_LIMIT
from sessions_app.models.personal_limits import lock_person
from sessions_app.models.prepared import Parameter, Reading

WINDOW = timedelta(minutes=1)
"""The time over which messages are counted."""

WAITING = "queued message"
"""The status of a queued message in `Activity`."""


@dataclass(frozen=True, slots=True)
class EffectiveLimits:
    """The limits that apply to one person; the defaults are those of the program."""

    runs_at_once: int = 8
    sends_per_minute: int = 60
    sockets: int = 100
    upload_mb_per_day: int = 2_000
    storage_mb: int = 20_000
    sessions: int = 10_000
    shared_links: int = 100


LIMIT_NAMES = tuple(field.name for field in fields(EffectiveLimits))


class Activity(NamedTuple):
    """A run that is active or was sent within WINDOW, or a queued message."""

    session: int
    status: str
    sent_at: datetime | None
    client_id: UUID


_limits: TimedCache[EffectiveLimits] = TimedCache(PersonalLimits)
m2m_changed.connect(_limits.clear_on_change, sender=User.groups.through)


def limits_of(user_id: int) -> EffectiveLimits:
    """Kept in memory for a while (`model_lookup.TTL`)."""
    return _limits.get(user_id, lambda: merged(PersonalLimits.objects.that_apply_to(user_id)))


def clear_limits() -> None:
    """Limits are read from the database again."""
    _limits.clear()


def merged(rows: Sequence[PersonalLimits]) -> EffectiveLimits:
    """The limits of a person to whom these rows apply."""
    levels = (
        [row for row in rows if row.user_id is not None],
        [row for row in rows if row.group_id is not None],
        [row for row in rows if row.everybody],
    )
    found: dict[str, int] = {}
    for level in levels:
        for name in LIMIT_NAMES:
            values = [value for row in level if (value := getattr(row, name)) is not None]
            if values:
                found.setdefault(name, max(values))
    return EffectiveLimits(**found)


def activity_of(user_id: int, now: datetime) -> list[Activity]:
    """What the limits of runs and messages count: one query."""
    return [Activity(*row) for row in _activity.all(owner=user_id, since=now - WINDOW)]


def _of_activity() -> "QuerySet[Any, Any]":
    owner, since = Parameter("owner", BigIntegerField()), Parameter("since", DateTimeField())
    runs = Run.objects.filter(
        Q(status__in=Run.ACTIVE) | Q(sent_at__gt=since), session__owner_id=owner
    ).values_list("session_id", "status", "sent_at", "client_id")
    queued = (
        QueuedMessage.objects.filter(session__owner_id=owner)
        .order_by()
        .annotate(status=Value(WAITING))
        .values_list("session_id", "status", "queued_at", "client_id")
    )
    return runs.union(queued, all=True)


_activity: Reading[tuple[Any, ...]] = Reading(_of_activity)


def active_runs(activity: Sequence[Activity]) -> int:
    """A run that waits for a person has no place."""
    return sum(row.status in Run.WORKING for row in activity)


def check_send(user_id: int, activity: Sequence[Activity], client_id: UUID, now: datetime) -> None:
    """Raises OverLimit when another message in this minute would be too many.

    Messages of a time when the clock was wrong may lie far in the future, and do not count.
    """
    limit = limits_of(user_id).sends_per_minute
    others = [row.sent_at for row in activity if row.sent_at and row.client_id != client_id]
    sent = sorted(moment for moment in others if now - WINDOW < moment < now + WINDOW)
    if len(sent) >= limit:
        frees = ceil((sent[-limit] + WINDOW - now).total_seconds()) if limit else None
        raise OverLimit(RefusalCode.SENDS_PER_MINUTE, used=len(sent), limit=limit, seconds=frees)


def check_runs(user_id: int, running: int) -> None:
    """Raises OverLimit when another run beside these would be too many."""
    limit = limits_of(user_id).runs_at_once
    if running >= limit:
        raise OverLimit(RefusalCode.RUNS_AT_ONCE, used=running, limit=limit)


def check_draft(user_id: int, drafts: int) -> None:
    """A draft of a summary counts as a run. Raises OverLimit."""
    check_runs(user_id, active_runs(activity_of(user_id, timezone.now())) + drafts)


@contextmanager
def room_for_session(user_id: int) -> Iterator[None]:
    """A transaction in which the block creates a session. Raises OverLimit before it runs."""
    with transaction.atomic():
        lock_person(user_id)
        check_sessions(user_id)
        yield


def check_sessions(user_id: int) -> None:
    """Raises OverLimit when another session would be too many."""
    limit = limits_of(user_id).sessions
    used = Session.objects.filter(owner_id=user_id, deleted_at=None).count()
    if used >= limit:
        raise OverLimit(RefusalCode.SESSIONS, used=used, limit=limit)


def check_shared_links(user_id: int) -> None:
    """Raises OverLimit when another link would be too many."""
    limit = limits_of(user_id).shared_links
    used = SharedLink.objects.filter(session__owner_id=user_id).count()
    if used >= limit:
        raise OverLimit(RefusalCode.SHARED_LINKS, used=used, limit=limit)


def check_imports(user_id: int) -> None:
    """Raises OverLimit when another import would be too many."""
    active = ImportJob.objects.active().filter(owner_id=user_id).count()
    if active >= ACTIVE_LIMIT:
        raise OverLimit(RefusalCode.IMPORTS_AT_ONCE, used=active, limit=ACTIVE_LIMIT)
