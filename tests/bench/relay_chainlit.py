"""Chainlit 2 under the load of `bench relay`, spoken to as its page does: socket.io over a WebSocket.

CONTRIBUTING.md has the program that it has to serve. Frames are those of Engine.IO 4 and Socket.IO 5.
"""

import json
import uuid
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.bench.relay_adapters import AnswerFailed

PATH = "/ws/socket.io/?EIO=4&transport=websocket"
PING, PONG, OPEN, EVENT = "2", "3", "40", "42"
"""The beginnings of frames."""

_READY = f'{EVENT}["clear_ask"'
"""The last event of a new conversation's greeting, which has a `task_end` of its own."""

_TEXT = (f'{EVENT}["stream_start"', f'{EVENT}["stream_token"')
"""The first text of an answer, and those that follow."""

_OVER = f'{EVENT}["task_end"'


class ChainlitAdapter:
    """A page of Chainlit for each person."""

    def invite(self, count: int) -> list[str]:
        return [""] * count

    async def connect(self, url: str, ticket: str) -> "ChainlitConversation":
        address = url.replace("http", "ws", 1) + PATH
        talk = ChainlitConversation(await connect(address, compression=None, max_size=None, proxy=None))
        await talk.greet()
        return talk


class ChainlitConversation:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def greet(self) -> None:
        """Begins a conversation of its own. Raises ConnectionClosed."""
        await self._socket.recv()
        who = {"clientType": "webapp", "sessionId": str(uuid.uuid4()), "threadId": "", "userEnv": "{}"}
        await self._socket.send(OPEN + json.dumps(who))
        await self._receive()
        await self._emit("connection_successful")
        while not (await self._receive()).startswith(_READY):
            pass

    async def ask(self, text: str) -> AsyncGenerator[bytes, None]:
        message = {
            "id": str(uuid.uuid4()),
            "threadId": "",
            "name": "user",
            "type": "user_message",
            "output": text,
            "createdAt": datetime.now(UTC).isoformat(),
        }
        try:
            await self._emit("client_message", {"message": message, "fileReferences": []})
            while not (frame := await self._receive()).startswith(_OVER):
                if frame.startswith(_TEXT):
                    yield frame.encode()
        except ConnectionClosed:
            raise AnswerFailed("connection lost") from None

    async def aclose(self) -> None:
        await self._socket.close()

    async def _emit(self, name: str, *given: Any) -> None:
        await self._socket.send(EVENT + json.dumps([name, *given]))

    async def _receive(self) -> str:
        """The next frame that is no ping."""
        while (frame := await self._socket.recv(decode=True)) == PING:
            await self._socket.send(PONG)
        return frame
