"""Bytes that people upload and store: counted, and checked before they are accepted."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from math import ceil

from django.db import connections, transaction
from django.db.models import Sum
from django.utils import timezone

from sessions_app.context.personal_limits import limits_of
from sessions_app.context.workspaces import workspace_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit
from sessions_app.models import Blob, PersonalUsage

MEGABYTE = 1_000_000

COUNT_LIFETIME = timedelta(minutes=10)
"""A count of stored bytes is used for this long; what is added meanwhile is added to it."""

REFUSAL_LIFETIME = timedelta(minutes=1)
"""Nothing is refused by an older count: files may have been removed since."""


def check_room(user_id: int, size: int) -> None:
    """Books nothing: call it before a body of `size` bytes is read. Raises OverLimit."""
    _count_if_due(user_id, size)
    usage = PersonalUsage.objects.filter(user_id=user_id).first() or PersonalUsage(user_id=user_id)
    _check_day(usage, size, timezone.now())
    _check_stored(usage, size)


def check_upload(user_id: int, size: int) -> None:
    """Books an upload of `size` bytes that has arrived. Raises OverLimit."""
    _count_if_due(user_id, size)
    with _locked(user_id) as usage:
        now = timezone.now()
        _check_day(usage, size, now)
        usage.day, usage.uploaded = now.date(), usage.uploaded_today + size
        _reserve(usage, size)


def check_storage(user_id: int, size: int) -> None:
    """Reserves `size` bytes that are about to be stored. Raises OverLimit."""
    _count_if_due(user_id, size)
    with _locked(user_id) as usage:
        _reserve(usage, size)


def count_stored(user_id: int) -> PersonalUsage:
    """Counts what the person has stored: walks the workspace, so not inside a transaction.

    What is reserved meanwhile is added to it, since the walk may have passed the place of that file.
    """
    before, _ = PersonalUsage.objects.get_or_create(user_id=user_id)
    counted = Blob.objects.filter(owner_id=user_id).aggregate(total=Sum("size"))["total"] or 0
    counted += workspace_of(user_id).size()
    with _locked(user_id) as usage:
        # The sum of a count that ended meanwhile stays: what was reserved before that is unknown here.
        if usage.counted_at == before.counted_at:
            usage.stored = counted + max(0, usage.stored - before.stored)
            usage.counted_at = timezone.now()
    return usage


def old_counts() -> list[int]:
    """People whose count is out of date, the oldest first."""
    due = PersonalUsage.objects.filter(counted_at__lt=timezone.now() - COUNT_LIFETIME)
    return list(due.order_by("counted_at").values_list("user_id", flat=True))


def _count_if_due(user_id: int, size: int) -> None:
    if connections[PersonalUsage.objects.db].in_atomic_block:
        return
    usage = PersonalUsage.objects.filter(user_id=user_id).first()
    limit = limits_of(user_id).storage_mb * MEGABYTE
    lifetime = REFUSAL_LIFETIME if usage and usage.stored + size > limit else COUNT_LIFETIME
    if usage is None or usage.counted_at is None or usage.counted_at < timezone.now() - lifetime:
        count_stored(user_id)


@contextmanager
def _locked(user_id: int) -> Iterator[PersonalUsage]:
    """The person's row, locked in a transaction and saved at its end."""
    PersonalUsage.objects.get_or_create(user_id=user_id)
    with transaction.atomic():
        usage = PersonalUsage.objects.select_for_update(no_key=True).get(user_id=user_id)
        yield usage
        usage.save()


def _reserve(usage: PersonalUsage, size: int) -> None:
    _check_stored(usage, size)
    usage.stored += size


def _check_day(usage: PersonalUsage, size: int, now: datetime) -> None:
    limit, used = limits_of(usage.user_id).upload_mb_per_day, usage.uploaded_today
    if used + size > limit * MEGABYTE:
        seconds = None if size > limit * MEGABYTE else _to_midnight(now)
        raise OverLimit(RefusalCode.UPLOAD_MB_PER_DAY, used=_megabytes(used), limit=limit, seconds=seconds)


def _check_stored(usage: PersonalUsage, size: int) -> None:
    limit = limits_of(usage.user_id).storage_mb
    if usage.stored + size > limit * MEGABYTE:
        raise OverLimit(RefusalCode.STORAGE_MB, used=_megabytes(usage.stored), limit=limit)


def _megabytes(size: int) -> int:
    return ceil(size / MEGABYTE)


def _to_midnight(now: datetime) -> int:
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return ceil((midnight - now).total_seconds())
