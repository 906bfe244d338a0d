"""Request bodies: refused before they are read where possible, counted as they arrive, kept on disk."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from tempfile import SpooledTemporaryFile
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve

from pipeweb.responses import in_steps, ready_to_wait
from sessions_app.accounts.uploads import check_sender
from sessions_app.body_limits import body_limit, takes_file
from sessions_app.context.personal_limits import check_imports, check_sessions
from sessions_app.context.storage import check_room
from sessions_app.database import release_connections
from sessions_app.error_codes import BodyRefusal
from sessions_app.errors import BodyRefused, OverLimit, StorageRefuses
from sessions_app.storage_errors import storage_refusals_raised
from sessions_app.wording import uploads

UPLOADS_AT_ONCE = 32
"""Files that a process receives and stores at the same time: each may be as large as its limit on disk."""

UPLOADS_OF_ONE = 6
"""Files of one person among them, about what a browser sends at once."""

GRACE = 30.0
SLOWEST = 8_000
"""A body may take GRACE seconds, and a second for every SLOWEST bytes that have arrived."""

SLICE = 512 * 1024
"""Bytes that are written to the disk at once."""

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]


class BodyHandler(ASGIHandler):
    """Django's handler. A body of more than a slice goes to a nameless file, written outside of the loop."""

    def load_middleware(self, is_async: bool = True) -> None:
        """Synchronous, whatever `is_async` says, as nearly all views and some middleware are: each change
        between the two kinds would cost changes of threads.
        """
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The middleware and the view, as one piece of work for the thread of the request."""
        return await sync_to_async(self._responded)(request)

    def _responded(self, request: HttpRequest) -> HttpResponseBase:
        return ready_to_wait(self.get_response(request))

    async def send_response(self, response: Any, send: Any) -> None:
        if response.streaming and not response.is_async:
            response.streaming_content = in_steps(response.streaming_content)
        await super().send_response(response, send)

    async def listen_for_disconnect(self, receive: Receive) -> None:
        """Returns where Django's raises: the end of the server leaves this task to itself, and asyncio would
        log an error that nobody took.
        """
        with suppress(RequestAborted):
            await super().listen_for_disconnect(receive)

    async def read_body(self, receive: Receive) -> Any:
        body = SpooledTemporaryFile(max_size=SLICE, dir=str(settings.FILE_UPLOAD_TEMP_DIR))  # noqa: SIM115
        with storage_refusals_raised():
            try:
                await _fill(body, receive)
                body.flush()
            except BaseException:
                body.close()
                raise
        return body

    def create_request(self, scope: Any, body_file: Any) -> Any:
        """Django reads no form without a length, so a body that came in chunks gets one."""
        length = str(body_file.tell()).encode()
        body_file.seek(0)
        if _declared_length(scope) is None:
            scope = {**scope, "headers": [*scope["headers"], (b"content-length", length)]}
        return super().create_request(scope, body_file)


class BodyGuard:
    """Calls the application unless the body is too large, too slow or from nobody who may send it.

    Where the person has reached a limit, the application answers without the body: `refused` in its scope.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._uploads: Counter[int] = Counter()
        """Primary key of a person → files that are coming in."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        response = _Response(send)
        try:
            await self._serve(scope, receive, response)
        except BodyRefused as refused:
            await response.refuse(refused)
        except (OverLimit, StorageRefuses) as refused:
            await self._application({**scope, "refused": refused}, _no_body().__anext__, response)

    async def _serve(self, scope: Any, receive: Receive, response: "_Response") -> None:
        length = _declared_length(scope)
        if length == 0:
            await self._application(scope, receive, response)
            return
        route = "" if _is_plain_form(scope) else _route(scope)
        body = _IncomingBody(receive, body_limit(route))
        body.check(length or 0)
        if not takes_file(route):
            await self._application(scope, body.receive, response)
            return
        async with _own_thread():
            user = await sync_to_async(_check_person)(scope, route, length or 1)
            with ExitStack() as place:
                place.enter_context(self.place_of(user))
                # A client may send its next file as soon as it has this answer, before the view's clean-up.
                response.when_begun = place.close
                await self._application(scope, body.receive, response)

    @contextmanager
    def place_of(self, user: int) -> Iterator[None]:
        """A file of this person is coming in. Raises BodyRefused."""
        if self._uploads[user] >= UPLOADS_OF_ONE or self._uploads.total() >= UPLOADS_AT_ONCE:
            raise BodyRefused(503, BodyRefusal.TOO_MANY)
        self._uploads[user] += 1
        try:
            yield
        finally:
            self._uploads[user] -= 1
            self._uploads += Counter()  # Drops who has none.


class _IncomingBody:
    """Counts a body as it arrives. Raises BodyRefused beyond its limit of bytes or of time."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self.limit = limit
        self._receive = receive
        self._received = 0
        self._began = time.monotonic()
        self._is_over = False

    def check(self, size: int) -> None:
        if size > self.limit:
            raise BodyRefused(413, BodyRefusal.TOO_LARGE, self.limit)

    async def receive(self) -> Mapping[str, Any]:
        if self._is_over:
            return await self._receive()
        left = self._began + GRACE + self._received / SLOWEST - time.monotonic()
        try:
            async with asyncio.timeout(left):
                message = await self._receive()
        except TimeoutError:
            raise BodyRefused(408, BodyRefusal.TOO_SLOW) from None
        self._received += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        self.check(self._received)
        return message


class _Response:
    """`send`, and whether the response has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self.when_begun: Callable[[], None] = lambda: None
        """Called once, before the first message."""

    async def __call__(self, message: dict[str, Any]) -> None:
        if not self._has_begun:
            self._has_begun = True
            self.when_begun()
        await self._send(message)

    async def refuse(self, refused: BodyRefused) -> None:
        if self._has_begun:
            return
        text = uploads.body_refusal(refused.reason, refused.limit).encode()
        headers = [
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", str(len(text)).encode()),
            (b"Cache-Control", b"no-store"),
        ]
        await self._send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": text})


@asynccontextmanager
async def _own_thread() -> AsyncIterator[None]:
    """One thread for the check and the view, as Django has it, and not the one that all runs share.

    Its connection ends with it: Django closes that of a request only when the whole body has arrived.
    """
    async with ThreadSensitiveContext():
        try:
            yield
        finally:
            await sync_to_async(release_connections)()


async def _fill(body: Any, receive: Receive) -> None:
    """Writes the messages of a body. Raises RequestAborted when the client goes away."""
    waiting, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        waiting += message.get("body", b"")
        more = message.get("more_body", False)
        if len(waiting) >= SLICE:
            await asyncio.to_thread(body.write, waiting)
            waiting = bytearray()
    if body.tell():
        await asyncio.to_thread(body.write, waiting)
    else:
        body.write(waiting)


def _check_person(scope: Any, route: str, size: int) -> int:
    """The primary key of the person who sends a file. Raises BodyRefused, OverLimit, StorageRefuses."""
    user = check_sender(scope)
    with storage_refusals_raised():
        if route == "import":
            check_sessions(user)
            check_imports(user)
        check_room(user, size)
    return user


async def _no_body() -> AsyncIterator[Mapping[str, Any]]:
    """The messages of a request whose body is not read."""
    yield {"type": "http.request", "body": b"", "more_body": False}
    await asyncio.get_running_loop().create_future()


def _declared_length(scope: Any) -> int | None:
    """Bytes of the body by its headers; None when they do not say."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"")
    if length.isdigit():
        return int(length)
    return None if b"transfer-encoding" in headers or scope["http_version"] == "2" else 0


def _is_plain_form(scope: Any) -> bool:
    """Its encoding has no files."""
    kind = dict(scope["headers"]).get(b"content-type", b"")
    return bool(kind.lower().startswith(b"application/x-www-form-urlencoded"))


def _route(scope: Any) -> str:
    """Name of the route; empty when there is none."""
    try:
        return resolve(scope["path"]).url_name or ""
    except Resolver404:
        return ""
