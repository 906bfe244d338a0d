"""Deletes files at the provider whose session or person was erased here."""

import structlog

from sessions_app.database import database_sync_to_async
from sessions_app.errors import BadRequest, GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import ProviderFileRemoval
from sessions_app.runs.background import isolated, readable

log = structlog.get_logger("pipeweb.files")


async def remove_files(gateway: Gateway) -> int:
    """Returns how many are gone; what the provider did not delete is tried again in the next round."""
    due = ProviderFileRemoval.objects.due(gateway.route)
    rows = await database_sync_to_async(readable)(due, "file_not_read")
    removed = 0
    for row in rows:
        with isolated("file_not_removed", file=row.pk):
            if await _is_gone(gateway, row.uri):
                await database_sync_to_async(row.delete)()
                removed += 1
    if rows:
        await database_sync_to_async(ProviderFileRemoval.objects.forget_expired)()
    return removed


async def _is_gone(gateway: Gateway, uri: str) -> bool:
    try:
        await gateway.delete_file(uri)
    except BadRequest:
        # It is not there, or it is another key's, which this installation cannot reach.
        return True
    except GatewayError as error:
        log.info("file_not_removed", kind=type(error).__name__)
        return False
    return True
