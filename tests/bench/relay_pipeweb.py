"""Pipeweb under the load of `bench relay`: a server, and browsers that only read, one WebSocket each.

`python -m tests.bench.relay_pipeweb load` reads a Plan on stdin and writes a LoadResult; frames are
searched, not parsed, so that the client stays cheaper than the server it measures. `… sign-in COUNT` makes
people with a session each, in the data folder that PIPEWEB_DATA names, and writes their Seats.
"""

import asyncio
import re
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from sessions_app.events import Ack, Send
from tests.bench.fake_upstream import STAMP
from tests.bench.processes import START_LIMIT, Server, run_module, set_up_django
from tests.bench.relay_load import RESULTS, Load, LoadResult, StreamTimer, run_load

MANAGE = ("manage.py", "up", "--port", "0")
GREETING = r"http://127\.0\.0\.1:(\d+)(?s:.*)Ctrl-C"
WARM_UP = Load(streams=2, pace=5, chunks=10)
CONNECTING = 16
"""Handshakes at once."""

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


@dataclass(frozen=True, slots=True)
class Plan:
    """What the load client does: port and process id of the server, the load, a seat for each stream."""

    port: int
    pid: int
    load: Load
    seats: list[Seat]


SEATS = TypeAdapter(list[Seat])
PLANS = TypeAdapter(Plan)


class Pipeweb:
    """A running server, used as browsers use it."""

    name = "Pipeweb"

    def __init__(self, server: Server, data: Path) -> None:
        self.server = server
        self._data = str(data)

    def measure(self, load: Load) -> LoadResult:
        """Sessions are new in every load, so that no history grows from one to the next."""
        signed_in = run_module(
            "relay_pipeweb", "sign-in", str(load.streams), limit=START_LIMIT, PIPEWEB_DATA=self._data
        )
        plan = Plan(self.server.port, self.server.pid, load, SEATS.validate_json(signed_in))
        given = PLANS.dump_json(plan)
        return RESULTS.validate_json(run_module("relay_pipeweb", "load", given=given, limit=load.limit))


@contextmanager
def pipeweb(folder: Path, upstream: str, command: tuple[str, ...] = MANAGE) -> Iterator[Pipeweb]:
    """`manage.py up` with a data folder of its own, warm: a first turn loads what later ones use."""
    data = folder / "data"
    variables = {
        "PIPEWEB_DATA": str(data),
        "GEMINI_API_KEY": "bench",
        "GOOGLE_GEMINI_BASE_URL": upstream,
    }
    with Server("server", command, GREETING, folder, **variables) as server:
        system = Pipeweb(server, data)
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


class Viewer:
    """One socket on one session, past the server's greeting; without `socket` every answer is a fault."""

    def __init__(self, socket: ClientConnection | None, timer: StreamTimer) -> None:
        self._socket = socket
        self._timer = timer

    async def ask(self, text: str) -> None:
        """Sends a message and reads until its answer is over."""
        try:
            fault = await self._read(self._socket, text) if self._socket else "handshake refused"
        except ConnectionClosed:
            fault = "connection lost"
        self._timer.end(fault)

    async def _read(self, socket: ClientConnection, text: str) -> str:
        acknowledged = 0
        await socket.send(Send(client_id=uuid.uuid4(), text=text).wire())
        while True:
            data = await socket.recv(decode=False)
            now = time.monotonic_ns()
            for stamp in STAMP.finditer(data):
                self._timer.read(int(stamp[1]), now)
            if over := _OVER.search(data):
                return "" if _COMPLETED in data else f"{over[1].decode()}, but not completed"
            seq, run = _SEQ.search(data), _RUN.search(data)
            if seq and run and int(seq[1]) >= acknowledged + ACKNOWLEDGE_EVERY:
                acknowledged = int(seq[1])
                await socket.send(Ack(run=uuid.UUID(run[1].decode()), seq=acknowledged).wire())


async def measure(plan: Plan) -> LoadResult:
    """Handshakes are not part of the measurement: everybody is connected and greeted first."""
    timers = [StreamTimer(plan.load.chunks) for _ in plan.seats]
    gate = asyncio.Semaphore(CONNECTING)
    sockets = await asyncio.gather(*(greeted(plan.port, seat, gate) for seat in plan.seats))
    streams = [
        (timer, partial(Viewer(socket, timer).ask, plan.load.message))
        for timer, socket in zip(timers, sockets, strict=True)
    ]
    return await run_load(plan.load, plan.pid, streams)


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


def main(action: str, count: str = "") -> None:
    if action == "sign-in":
        set_up_django()
        sys.stdout.buffer.write(SEATS.dump_json(sign_in(int(count))))
    else:
        plan = PLANS.validate_json(sys.stdin.buffer.read())
        sys.stdout.buffer.write(RESULTS.dump_json(asyncio.run(measure(plan))))


if __name__ == "__main__":
    main(*sys.argv[1:])
