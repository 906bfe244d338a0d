"""Who has the token of a relayed request: read from the database, and remembered for some seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import Error
from django.utils import timezone

from sessions_app.capture.lookups import Lookup
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.models import CaptureAddress
from sessions_app.models.capture_address import capture_digest

REMEMBERED_SECONDS = 5.0
"""For so long a revoked or paused address may go on as it was."""


@dataclass(frozen=True, slots=True)
class KnownAddress:
    pk: int
    owner: int
    upstream: str
    is_paused: bool = False
    is_revoked: bool = False
    expires_at: datetime | None = None
    uses_server_key: bool = False

    @property
    def fault(self) -> CaptureFault | None:
        """Why it relays nothing; None when it does."""
        if self.is_revoked:
            return CaptureFault.REVOKED
        is_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return CaptureFault.EXPIRED if is_expired else None


Find = Callable[[str], KnownAddress | None]


def find_address(token_hash: str) -> KnownAddress | None:
    row = CaptureAddress.objects.filter(token_hash=token_hash, owner__is_active=True).first()
    if row is None:
        return None
    return KnownAddress(
        row.pk,
        row.owner_id,
        row.upstream,
        row.is_paused,
        row.revoked_at is not None,
        row.expires_at,
        row.uses_server_key,
    )


class AddressBook:
    """Where the database does not answer, what was known before holds."""

    def __init__(self, find: Find = find_address) -> None:
        self._lookup = Lookup(find, "addresses", REMEMBERED_SECONDS, outlives=True)

    async def find(self, token: str) -> KnownAddress:
        """Raises RelayRefused for an unknown token."""
        try:
            found = await self._lookup.get(capture_digest(token))
        except Error:
            raise RelayRefused(CaptureFault.UNCHECKED) from None
        if found is None:
            raise RelayRefused(CaptureFault.UNKNOWN_ADDRESS)
        return found

    async def close(self) -> None:
        await self._lookup.close()
