"""Takes away the bytes that a session's requests sent and received; its figures and its chat stay."""

from collections.abc import Collection

from django.db import models, transaction
from django.db.models import F, Sum
from django.db.models.functions import Length
from django.utils import timezone

from sessions_app import models as rows

CAPTURED_CONTENT: dict[str, list[str]] = {
    name: [] for name in ("headers", "response_headers", "framing", "packets", "calls")
}
"""Columns of a captured request that hold what travelled, with what they are emptied to."""


@transaction.atomic
def purge_payloads(session_pk: int) -> int:
    """Purges every exchange of the session; returns how many. A constant number of statements.

    Nothing is done while a run or a request is under way: these read what the earlier ones sent. The lock on
    the session's row makes the next request wait, which then stores its sources anew.
    """
    session = rows.Session.objects.select_for_update(of=("self",)).filter(pk=session_pk).first()
    if session is None or session.is_importing or _is_busy(session_pk):
        return 0
    purged = rows.Exchange.objects.filter(session=session_pk, payload_purged_at=None).update(
        payload_purged_at=timezone.now(), manifest={}
    )
    if not purged:
        return 0
    of_session = rows.CapturedRequest.objects.filter(exchange__session=session_pk)
    of_session.update(request_body=None, response_body=None, **CAPTURED_CONTENT)
    attempts = rows.ExchangeAttempt.objects.filter(exchange__session=session_pk)
    attempts.update(body=None, request_headers=[], response_headers=[])
    for owned in (
        rows.RawChunk.objects.filter(exchange__session=session_pk),
        rows.Source.objects.filter(session=session_pk),
    ):
        owned._raw_delete(owned.db)
    # What processes remember of the sources holds no more (`stored_sources`).
    rows.Session.objects.filter(pk=session_pk).update(payload_purges=F("payload_purges") + 1)
    rows.Blob.objects.delete_unreferenced(session.owner_id)
    return purged


def _is_busy(session_pk: int) -> bool:
    runs = rows.Run.objects.filter(session=session_pk, status__in=rows.Run.ACTIVE)
    return runs.exists() or rows.Exchange.objects.filter(session=session_pk, ended_at=None).exists()


def payload_sizes(sessions: "Collection[int] | models.QuerySet[rows.Session]") -> dict[int, int]:
    """Bytes of the payloads of each of these sessions, as if no two shared any: one query a table."""
    chunks = rows.RawChunk.objects.filter(exchange__session__in=sessions)
    attempts = rows.ExchangeAttempt.objects.filter(exchange__session__in=sessions)
    sources = rows.Source.objects.filter(session__in=sessions)
    captured = rows.CapturedRequest.objects.filter(exchange__session__in=sessions)
    return _added(
        # An answer that its chunks do not make up is kept beside them.
        _sums(captured, F("exchange__session"), F("response_body__size")),
        _sums(chunks, F("exchange__session"), Length("body")),
        _sums(attempts, F("exchange__session"), F("body__size")),
        _sums(sources, F("session"), F("blob__size")),
    )


def session_sizes(sessions: "Collection[int] | models.QuerySet[rows.Session]") -> dict[int, int]:
    """The same of whole sessions: with the contents of their turns and their attachments."""
    turns = rows.Turn.objects.filter(session__in=sessions)
    files = rows.Attachment.objects.filter(session__in=sessions)
    return _added(
        payload_sizes(sessions),
        _sums(turns, F("session"), F("content__size")),
        _sums(files, F("session"), F("blob__size")),
    )


def _sums(found: "models.QuerySet[models.Model]", session: F, size: F | Length) -> dict[int, int]:
    listed = found.order_by().annotate(of=session).values("of").annotate(total=Sum(size))
    return {row["of"]: row["total"] or 0 for row in listed}


def _added(*sizes: dict[int, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for one in sizes:
        for key, size in one.items():
            found[key] = found.get(key, 0) + size
    return found
