"""The chat socket: commands in, events out. Everything else happens in the runner."""

import asyncio
from collections.abc import Awaitable
from contextlib import aclosing
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from sessions_app.errors import PipewebError
from sessions_app.events import COMMANDS, Ack, Edit, Hello, Join, Refused, Retry, Send, Stop, Withdraw
from sessions_app.instruments import SOCKETS
from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner

NOT_FOUND = 4404
"""Close code for a session that does not exist for this person."""

WINDOW = 256
"""Events sent ahead of the page's acknowledgement: Daphne takes whatever it is given into memory."""


class ChatConsumer(AsyncWebsocketConsumer):
    """One socket looks at one session of its user. Closing it ends the looking, not the run."""

    runner: Runner

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self.runner = runner
        self._session_pk = 0
        self._moves = 0
        self._looking: asyncio.Task[None] | None = None
        self._shown: UUID | None = None
        self._acknowledged = -1
        self._room = asyncio.Event()

    async def __call__(self, *asgi: Any) -> None:
        # Around all of it: a socket whose connect fails has no disconnect.
        with SOCKETS.track_inprogress():
            await super().__call__(*asgi)

    async def connect(self) -> None:
        scope: Any = self.scope
        public = scope["url_route"]["kwargs"]["public"]
        session = await Session.objects.of(scope["user"]).filter(public=public).afirst()
        await self.accept()
        if session is None:
            # Accepted first: a browser reports a refused handshake as a network fault and retries for ever.
            await self.close(code=NOT_FOUND)
            return
        self._session_pk, self._moves = session.pk, session.moves
        active = await sync_to_async(Run.objects.active_in)(session.pk)
        await self.send(text_data=Hello(active_run=active, moves=self._moves).wire())
        if active is None:
            self._look(None, -1)

    async def disconnect(self, code: int) -> None:
        self._look_away()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            command = COMMANDS.validate_json(text_data or b"")
        except ValidationError as error:
            await self._refuse(None, "The message was not understood.", _first_words(error))
            return
        match command:
            case Ack():
                self._make_room(command)
            case Join():
                self._look(command.run, command.after)
            case Send() | Retry() | Edit():
                await self._attempt(command)
            case Stop():
                await self.runner.stop(self._session_pk, command.run)
            case Withdraw():
                await self.runner.withdraw(self._session_pk, command.client_id)

    async def _attempt(self, command: Send | Retry | Edit) -> None:
        try:
            await self._begin(command)
        except PipewebError as error:
            await self._refuse(command.client_id, error.message, error.hint)

    def _begin(self, command: Send | Retry | Edit) -> Awaitable[None]:
        """What asks the model for an answer."""
        runner, session, client = self.runner, self._session_pk, command.client_id
        match command:
            case Send():
                text, files = command.text, command.attachments
                return runner.send(session, client, text, command.language, files=files)
            case Retry():
                return runner.retry(session, client, command.run, command.turn)
            case Edit():
                return runner.edit(session, client, command.turn, command.text)

    async def _refuse(self, client_id: UUID | None, message: str, hint: str) -> None:
        await self.send(text_data=Refused(client_id=client_id, message=message, hint=hint).wire())

    def _look(self, run: UUID | None, after: int) -> None:
        self._look_away()
        self._shown = None
        self._looking = asyncio.create_task(self._pass_on(run, after))

    def _look_away(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _make_room(self, ack: Ack) -> None:
        if ack.run == self._shown:
            self._acknowledged = ack.seq
            self._room.set()

    async def _pass_on(self, run: UUID | None, after: int) -> None:
        async with aclosing(self.runner.follow(self._session_pk, run, after, self._moves)) as events:
            async for feed, seq, wire in events:
                if feed is not None and feed.public != self._shown:
                    self._shown, self._acknowledged = feed.public, seq - 1
                while feed is not None and seq - self._acknowledged > WINDOW:
                    self._room.clear()
                    await self._room.wait()
                await self.send(text_data=wire)


def _first_words(error: ValidationError) -> str:
    problem: Any = error.errors()[0]
    where = ".".join(str(step) for step in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
