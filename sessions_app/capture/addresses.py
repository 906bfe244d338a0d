"""Who has the token of a relayed request: read from the database, and remembered for some seconds."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from django.db import Error, connections
from django.utils import timezone

from sessions_app.database import close_unusable_connections
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.models import CaptureAddress
from sessions_app.models.capture_address import capture_digest

REMEMBERED_SECONDS = 5.0
"""For so long a revoked or paused address may go on as it was."""

REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class KnownAddress:
    pk: int
    owner: int
    upstream: str
    is_paused: bool = False
    is_revoked: bool = False
    expires_at: datetime | None = None

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
    is_revoked = row.revoked_at is not None
    return KnownAddress(row.pk, row.owner_id, row.upstream, row.is_paused, is_revoked, row.expires_at)


class AddressBook:
    """Reads in a thread of its own. Where the database does not answer, what was known before holds."""

    def __init__(self, find: Find = find_address) -> None:
        self._find = find
        self._known: OrderedDict[str, tuple[KnownAddress | None, float]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-capture-addresses")

    async def find(self, token: str) -> KnownAddress:
        """Raises RelayRefused for an unknown token."""
        token_hash = capture_digest(token)
        found, until = self._known.get(token_hash, (None, 0.0))
        if until < time.monotonic():
            found = await self._read(token_hash, found)
        if found is None:
            raise RelayRefused(CaptureFault.UNKNOWN_ADDRESS)
        return found

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)

    async def _read(self, token_hash: str, known: KnownAddress | None) -> KnownAddress | None:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._fresh, token_hash)
        except Error:
            if known is None:
                raise RelayRefused(CaptureFault.UNCHECKED) from None
            return known
        self._known[token_hash] = (found, time.monotonic() + REMEMBERED_SECONDS)
        self._known.move_to_end(token_hash)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _fresh(self, token_hash: str) -> KnownAddress | None:
        close_unusable_connections()
        return self._find(token_hash)
