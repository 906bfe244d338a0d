"""Deletes a session with everything that it owns."""

from django.db import transaction

from sessions_app import models as rows
from sessions_app.prompt.caching import EntryReason


def erase_session(session: "rows.Session") -> None:
    """Deletes every row of the session in a constant number of statements.

    `delete` alone would load each turn and raw chunk for its cascades: minutes with the write lock held
    for a session of a thousand exchanges.
    """
    with transaction.atomic():
        # A run that still records something does so before, or finds itself gone (`runs.locks`).
        list(rows.Run.objects.active().filter(session=session).select_for_update().values_list("pk"))
        rows.CacheEntry.objects.release_for_session(session.pk, EntryReason.SESSION_ERASED)
        rows.CacheEvent.objects.forget_session(session.pk)
        rows.ProviderFileRemoval.objects.request(rows.Attachment.objects.filter(session=session))
        rows.Booking.objects.filter(session=session).update(session=None, exchange=None)
        rows.Session.objects.filter(pk=session.pk).update(head=None)
        rows.Run.objects.filter(session=session).update(trigger=None)
        for owned in (
            rows.CapturedRequest.objects.filter(exchange__session=session),
            rows.RawChunk.objects.filter(exchange__session=session),
            rows.ExchangeAttempt.objects.filter(exchange__session=session),
            rows.FileChange.objects.filter(session=session),
            rows.HistoryDrop.objects.filter(session=session),
            rows.HistoryChunk.objects.filter(session=session),
            rows.ToolCall.objects.filter(turn__session=session),
            rows.Turn.objects.filter(session=session),
            rows.Exchange.objects.filter(session=session),
            rows.Source.objects.filter(session=session),
            rows.RunLog.objects.filter(run__session=session),
            rows.Run.objects.filter(session=session),
        ):
            owned._raw_delete(owned.db)
        owner_id = session.owner_id
        session.delete()
        rows.Blob.objects.delete_unreferenced(owner_id)
