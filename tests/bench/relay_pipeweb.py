"""Pipeweb under the load of `bench relay`: servers, and browsers that only read, one WebSocket each.

`python -m tests.bench.relay_pipeweb COUNT` makes people with a session each, in the data folder that
PIPEWEB_DATA names, and writes their Seats.
"""

import asyncio
import os
import re
import sys
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from sessions_app.errors import PipewebError
from sessions_app.socket_commands import Ack, Send
from tests.bench.processes import START_LIMIT, Server, run_module, set_up_django
from tests.bench.relay_adapters import AnswerFailed
from tests.bench.relay_client import ServedSystem
from tests.bench.relay_load import Load, LoadResult
from tests.deployment.programs import free_port

PRODUCT = "Pipeweb"
MANAGE = ("manage.py", "up", "--port", "0")
GREETING = r"http://127\.0\.0\.1:(\d+)(?s:.*)Ctrl-C"
ANOTHER = ("-m", "daphne", "pipeweb.asgi:application", "-p")
"""The command of a process beside the first; its port follows."""

DATABASE = ("PIPEWEB_DATA", "DATABASE_URL", "REDIS_URL")
NAME_DATABASE = "Set PIPEWEB_DATA, and DATABASE_URL if it has one, as the server has them."
WARM_UP = Load(streams=2, pace=5, chunks=10)
ACKNOWLEDGE_EVERY = 64
"""Events between two acknowledgements; the server stops at a window beyond the last one."""

_HELLO = b'"type":"hello"'
_OVER = re.compile(rb'"type":"(finished|refused)"')
_COMPLETED = b'"status":"completed"'
_SEQ = re.compile(rb'"seq":(\d+)')
_RUN = re.compile(rb'"run":"([0-9a-f-]{36})"')


@dataclass(frozen=True, slots=True)
class Seat:
    """A signed-in person and a session of theirs: the cookie header and the session's public id."""

    cookie: str
    session: str


SEAT = TypeAdapter(Seat)
SEATS = TypeAdapter(list[Seat])


class PipewebAdapter:
    """Pipeweb's own socket. `invite` writes people into the database that the environment names."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        """`variables` by default those of this process's environment."""
        given = os.environ if variables is None else variables
        self._variables = {name: given[name] for name in DATABASE if name in given}

    def invite(self, count: int) -> list[str]:
        """One person each, signed in, with an empty session. Raises PipewebError."""
        if not self._variables:
            raise PipewebError("bench: the people of a Pipeweb are made in its database.", hint=NAME_DATABASE)
        written = run_module("relay_pipeweb", str(count), limit=START_LIMIT, given=b"", **self._variables)
        return [SEAT.dump_json(seat).decode() for seat in SEATS.validate_json(written)]

    async def connect(self, url: str, ticket: str) -> "PipewebConversation":
        port = urlsplit(url).port or 80
        return PipewebConversation(await greeted(port, SEAT.validate_json(ticket), asyncio.Semaphore()))


class Pipeweb(ServedSystem):
    """A running server, used as browsers use it."""

    def __init__(self, name: str, servers: Sequence[Server], variables: Mapping[str, str]) -> None:
        urls = [f"http://127.0.0.1:{server.port}" for server in servers]
        pids = [server.pid for server in servers]
        super().__init__(name, "pipeweb", urls, pids, PipewebAdapter(variables))
        self.servers = servers

    def measure(self, load: Load) -> LoadResult:
        """What a server logs as an error is a fault too, though every answer came."""
        result = super().measure(load)
        result.faults.extend(error for server in self.servers for error in server.new_errors())
        return result


@contextmanager
def pipeweb(
    folder: Path,
    upstream: str,
    command: tuple[str, ...] = MANAGE,
    *,
    name: str = PRODUCT,
    processes: int = 1,
    database: Mapping[str, str] | None = None,
) -> Iterator[Pipeweb]:
    """`manage.py up` with a data folder of its own, warm: a first turn loads what later ones use.

    `database` are DATABASE_URL and REDIS_URL; further processes are Daphnes beside the first.
    """
    data = {"PIPEWEB_DATA": str(folder / "data"), **(database or {})}
    variables = {**data, "GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": upstream}
    with ExitStack() as stack:
        servers = [stack.enter_context(Server("server", command, GREETING, folder, **variables))]
        for number in range(1, processes):
            port = free_port()
            another = Server(f"server-{number}", (*ANOTHER, str(port)), port, folder, **variables)
            servers.append(stack.enter_context(another))
        system = Pipeweb(name, servers, data)
        system.measure(WARM_UP)
        yield system


def sign_in(count: int) -> list[Seat]:
    """That many new people, each signed in and with an empty session."""
    from django.contrib.auth.models import User
    from django.db import transaction
    from django.test import Client

    from sessions_app.models import Session

    seats = []
    with transaction.atomic():
        for _ in range(count):
            person = User.objects.create_user(f"bench-{uuid.uuid4().hex}")
            session = Session.objects.create(owner=person, model="gemini-3-flash-preview")
            browser = Client()
            browser.force_login(person)
            seats.append(Seat(browser.cookies.output(header="", attrs=[]).strip(), str(session.public)))
    return seats


class PipewebConversation:
    """One socket on one session, past the server's greeting; without `socket` every answer is a fault."""

    def __init__(self, socket: ClientConnection | None) -> None:
        self._socket = socket

    async def ask(self, text: str) -> AsyncGenerator[bytes, None]:
        """Frames are searched, not parsed: the client stays cheaper than the server that it measures."""
        if self._socket is None:
            raise AnswerFailed("handshake refused")
        acknowledged, over = 0, None
        try:
            await self._socket.send(Send(client_id=uuid.uuid4(), text=text).wire())
            while over is None:
                data = await self._socket.recv(decode=False)
                yield data
                over = _OVER.search(data)
                seq, run = _SEQ.search(data), _RUN.search(data)
                if seq and run and int(seq[1]) >= acknowledged + ACKNOWLEDGE_EVERY:
                    acknowledged = int(seq[1])
                    await self._socket.send(Ack(run=uuid.UUID(run[1].decode()), seq=acknowledged).wire())
        except ConnectionClosed:
            raise AnswerFailed("connection lost") from None
        if _COMPLETED not in data:
            raise AnswerFailed(f"{over[1].decode()}, but not completed")

    async def aclose(self) -> None:
        if self._socket is not None:
            await self._socket.close()


async def greeted(port: int, seat: Seat, gate: asyncio.Semaphore) -> ClientConnection | None:
    """The socket of a seat after its greeting; None where the server refused it."""
    host = f"127.0.0.1:{port}"
    async with gate:
        try:
            socket = await connect(
                f"ws://{host}/ws/s/{seat.session}/",
                origin=Origin(f"http://{host}"),
                additional_headers={"Cookie": seat.cookie},
                compression=None,
                max_size=None,
                proxy=None,
            )
            while _HELLO not in await socket.recv(decode=False):
                pass
        except (InvalidStatus, ConnectionClosed):
            return None
    return socket


if __name__ == "__main__":
    set_up_django()
    sys.stdout.buffer.write(SEATS.dump_json(sign_in(int(sys.argv[1]))))
