"""The WebSocket of the chat: receives commands for the runner, sends its events."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError
from pydantic import ValidationError

from sessions_app.chat.answer_commands import AnswerCommand, request_answer
from sessions_app.chat.handshake import Admission, session_key_in
from sessions_app.chat.sockets import WRITE_NOW, Sockets
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import OverLimit, PipewebError, StorageRefuses
from sessions_app.events import Hello, Refused
from sessions_app.metrics import SOCKETS
from sessions_app.runs.background import isolated, report, unbroken
from sessions_app.runs.run_streams import RunStream
from sessions_app.runs.runner import Runner
from sessions_app.runs.session_streams import StreamEvent
from sessions_app.socket_commands import (
    COMMANDS,
    Ack,
    Decide,
    Edit,
    Join,
    Resume,
    Retry,
    Send,
    Stop,
    Withdraw,
)
from sessions_app.storage_errors import is_temporary, storage_refusals_raised
from sessions_app.wording.refusals import error_texts
from sessions_app.wording.values import sentence

# Close codes, of the range that an application may choose. The page acts on the first three in different
# ways (`static/js/socket.js`), and reconnects after the others.
SIGNED_OUT = 4401
"""Nobody is signed in, or not any more."""
NOT_FOUND = 4404
"""The person has no such session."""
TOO_MANY = 4429
"""The person has too many sockets."""
UNSUPPORTED = 4415
"""A command came as bytes, not as text."""
BROKEN = 4500
"""The events could not be read, or the database was away when a command came."""
TRY_LATER = 4503
"""Too many handshakes at once."""

FAREWELL_SECONDS = 5.0
"""How long events go to a page whose server ends."""

WINDOW = 256
"""Events sent without an acknowledgement: Daphne buffers all it is given in memory."""

# Quotes inside of a JSON string are escaped, so this finds none of its text.
_CLIENT_ID = re.compile(r'"client_id"\s*:\s*"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')


class ChatConsumer(AsyncWebsocketConsumer):
    """Follows one session of its user. Closing the socket does not end the run."""

    runner: Runner
    sockets: Sockets
    channel_layer_alias = ""
    """No layer: events come from `runner.follow`. A layer would give each socket a channel, which with Redis
    is subscribed to when the socket opens and unsubscribed from when it closes.
    """

    def __init__(self, runner: Runner, sockets: Sockets) -> None:
        super().__init__()
        self.runner = runner
        self.sockets = sockets
        self.session_key = ""
        self.user_id = 0
        self._session_pk = 0
        self._head_version = 0
        self._follower: asyncio.Task[None] | None = None
        self._sent_of: RunStream | None = None
        self._acknowledged = -1
        self._has_room = asyncio.Event()
        self._write: Callable[[Sequence[str]], bool] | None = None

    async def __call__(self, *asgi: Any) -> None:
        # disconnect() is not called when connect() or a command fails.
        with SOCKETS.track_inprogress():
            try:
                await super().__call__(*asgi)
            except asyncio.CancelledError:
                # The server ends, and the page is still to be told how its run ended.
                asyncio.get_running_loop().call_later(FAREWELL_SECONDS, self._unfollow)
                raise
            except Exception:
                self._unfollow()
                raise
            finally:
                self.sockets.remove(self)

    async def dispatch(self, message: Any) -> None:
        # Channels would wait for the thread of the runs first, to close old connections of it; each piece of
        # database work sees to that itself.
        try:
            await getattr(self, get_handler_name(message))(message)
        except DatabaseError as error:
            if not is_temporary(error):
                raise
            # The page reconnects, and sends again what was not acknowledged.
            report("socket_broke", error, session=self._session_pk)
            self._session_pk = 0
            self._unfollow()
            await self.close(code=BROKEN)

    async def connect(self) -> None:
        scope: Any = self.scope
        self._write = scope.get(WRITE_NOW)
        key = session_key_in(dict(scope.get("headers", [])).get(b"cookie", b""))
        # Accept first: browsers report a rejected handshake as a network error and keep retrying, and
        # Daphne ends one that takes five seconds.
        await self.accept()
        if not key:
            await self.close(code=SIGNED_OUT)
        elif self.sockets.handshakes.is_full:
            await self.close(code=TRY_LATER)
        else:
            public = scope["url_route"]["kwargs"]["public"]
            await self._begin(await self.sockets.handshakes.admit(key, public))

    async def _begin(self, admission: Admission | None) -> None:
        if admission is None:
            await self.close(code=SIGNED_OUT)
            return
        if not admission.session_pk:
            await self.close(code=NOT_FOUND)
            return
        self.session_key, self.user_id = admission.session_key, admission.user_id
        if not self.sockets.add(self, admission.limit):
            used = self.sockets.count(self.user_id)
            error = OverLimit(RefusalCode.SOCKETS, used=used, limit=admission.limit)
            await self._refuse(None, *error_texts(error))
            await self.close(code=TOO_MANY)
            return
        self._session_pk, self._head_version = admission.session_pk, admission.head_version
        active, last = admission.active_run, admission.last_run
        hello = Hello(active_run=active, last_run=last, head_version=self._head_version)
        await self.send(text_data=hello.wire())
        if active is None:
            self._follow(None, -1)

    async def end_sign_in(self) -> None:
        """Ends the viewing, not the runs."""
        self._unfollow()
        await self.close(code=SIGNED_OUT)

    async def disconnect(self, code: int) -> None:
        self._unfollow()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self._session_pk:
            return  # It is being closed.
        if bytes_data is not None:
            await self.close(code=UNSUPPORTED)
            return
        try:
            command = COMMANDS.validate_json(text_data or b"")
        except ValidationError as error:
            await self._refuse(_client_id(text_data or ""), "The message was not taken.", _error_text(error))
            return
        match command:
            case Ack():
                self._acknowledge(command)
            case Join() | Stop() | Withdraw() | Send() | Retry() | Resume() | Edit() | Decide():
                if await self.sockets.is_signed_in(self):
                    await self._carry_out(command)

    async def _carry_out(
        self, command: Join | Stop | Withdraw | Send | Retry | Resume | Edit | Decide
    ) -> None:
        match command:
            case Join():
                self._follow(command.run, command.after)
            case Send() | Retry() | Resume() | Edit():
                # Of each person one at a time, so that nobody else waits behind all of them.
                async with self.sockets.places.of(self.user_id):
                    await asyncio.sleep(self.sockets.start_delay(self.user_id))
                    await self._start_run(command)
            case Stop():
                await self._change(self.runner.stop(self._session_pk, command.run))
            case Decide():
                place = command.step, command.index
                await self._change(
                    self.runner.waiting.decide(self._session_pk, command.run, *place, command.choice)
                )
            case Withdraw():
                await self._change(self.runner.withdraw(self._session_pk, command.client_id))

    @unbroken
    async def _start_run(self, command: AnswerCommand) -> None:
        """A server ends the application of a page that is gone: what is stored by then is also begun."""
        try:
            with storage_refusals_raised():
                known = await request_answer(self.runner, self._session_pk, command)
            if known is not None:
                await self.send(text_data=known.wire())
        except PipewebError as error:
            await self._refuse(command.client_id, *error_texts(error))

    @unbroken
    async def _change(self, change: Awaitable[None]) -> None:
        try:
            with storage_refusals_raised():
                await change
        except StorageRefuses as error:
            await self._refuse(None, error.message, error.hint)

    async def _refuse(self, client_id: UUID | None, message: str, hint: str) -> None:
        await self.send(text_data=Refused(client_id=client_id, message=message, hint=hint).wire())

    def _follow(self, run: UUID | None, after: int) -> None:
        self._unfollow()
        self._sent_of = None
        self._follower = asyncio.create_task(self._forward(run, after))

    def _unfollow(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            self._follower = None

    def _acknowledge(self, ack: Ack) -> None:
        if self._sent_of is not None and ack.run == self._sent_of.public:
            self._acknowledged = ack.seq
            self._has_room.set()

    async def _forward(self, run: UUID | None, after: int) -> None:
        with isolated("follow_failed", session=self._session_pk):
            await self._send_events(run, after)
        # Only an error ends it. The page reconnects and names what it has.
        with isolated("close_failed", session=self._session_pk):
            await self.close(code=BROKEN)

    async def _send_events(self, run: UUID | None, after: int) -> None:
        sink = self._send_now if self._write else None
        following = self.runner.follow(self._session_pk, run, after, self._head_version, sink)
        async with aclosing(following) as events:
            async for event in events:
                while not self._has_room_for(event):
                    self._has_room.clear()
                    await self._has_room.wait()
                await self.send(text_data=event[2])

    def _send_now(self, events: Iterable[StreamEvent]) -> int:
        """A sink: sends as many as there is room for, by the way that the server has for it."""
        wires = []
        for event in events:
            if not self._has_room_for(event):
                break
            wires.append(event[2])
        return len(wires) if wires and self._write is not None and self._write(wires) else 0

    def _has_room_for(self, event: StreamEvent) -> bool:
        """Whether the page has acknowledged enough to be sent this event, the next of its run."""
        feed, seq, _ = event
        if feed is None:
            return True
        if feed is not self._sent_of:
            # Another process may go on with the same run.
            if self._sent_of is None or feed.public != self._sent_of.public:
                self._acknowledged = seq - 1
            self._sent_of = feed
        return seq - self._acknowledged <= WINDOW


def _client_id(text: str) -> UUID | None:
    """The message of a command that cannot be read, so that the page gives its text back."""
    found = _CLIENT_ID.search(text)
    return UUID(found[1]) if found else None


def _error_text(error: ValidationError) -> str:
    problem: Any = error.errors()[0]
    if said := sentence(problem["type"], problem.get("ctx", {})):
        return said
    where = ".".join(str(step) for step in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
