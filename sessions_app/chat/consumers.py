"""The chat socket: commands in, events out. Everything else happens in the runner."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import BaseModel, ValidationError

from sessions_app.errors import PipewebError
from sessions_app.events import COMMANDS, Finished, Hello, Join, Refused, Retry, Send, Stop
from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner

NOT_FOUND = 4404
"""Close code for a session that does not exist for this person."""

POLL_SECONDS = 1.0


class ChatConsumer(AsyncWebsocketConsumer):
    """One socket looks at one session of its user. Closing it ends the looking, not the run."""

    runner: Runner

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self.runner = runner
        self._session_pk = 0
        self._following: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        scope: Any = self.scope
        public = scope["url_route"]["kwargs"]["public"]
        session = await Session.objects.of(scope["user"]).filter(public=public).afirst()
        await self.accept()
        if session is None:
            # Accepted first: a browser reports a refused handshake as a network fault and retries for ever.
            await self.close(code=NOT_FOUND)
            return
        self._session_pk = session.pk
        self.runner.wake()
        active = await sync_to_async(Run.objects.active_in)(session.pk)
        await self._send(Hello(active_run=active))
        if active is None:
            self._follow(*self.runner.tail(session.pk))

    async def disconnect(self, code: int) -> None:
        self._stop_following()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            command = COMMANDS.validate_json(text_data or b"")
        except ValidationError as error:
            await self._send(Refused(message="The message was not understood.", hint=_first_words(error)))
            return
        match command:
            case Send():
                await self._begin(command.client_id, lambda: self.runner.send(self._session_pk, command.client_id, command.text))
            case Retry():
                await self._begin(command.client_id, lambda: self.runner.retry(self._session_pk, command.client_id, command.run))
            case Stop():
                self.runner.stop(self._session_pk, command.run)
            case Join() if self.runner.knows(self._session_pk, command.run):
                self._follow(command.run, command.after)
            case Join():
                self._watch(self._await_end(command.run, command.after))

    async def _begin(self, client_id: UUID, start: Callable[[], Awaitable[UUID]]) -> None:
        try:
            run = await start()
        except PipewebError as error:
            await self._send(Refused(client_id=client_id, message=error.message, hint=error.hint))
            return
        if self._following is None:
            self._follow(run, -1)

    def _follow(self, run: UUID | None, after: int) -> None:
        self._watch(self._pass_on(run, after))

    def _watch(self, work: Coroutine[Any, Any, None]) -> None:
        self._stop_following()
        self._following = asyncio.create_task(work)

    def _stop_following(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    async def _pass_on(self, run: UUID | None, after: int) -> None:
        async with aclosing(self.runner.follow(self._session_pk, run, after)) as events:
            async for event in events:
                await self._send(event)

    async def _await_end(self, run: UUID, after: int) -> None:
        """For a run that is not in this process: its rows say when it is over."""
        while (row := await Run.objects.filter(session_id=self._session_pk, public=run).afirst()) is not None:
            if not row.is_active:
                await self._send(Finished.model_validate({"run": run, "seq": after + 1, "status": row.status}))
                break
            await asyncio.sleep(POLL_SECONDS)
        await self._pass_on(*self.runner.tail(self._session_pk))

    async def _send(self, event: BaseModel) -> None:
        await self.send(text_data=event.model_dump_json())


def _first_words(error: ValidationError) -> str:
    problem: Any = error.errors()[0]
    where = ".".join(str(step) for step in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
