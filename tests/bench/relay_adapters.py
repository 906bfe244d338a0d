"""How `bench relay` talks to a chat server: one adapter for each kind of server.

An adapter is a class without arguments that has the two methods of `Adapter`; `--adapter` takes its name in
ADAPTERS or its dotted path. What its conversations yield is searched for the stamps of `fake_upstream`, in
whatever format it stands.
"""

import os
from collections.abc import AsyncGenerator
from importlib import import_module
from typing import Protocol, cast

import aiohttp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from sessions_app.errors import PipewebError

FINISHED = b'{"type":"finished"}'
"""The message that ends an answer on a plain WebSocket."""

_DONE = b"data: [DONE]"


class AnswerFailed(Exception):
    """The server gave no whole answer; the message is counted among the faults."""


class Conversation(Protocol):
    """What one person has with the server."""

    def ask(self, text: str) -> AsyncGenerator[bytes, None]:
        """Sends the message and yields what arrives of its answer, until the answer is over.

        A piece may hold several chunks or none, but splits none. Raises AnswerFailed.
        """

    async def aclose(self) -> None: ...


class Adapter(Protocol):
    """A kind of chat server."""

    def invite(self, count: int) -> list[str]:
        """A ticket for each of that many new people: what `connect` needs to know of them. Not measured."""

    async def connect(self, url: str, ticket: str) -> Conversation:
        """Opens a conversation with no history at the address that `--peer` names. Not measured."""


ADAPTERS = {
    "pipeweb": "tests.bench.relay_pipeweb.PipewebAdapter",
    "openai": "tests.bench.relay_adapters.OpenAIAdapter",
    "websocket": "tests.bench.relay_adapters.WebSocketAdapter",
    "chainlit": "tests.bench.relay_chainlit.ChainlitAdapter",
}


def adapter_of(name: str) -> Adapter:
    """By its name in ADAPTERS or its dotted path. Raises PipewebError."""
    module, _, attribute = ADAPTERS.get(name, name).rpartition(".")
    try:
        kind = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(ADAPTERS)
        raise PipewebError(
            f"bench: there is no adapter {name}.",
            hint=f"Known are {known}; any other is a dotted path (CONTRIBUTING.md).",
        ) from error
    return cast(Adapter, kind())


def module_path() -> dict[str, str]:
    """For the environment of a process that looks for an adapter: where modules from elsewhere stand."""
    path = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": path} if path else {}


class WebSocketAdapter:
    """A WebSocket that takes a message as text and answers with messages; FINISHED is the last."""

    def invite(self, count: int) -> list[str]:
        return [""] * count

    async def connect(self, url: str, ticket: str) -> "WebSocketConversation":
        address = url.replace("http", "ws", 1)
        return WebSocketConversation(await connect(address, compression=None, max_size=None, proxy=None))


class WebSocketConversation:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def ask(self, text: str) -> AsyncGenerator[bytes, None]:
        try:
            await self._socket.send(text)
            while (piece := await self._socket.recv(decode=False)) != FINISHED:
                yield piece
        except ConnectionClosed:
            raise AnswerFailed("connection lost") from None

    async def aclose(self) -> None:
        await self._socket.close()


class OpenAIAdapter:
    """`POST …/chat/completions` with `stream`, below the given address; each message is a chat of its own.

    A server that wants a key or the name of a model needs a subclass that sets them.
    """

    model = "gemini-3-flash-preview"
    headers: dict[str, str] = {}

    def invite(self, count: int) -> list[str]:
        return [""] * count

    async def connect(self, url: str, ticket: str) -> "OpenAIConversation":
        session = aiohttp.ClientSession(headers=self.headers, timeout=aiohttp.ClientTimeout(total=None))
        return OpenAIConversation(session, f"{url}/chat/completions", self.model)


class OpenAIConversation:
    def __init__(self, session: aiohttp.ClientSession, url: str, model: str) -> None:
        self._session = session
        self._url = url
        self._model = model

    async def ask(self, text: str) -> AsyncGenerator[bytes, None]:
        body = {"model": self._model, "stream": True, "messages": [{"role": "user", "content": text}]}
        try:
            async with self._session.post(self._url, json=body) as response:
                if response.status != 200:
                    raise AnswerFailed(f"status {response.status}")
                async for line in response.content:
                    if line.startswith(_DONE):
                        return
                    yield line
        except aiohttp.ClientError as error:
            raise AnswerFailed(type(error).__name__) from error
        raise AnswerFailed("connection lost")

    async def aclose(self) -> None:
        await self._session.close()
