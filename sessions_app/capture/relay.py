"""The relay: requests of other programs to the model, and the answers back, byte for byte.

An ASGI application in front of Django. What it records it hands to a queue; neither the database nor the
recording delays or fails a call. It asks nothing again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions_app.capture.addresses import AddressBook, KnownAddress
from sessions_app.capture.exchange import Call, RelayedExchange, Send
from sessions_app.capture.faults import own_answer
from sessions_app.capture.guard import has_control_character, refusal
from sessions_app.capture.headers import (
    SESSION_HEADER,
    Pair,
    decoded,
    first,
    kept,
    key_of,
    keyed_hash,
    scope_of,
)
from sessions_app.capture.incoming import IncomingRequest
from sessions_app.capture.paths import RelayPath, has_unread_answer, key_in, relay_path, without_secrets
from sessions_app.capture.recorder import Recorder
from sessions_app.capture.records import Begun, Ended
from sessions_app.capture.server_key import Grant, ServerKeys
from sessions_app.capture.traits import may_pass_unread
from sessions_app.capture.upstreams import Upstream
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.models import CaptureAddress

AT_ONCE, AT_ONCE_OF_ONE = 300, 100
"""Requests of a process, and of one address among them."""

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class Relay:
    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        book: AddressBook,
        recorder: Recorder,
        server_keys: ServerKeys,
    ) -> None:
        """`upstreams` by the values of `CaptureAddress.Upstream`."""
        self._upstreams = upstreams
        self._book = book
        self._recorder = recorder
        self._server_keys = server_keys
        self._running: Counter[int] = Counter()
        """Primary key of an address → requests under way."""
        self._spending: Counter[int] = Counter()
        """Primary key of a person → of these, those with the server's key."""

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        path = relay_path(scope["raw_path"])
        try:
            if path is None:
                raise RelayRefused(CaptureFault.WRONG_PATH)
            await self._serve(scope, path, IncomingRequest(receive), send)
        except RelayRefused as refused:
            await _refuse(send, refused)

    async def close(self) -> None:
        """After the requests have ended."""
        for upstream in self._upstreams.values():
            await upstream.client.close()
        await asyncio.to_thread(self._recorder.close)
        await self._book.close()
        await self._server_keys.close()

    async def _serve(self, scope: Any, path: RelayPath, incoming: IncomingRequest, send: Send) -> None:
        began, at = time.perf_counter(), timezone.now()
        address = await self._book.find(path.token)
        headers = decoded(scope["headers"])
        begun = _begun(scope, path, headers, address, at)
        call = Call(scope, path, headers, begun, incoming, began)
        try:
            self._check(call, address)
            grant = await self._use_server_key(call) if address.uses_server_key else None
            if not path.is_upload:
                begun.body = await incoming.read()
                begun.size = len(begun.body)
            if grant is not None and path.asks_model:
                await _check_is_counted(call)
                if grant.has_budget:
                    await self._reserve(call, address)
        except RelayRefused as refused:
            if not address.is_paused:
                self._record_refusal(call, refused)
            raise
        is_recorded = not address.is_paused and self._recorder.begin(begun)
        if call.reservation is not None and not is_recorded:
            await self._server_keys.release(call.reservation)
            raise RelayRefused(CaptureFault.NOT_BOOKED)
        record = self._recorder.end if is_recorded else _leave_out
        exchange = RelayedExchange(call, self._upstreams[address.upstream], send, record)
        try:
            with self._place_of(call):
                await exchange.run()
        finally:
            exchange.end()

    @contextmanager
    def _place_of(self, call: Call) -> Iterator[None]:
        address, owner = call.begun.address, call.begun.owner if call.server_key else None
        self._running[address] += 1
        if owner is not None:
            self._spending[owner] += 1
        try:
            yield
        finally:
            self._running[address] -= 1
            self._running += Counter()  # Drops who has none.
            if owner is not None:
                self._spending[owner] -= 1
                self._spending += Counter()

    async def _reserve(self, call: Call, address: KnownAddress) -> None:
        """What is not recorded is not booked, so nothing is spent by it. Raises RelayRefused."""
        if address.is_paused:
            raise RelayRefused(CaptureFault.NOT_BOOKED)
        is_emulated = address.upstream == CaptureAddress.Upstream.EMULATOR
        call.reservation = await self._server_keys.reserve(
            call.begun.owner, call.path.model, call.begun.body or b"", is_emulated=is_emulated
        )

    async def _use_server_key(self, call: Call) -> Grant:
        """Raises RelayRefused before anything is sent."""
        if not call.path.may_use_server_key(call.scope["method"]):
            raise RelayRefused(CaptureFault.NOT_WITH_SERVER_KEY)
        grant = await self._server_keys.grant(call.begun.owner)
        if self._spending[call.begun.owner] >= grant.at_once:
            raise RelayRefused(CaptureFault.TOO_MANY)
        call.server_key, call.begun.uses_server_key = grant.key, True
        call.begun.key_hash = keyed_hash(grant.key, settings.SECRET_KEY)
        return grant

    def _check(self, call: Call, address: KnownAddress) -> None:
        """Raises RelayRefused."""
        allowed, hosts = settings.PIPEWEB_CAPTURE, settings.ALLOWED_HOSTS
        fault = refusal(call.scope, call.headers, allowed=allowed, hosts=hosts) or address.fault
        if fault is None and (call.path.is_live or first(call.headers, "sec-websocket-key")):
            fault = CaptureFault.LIVE
        if fault is None and not call.path.is_known:
            fault = CaptureFault.WRONG_PATH
        if fault is None and call.scope["method"] not in METHODS:
            fault = CaptureFault.WRONG_METHOD
        if fault is None and has_control_character(call.scope):
            fault = CaptureFault.CONTROL_CHARACTER
        if fault is None and self._is_full(address.pk):
            fault = CaptureFault.TOO_MANY
        if fault is not None:
            raise RelayRefused(fault)

    def _is_full(self, address: int) -> bool:
        return self._running[address] >= AT_ONCE_OF_ONE or self._running.total() >= AT_ONCE

    def _record_refusal(self, call: Call, refused: RelayRefused) -> None:
        call.begun.asks_model, call.begun.body = False, None
        if self._recorder.begin(call.begun):
            self._recorder.end(call.ended(refused.fault, own_answer(refused.fault).status))


def _begun(scope: Any, path: RelayPath, headers: list[Pair], address: KnownAddress, at: datetime) -> Begun:
    """`at` is when it came: before its address was looked up, as its milliseconds count."""
    given = scope["query_string"].decode("latin-1")
    query = without_secrets(given)
    return Begun(
        address=address.pk,
        owner=address.owner,
        received_at=at,
        method=scope["method"],
        path=path.rest + (f"?{query}" if query else ""),
        client=first(headers, "user-agent"),
        headers=kept(headers),
        scope=scope_of(headers, settings.SECRET_KEY),
        name=first(headers, SESSION_HEADER).strip()[:80] or path.name,
        model=path.model,
        asks_model=path.asks_model,
        key_hash=keyed_hash(key_of(headers) or key_in(given), settings.SECRET_KEY),
    )


async def _check_is_counted(call: Call) -> None:
    """What has no exchange, or an answer that cannot be read, is not booked, whatever it costs.

    Raises RelayRefused.
    """
    if has_unread_answer(call.scope["query_string"].decode("latin-1")):
        raise RelayRefused(CaptureFault.NOT_READ)
    packing = first(call.headers, "content-encoding").strip().lower()
    is_packed = packing not in ("", "identity")
    if is_packed or await asyncio.to_thread(may_pass_unread, call.begun.body or b""):
        raise RelayRefused(CaptureFault.NOT_READ)


def _leave_out(ended: Ended) -> None:
    """The `record` of a request that is not recorded."""


async def _refuse(send: Send, refused: RelayRefused) -> None:
    answer = own_answer(refused.fault, limit=refused.limit)
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})
