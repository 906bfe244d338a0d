"""Imports an HTTP archive: its requests become rows, as if they had been relayed.

Each file has an address of its own, which never relays (`CaptureAddress.objects.of_file`): so requests of
different files are never taken for one session, and a file that was imported before is recognised.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.utils import timezone

from sessions_app.capture.har_reading import Ignored, Importer, ReadHar, read_har
from sessions_app.capture.recording import Recording
from sessions_app.error_codes import HarProblem
from sessions_app.errors import HarRefused
from sessions_app.models import CaptureAddress, CapturedRequest, Session

BATCH = 50
"""Records of one transaction."""

LONGEST = timedelta(minutes=15)
"""An import that has not ended by then was ended with its process."""


@dataclass(frozen=True, slots=True)
class ImportedHar:
    """`no_room` requests were not kept, since the person has no storage left."""

    requests: int
    sessions: int
    no_room: int
    ignored: Mapping[Ignored, int]


def import_har(owner_id: int, name: str, body: bytes) -> ImportedHar:
    """All of it or nothing, unless the process dies. Raises HarRefused."""
    address = _address(owner_id, name, body)
    try:
        found = read_har(body, Importer(address.pk, owner_id, settings.SECRET_KEY))
        _record(found)
    except BaseException:
        _undo(address)
        raise
    CaptureAddress.objects.filter(pk=address.pk).update(expires_at=timezone.now())
    rows = CapturedRequest.objects.filter(address=address)
    kept = rows.count()
    sessions = rows.exclude(session="").order_by().values("session").distinct().count()
    return ImportedHar(kept, sessions, found.requests - kept, found.ignored)


def _address(owner_id: int, name: str, body: bytes) -> CaptureAddress:
    """Raises HarRefused for a file whose requests are there already."""
    row, is_new = CaptureAddress.objects.of_file(owner_id, sha256(body).hexdigest(), name)
    if is_new:
        return row
    rows = CapturedRequest.objects.filter(address=row)
    now = timezone.now()
    if row.expires_at is None and row.created_at > now - LONGEST:
        raise HarRefused(HarProblem.UNDER_WAY)
    kept = rows.exclude(exchange__session__deleted_at__isnull=False).count()
    if row.expires_at is not None and kept:
        at = timezone.localtime(row.expires_at).isoformat()
        raise HarRefused(HarProblem.KNOWN, at=at, requests=kept)
    # Its requests were deleted, or its import never ended. Of two that begin it again at once, one does.
    unchanged = CaptureAddress.objects.filter(pk=row.pk, created_at=row.created_at)
    if not unchanged.update(created_at=now, expires_at=None, missed=0):
        raise HarRefused(HarProblem.UNDER_WAY)
    _erase(row)
    return row


def _record(found: ReadHar) -> None:
    recording = Recording()
    for start in range(0, len(found.records), BATCH):
        recording(found.records[start : start + BATCH])


def _undo(address: CaptureAddress) -> None:
    _erase(address)
    address.delete()


def _erase(address: CaptureAddress) -> None:
    for session in Session.objects.filter(captured_keys__address=address).distinct():
        session.erase()
    CapturedRequest.objects.filter(address=address).erase()
