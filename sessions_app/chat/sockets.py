"""The open sockets of this process: how many each person has, and the end of those whose sign-in ended."""

import asyncio
from collections import Counter
from time import monotonic
from typing import Any, Protocol

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredSession
from django.db import transaction
from django.db.models.signals import post_delete, post_save

from sessions_app.accounts.sign_ins import signed_in_users
from sessions_app.chat.handshake import Handshakes
from sessions_app.database import database_sync_to_async
from sessions_app.fairness import Places, Rate
from sessions_app.runs.background import BackgroundTask, is_set_within, isolated

CHECK_SECONDS = 5.0
"""Time between two checks: a sign-out in another process ends a socket so much later."""

FRESH_SECONDS = 1.0
"""A command is carried out without another check for this long."""

START_BURST, STARTS_PER_SECOND = 3, 1.0
"""Answers that one person asks for: a burst of their limit of a minute would slow everybody's."""


WRITE_NOW = "pipeweb.write_now"
"""A key of the ASGI scope: sends texts without waiting, in one write; False where they take the usual way."""


class Socket(Protocol):
    """A socket of `user_id` that was opened with a session cookie."""

    session_key: str
    user_id: int

    async def end_sign_in(self) -> None: ...


class Sockets:
    """One per process, used from its event loop only."""

    def __init__(self) -> None:
        self.handshakes = Handshakes()
        self.places = Places()
        self._open: set[Socket] = set()
        self._by_user: Counter[int] = Counter()
        self._checked: dict[str, float] = {}
        self._starts: dict[int, Rate] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._checks = BackgroundTask("socket_checks_ended", self._check_forever)

    def start(self) -> None:
        """Begins to check; calling it again does nothing."""
        self._loop = asyncio.get_running_loop()
        for sender, signal in ((StoredSession, post_delete), (User, post_save), (User, post_delete)):
            signal.connect(self._sign_in_changed, sender=sender)
        self._checks.start()

    async def stop(self) -> None:
        self._loop = None
        await self._checks.stop()
        await self.handshakes.close()

    def add(self, socket: Socket, limit: int) -> bool:
        """Whether the person may have another socket; it is counted until `remove`."""
        if self._by_user[socket.user_id] >= limit:
            return False
        self._open.add(socket)
        self._by_user[socket.user_id] += 1
        self._checked[socket.session_key] = monotonic()
        return True

    def remove(self, socket: Socket) -> None:
        if socket in self._open:
            self._open.discard(socket)
            self._by_user[socket.user_id] -= 1
            if not self._by_user[socket.user_id]:
                del self._by_user[socket.user_id]

    def count(self, user_id: int) -> int:
        return self._by_user[user_id]

    def start_delay(self, user_id: int) -> float:
        """Counts an answer that the person asks for; returns the seconds that it has to wait."""
        return self._starts.setdefault(user_id, Rate(START_BURST, STARTS_PER_SECOND)).take()

    async def is_signed_in(self, socket: Socket) -> bool:
        """Whether the socket's command may be carried out: two queries, at most once in `FRESH_SECONDS`."""
        if self._checked.get(socket.session_key, 0.0) < monotonic() - FRESH_SECONDS:
            await self._check({socket.session_key})
        return socket in self._open

    async def check(self) -> None:
        """Ends the sockets of all whose sign-in has ended: two queries."""
        self._starts = {user: rate for user, rate in self._starts.items() if not rate.is_full}
        keys = {socket.session_key for socket in self._open}
        if keys:
            await self._check(keys)
        self._checked = {key: at for key, at in self._checked.items() if key in keys}

    async def _check(self, keys: set[str]) -> None:
        began = monotonic()
        valid = await database_sync_to_async(signed_in_users)(keys)
        self._checked.update(dict.fromkeys(valid, began))
        ended = keys.difference(valid)
        # Most commands end none, and there may be thousands of sockets.
        for socket in [one for one in self._open if one.session_key in ended] if ended else ():
            self.remove(socket)
            with isolated("end_failed"):
                await socket.end_sign_in()

    async def _check_forever(self) -> None:
        while True:
            with isolated("check_failed"):
                await self.check()
            await is_set_within(self._wake, CHECK_SECONDS)
            self._wake.clear()

    def _sign_in_changed(self, using: str, **_: Any) -> None:
        """Receiver of signals, in any thread: checks at once after the commit."""
        transaction.on_commit(self._check_soon, using=using)

    def _check_soon(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)
