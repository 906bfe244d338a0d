"""Admits sockets: the database work of their handshakes, in a thread and on a connection of its own.

However many pages connect at once, commands of those already connected do not wait behind them.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.db import connections

from sessions_app.accounts.sign_ins import signed_in_users
from sessions_app.context.personal_limits import limits_of
from sessions_app.database import close_unusable_connections
from sessions_app.fairness import Rate
from sessions_app.models import Run, Session

WAITING_LIMIT = 1_000
"""Handshakes that may wait; the pages of the others try again after a pause."""

BURST, PER_SECOND = 20, 4.0
"""Handshakes of one sign-in."""

PATIENCE = 4.0
"""Seconds that a handshake waits when there are more; Daphne ends one after five."""

KEYS_LIMIT = 10_000
"""Sign-ins whose rate is kept, before those that have their burst again are dropped."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What a socket begins with. `session_pk` 0: the person has no such session."""

    session_key: str
    user_id: int
    limit: int
    session_pk: int = 0
    head_version: int = 0
    active_run: UUID | None = None


class Handshakes:
    """One per process, used from its event loop only."""

    def __init__(self, waiting_limit: int = WAITING_LIMIT) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-handshake")
        self._limit = waiting_limit
        self._waiting = 0
        self._rates: dict[str, Rate] = {}

    async def pace(self, session_key: str) -> bool:
        """Waits for a place among the handshakes of this sign-in; False when there is none soon."""
        if len(self._rates) > KEYS_LIMIT:
            self._rates = {key: rate for key, rate in self._rates.items() if not rate.is_full}
        rate = self._rates.setdefault(session_key, Rate(BURST, PER_SECOND))
        delay = rate.delay()
        has_place = delay <= PATIENCE
        if has_place:
            rate.take()
        # A refusal waits too: it must not be quicker than a handshake.
        await asyncio.sleep(min(delay, PATIENCE))
        return has_place

    @property
    def is_full(self) -> bool:
        return self._waiting >= self._limit

    async def admit(self, session_key: str, public: UUID) -> Admission | None:
        """None when nobody is signed in by this key."""
        self._waiting += 1
        try:
            work = partial(read_admission, session_key, public)
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)


def read_admission(session_key: str, public: UUID) -> Admission | None:
    """At most five queries."""
    close_unusable_connections()
    user = signed_in_users([session_key]).get(session_key)
    if user is None:
        return None
    admission = Admission(session_key, user.pk, limits_of(user.pk).sockets)
    session = Session.objects.of(user).filter(public=public).only("pk", "head_version").first()
    if session is None:
        return admission
    return Admission(
        session_key,
        user.pk,
        admission.limit,
        session.pk,
        session.head_version,
        Run.objects.active_in(session.pk),
    )
