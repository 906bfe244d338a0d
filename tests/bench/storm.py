"""Many sockets at once, beside people who are connected already.

`python -m tests.bench.storm COUNT` reads a StormPlan on stdin and writes a StormResult. The
people of its seats are connected before, and send one message during the storm and one after it. Meanwhile
COUNT more sockets connect with their cookies.
"""

import asyncio
import json
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass

from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin

from sessions_app.socket_commands import Send
from tests.bench.processes import run_module
from tests.bench.relay_pipeweb import Seat

PATIENCE = 120.0
"""Seconds until a socket counts as unanswered."""


@dataclass(frozen=True, slots=True)
class StormPlan:
    """The port of the server, and those who are connected before."""

    port: int
    seats: list[Seat]


@dataclass(frozen=True, slots=True)
class StormResult:
    """`during` and `after`: for those connected before, ms from sending to the end of the answer, if it came.

    `ends` counts the sockets of the storm by their first event, or by close code, "denied" (no handshake) or
    "silent".
    """

    during: list[float | None]
    after: list[float | None]
    ends: dict[str, int]
    seconds: float


PLAN = TypeAdapter(StormPlan)
RESULTS = TypeAdapter(StormResult)


def measure(plan: StormPlan, storm: int) -> StormResult:
    """Runs the storm in a process of its own."""
    given = PLAN.dump_json(plan)
    return RESULTS.validate_json(run_module("storm", str(storm), given=given, limit=5 * PATIENCE))


async def run(plan: StormPlan, storm: int) -> StormResult:
    before = [await opened(plan.port, seat) for seat in plan.seats]
    for socket in before:
        await asyncio.wait_for(socket.recv(), PATIENCE)
    began = time.monotonic()
    seats = [plan.seats[number % len(plan.seats)] for number in range(storm)]
    sockets = [asyncio.create_task(arrival(plan.port, seat)) for seat in seats]
    during = await asyncio.gather(*map(answered, before))
    ends = await asyncio.gather(*sockets)
    seconds = time.monotonic() - began
    after = await asyncio.gather(*map(answered, before))
    await asyncio.gather(*(socket.close() for socket in (*before, *(one for _, one in ends if one))))
    return StormResult(during, after, dict(Counter(end for end, _ in ends)), seconds)


async def opened(port: int, seat: Seat) -> ClientConnection:
    host = f"127.0.0.1:{port}"
    return await connect(
        f"ws://{host}/ws/s/{seat.session}/",
        origin=Origin(f"http://{host}"),
        additional_headers={"Cookie": seat.cookie},
        compression=None,
        open_timeout=PATIENCE,
        proxy=None,
    )


async def arrival(port: int, seat: Seat) -> tuple[str, ClientConnection | None]:
    """What becomes of one socket of the storm."""
    try:
        socket = await opened(port, seat)
        event = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
    except ConnectionClosed as error:
        return str(error.rcvd.code if error.rcvd else "broken"), None
    except (InvalidHandshake, OSError):
        return "denied", None
    except TimeoutError:
        return "silent", None
    return event["type"], socket


async def answered(socket: ClientConnection) -> float | None:
    """Sends a message and reads to the end of its answer."""
    began = time.monotonic()
    try:
        await socket.send(Send(client_id=uuid.uuid4(), text="Hello").wire())
        return await asyncio.wait_for(_finished(socket, began), PATIENCE)
    except (ConnectionClosed, TimeoutError):
        return None


async def _finished(socket: ClientConnection, began: float) -> float | None:
    async for message in socket:
        event = json.loads(message)
        if event["type"] in ("finished", "refused"):
            return (time.monotonic() - began) * 1000 if event.get("status") == "completed" else None
    return None


if __name__ == "__main__":
    found = asyncio.run(run(PLAN.validate_json(sys.stdin.buffer.read()), int(sys.argv[1])))
    sys.stdout.buffer.write(RESULTS.dump_json(found))
