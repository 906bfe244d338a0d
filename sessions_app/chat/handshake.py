"""Admits sockets: the database work of their handshakes, in a thread and on a connection of its own.

However many pages connect at once, commands of those already connected do not wait behind them.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.db.models import BigIntegerField, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import parse_cookie

from sessions_app.accounts.sign_ins import signed_in_users
from sessions_app.context.personal_limits import limits_of
from sessions_app.database import close_unusable_connections
from sessions_app.models import Run, Session
from sessions_app.models.prepared import Parameter, Reading, parameter

WAITING_LIMIT = 1_000
"""Handshakes that may wait; the pages of the others try again after a pause."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What a socket begins with. `session_pk` 0: the person has no such session."""

    session_key: str
    user_id: int
    limit: int
    session_pk: int = 0
    head_version: int = 0
    active_run: UUID | None = None
    last_run: UUID | None = None
    """The run of the last answer in view, as the transcript names it."""


class Handshakes:
    """One per process, used from its event loop only."""

    def __init__(self, waiting_limit: int = WAITING_LIMIT) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-handshake")
        self._limit = waiting_limit
        self._waiting = 0

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


def session_key_in(cookies: bytes) -> str:
    """The sign-in that a Cookie header names; empty when it names none."""
    return parse_cookie(cookies.decode("latin1")).get(settings.SESSION_COOKIE_NAME, "")


def read_admission(session_key: str, public: UUID) -> Admission | None:
    """At most four queries."""
    close_unusable_connections()
    user = signed_in_users([session_key]).get(session_key)
    if user is None:
        return None
    limit = limits_of(user.pk).sockets
    found = _chat.first(owner=user.pk, public=public)
    return Admission(session_key, user.pk, limit, *(found or ()))


def _chat_of() -> QuerySet[Session, Any]:
    """A person's session: its key, its `head_version`, the active run and the last one, if any."""
    active = Run.objects.active().filter(session=OuterRef("pk")).values("public")[:1]
    # An answer that ended without a turn is the newest run for the head.
    newest = Run.objects.filter(trigger=OuterRef("head")).order_by("-pk").values("public")[:1]
    last = Coalesce(Subquery(newest), F("head__run__public"))
    own = Session.objects.owned_by(Parameter("owner", BigIntegerField())).chats()
    asked = own.filter(public=parameter(Session, "public")).annotate(active=Subquery(active), last=last)
    return asked.values_list("pk", "head_version", "active", "last")[:1]


_chat: Reading[tuple[int, int, UUID | None, UUID | None]] = Reading(_chat_of)
