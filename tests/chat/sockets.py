"""A browser's end of the chat socket."""

import json
import uuid
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.chat.consumers import ChatConsumer
from sessions_app.chat.sockets import WRITE_NOW, Sockets
from sessions_app.models import Session
from sessions_app.runs.runner import Runner

PATIENCE = 120.0
"""Seconds: a busy machine is slow, and what never comes fails all the same."""

_sockets: WeakKeyDictionary[Runner, Sockets] = WeakKeyDictionary()


def sockets_of(runner: Runner) -> Sockets:
    """The registry of the process that the runner stands for."""
    return _sockets.setdefault(runner, Sockets())


class Socket(WebsocketCommunicator):
    writes_now = False
    """Whether the server has a way to send texts without waiting, as ours on Daphne has."""

    def __init__(self, runner: Runner, session: Session, cookie: str) -> None:
        consumer = ChatConsumer.as_asgi(runner=runner, sockets=sockets_of(runner))
        headers = [(b"cookie", cookie.encode())]
        super().__init__(consumer, f"/ws/s/{session.public}/", headers)
        scope: Any = self.scope
        scope |= {"url_route": {"kwargs": {"public": session.public}}}
        if self.writes_now:
            scope[WRITE_NOW] = self.write_now

    def write_now(self, texts: Sequence[str]) -> bool:
        for text in texts:
            self.output_queue.put_nowait({"type": "websocket.send", "text": text})
        return True

    async def send_command(self, **command: Any) -> None:
        await self.send_to(text_data=json.dumps(command, default=str))

    async def send_message(self, text: str) -> uuid.UUID:
        """Returns the client id."""
        client_id = uuid.uuid4()
        await self.send_command(type="send", client_id=client_id, text=text)
        return client_id

    async def receive_event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(await self.receive_from(timeout=PATIENCE))
        return event

    async def receive_until(self, kind: str) -> list[dict[str, Any]]:
        """Raises AssertionError with what came when it does not."""
        events: list[dict[str, Any]] = []
        try:
            while not events or events[-1]["type"] != kind:
                events.append(await self.receive_event())
        except TimeoutError as error:
            raise AssertionError(f"no {kind} after {events[-10:]}") from error
        return events

    async def leave(self) -> None:
        """`disconnect` with the patience of a busy machine."""
        await self.disconnect(timeout=PATIENCE)

    async def receive_code(self) -> int:
        """The close code, after whatever else is still sent."""
        while (output := await self.receive_output(timeout=PATIENCE))["type"] != "websocket.close":
            continue
        return int(output["code"])


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def cookie_of(browser: Client) -> str:
    return f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


async def opened(runner: Runner, session: Session, user: User | None) -> Socket:
    """A socket past its handshake, from a browser of its own; without a user nobody is signed in."""
    cookie = cookie_of(await sync_to_async(signed_in)(user)) if user else ""
    return await opened_by(runner, session, cookie)


async def opened_by(runner: Runner, session: Session, cookie: str) -> Socket:
    socket = Socket(runner, session, cookie)
    assert (await socket.connect(timeout=PATIENCE))[0]
    return socket


async def greeted(socket: Socket) -> Socket:
    assert (await socket.receive_event())["type"] == "hello"
    return socket


async def connected(runner: Runner, session: Session, user: User) -> Socket:
    return await greeted(await opened(runner, session, user))
