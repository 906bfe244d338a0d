"""The attacks of `bench hostile`.

`python -m tests.bench.hostile_attacks NAME` reads an AttackPlan on stdin, attacks until its time is over,
and writes how often what happened, as JSON. An attacker is one signed-in person, on a machine of their own
as far as one machine can play two: their work takes what the server and the others leave of the processor.
"""

import asyncio
import os
import secrets
import sys
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import orjson
from pydantic import TypeAdapter
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

from sessions_app.socket_commands import Send
from tests.bench.browser import FORM, Browser, multipart
from tests.bench.hostile_aims import ACCEPTED, BEGUN, CONNECTED, REFUSED, ROWS, STILL_ACTIVE
from tests.bench.hostile_people import LONG_FILE, TURNS_FILE, Crowd, frames
from tests.bench.hostile_rows import POISONED_ROWS, count_active_rows, poison_rows
from tests.bench.relay_pipeweb import Seat, greeted

ALLOWED_UPLOAD = 45_000_000
LARGE_UPLOAD = 126_000_000
PNG = b"\x89PNG\r\n\x1a\n"
FIELDS = 20_000
NESTING = 30_000
"""Of arguments; their form takes 64,000 characters, and reads none of a longer text."""

PIECE = 1_000_000
SOCKETS = 1_000
HANDSHAKES = 200
"""At once."""

NICENESS = 19
PATIENCE = 120.0
COUNT_INTERVAL = 0.5
"""Seconds."""


@dataclass(frozen=True, slots=True)
class AttackPlan:
    port: int
    crowd: Crowd
    folder: str
    seconds: float


ATTACK_PLAN = TypeAdapter(AttackPlan)
Outcomes = Counter[str]
Attack = Callable[[AttackPlan, Outcomes], Awaitable[None]]
"""Attacks once, and counts what came of it; it is repeated until the time is over."""


async def do_nothing(plan: AttackPlan, outcomes: Outcomes) -> None:
    """The control: what differs then is the machine."""
    await asyncio.sleep(plan.seconds)


async def send_message(plan: AttackPlan, seat: Seat, text: str, outcomes: Outcomes) -> None:
    """Sends a message and waits for the end of its run."""
    socket = await _connected(plan.port, seat, asyncio.Semaphore())
    if socket is None:
        outcomes["no socket"] += 1
        return
    async with socket:
        message = Send(client_id=uuid.uuid4(), text=text).wire()
        outcomes[await answer_to(socket, message, outcomes)] += 1


async def answer_to(socket: ClientConnection, frame: str | bytes, outcomes: Outcomes) -> str:
    """How the run that the frame began has ended, or that it began none."""
    try:
        await socket.send(frame)
        async for data in socket:
            event = orjson.loads(data)
            if event["type"] == "started":
                outcomes[BEGUN] += 1
            if event["type"] in ("finished", "refused"):
                return str(event.get("status", REFUSED))
    except ConnectionClosed:
        pass
    return "closed"


def template(name: str) -> Attack:
    async def attack(plan: AttackPlan, outcomes: Outcomes) -> None:
        await send_message(plan, plan.crowd.templates[name], "boom", outcomes)

    return attack


def poison(name: str) -> Attack:
    async def attack(plan: AttackPlan, outcomes: Outcomes) -> None:
        await send_message(plan, plan.crowd.many[0], f"poison={name}", outcomes)

    return attack


async def post(
    plan: AttackPlan, path: str, outcomes: Outcomes, content: bytes | AsyncIterator[bytes], kind: str = FORM
) -> None:
    async with browsing(plan, plan.crowd.attacker, outcomes) as browser:
        outcomes[str(await browser.post(path, content, kind))] += 1


@asynccontextmanager
async def browsing(plan: AttackPlan, seat: Seat, outcomes: Outcomes) -> AsyncIterator[Browser]:
    """A request that fails ends the block, and is counted."""
    async with Browser(plan.port, seat, PATIENCE) as browser:
        try:
            yield browser
        except httpx2.HTTPError as error:
            outcomes[type(error).__name__] += 1


def import_file(name: str) -> Attack:
    async def attack(plan: AttackPlan, outcomes: Outcomes) -> None:
        content, kind = multipart(name, await asyncio.to_thread(Path(plan.folder, name).read_bytes))
        async with browsing(plan, plan.crowd.attacker, outcomes) as browser:
            is_accepted = await browser.submit("/sessions/import/", content, kind)
            outcomes[ACCEPTED if is_accepted else REFUSED] += 1

    return attack


async def show_long_list(plan: AttackPlan, outcomes: Outcomes) -> None:
    """An answer that is one long list, and the page that shows it."""
    seat = plan.crowd.many[0]
    await send_message(plan, seat, "poison=list", outcomes)
    async with browsing(plan, seat, outcomes) as browser:
        outcomes[f"page {await browser.get(f'/s/{seat.session}/')}"] += 1


def upload(size: int, *, chunked: bool = False) -> Attack:
    async def attack(plan: AttackPlan, outcomes: Outcomes) -> None:
        content, kind = multipart("photo.png", PNG + secrets.token_bytes(64) + bytes(size))
        path = f"/s/{plan.crowd.attacker.session}/attachments/"
        await post(plan, path, outcomes, _pieces(content) if chunked else content, kind)

    return attack


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), PIECE):
        yield content[start : start + PIECE]


async def send_fields(plan: AttackPlan, outcomes: Outcomes) -> None:
    content = "&".join(f"field{number}=1" for number in range(FIELDS)).encode()
    await post(plan, "/sessions/act/", outcomes, content)


async def send_nested_arguments(plan: AttackPlan, outcomes: Outcomes) -> None:
    nested = "[" * NESTING + "]" * NESTING
    path = f"/s/{plan.crowd.attacker.session}/arguments/"
    await post(plan, path, outcomes, f"args={nested}".encode())


async def send_everywhere(plan: AttackPlan, outcomes: Outcomes) -> None:
    """A message in each of many sessions at the same moment."""
    sends = (send_message(plan, seat, "Answer in chunks=20 pace=50", outcomes) for seat in plan.crowd.many)
    await asyncio.gather(*sends)


async def storm(plan: AttackPlan, outcomes: Outcomes) -> None:
    """A thousand sockets that connect at once and leave again."""
    gate = asyncio.Semaphore(HANDSHAKES)
    seats: Sequence[Seat] = [plan.crowd.many[number % len(plan.crowd.many)] for number in range(SOCKETS)]
    sockets = await asyncio.gather(*(_counted(plan.port, seat, gate, outcomes) for seat in seats))
    await asyncio.gather(*(socket.close() for socket in sockets if socket is not None))


async def _counted(
    port: int, seat: Seat, gate: asyncio.Semaphore, outcomes: Outcomes
) -> ClientConnection | None:
    socket = await _connected(port, seat, gate)
    outcomes[REFUSED if socket is None else CONNECTED] += 1
    return socket


async def _connected(port: int, seat: Seat, gate: asyncio.Semaphore) -> ClientConnection | None:
    try:
        return await greeted(port, seat, gate)
    except (OSError, WebSocketException):
        return None


async def send_frames(plan: AttackPlan, outcomes: Outcomes) -> None:
    for frame in frames():
        socket = await _connected(plan.port, plan.crowd.attacker, asyncio.Semaphore())
        if socket is None:
            outcomes["no socket"] += 1
            continue
        async with socket:
            outcomes[await answer_to(socket, frame, outcomes)] += 1


async def poison_rows_and_wait(plan: AttackPlan, outcomes: Outcomes) -> None:
    """Rows of a dead process; the newest count of those that are still there is the outcome."""
    await asyncio.to_thread(poison_rows, plan.crowd.attacker.session)
    outcomes[ROWS] += POISONED_ROWS
    while True:
        outcomes[STILL_ACTIVE] = await asyncio.to_thread(count_active_rows)
        await asyncio.sleep(COUNT_INTERVAL)


ATTACKS: dict[str, Attack] = {
    "nothing": do_nothing,
    "template map": template("map"),
    "template sort": template("sort"),
    "template loops": template("loops"),
    "template memory": template("memory"),
    "template source": template("source"),
    "import turns": import_file(TURNS_FILE),
    "import 42 MB": import_file(LONG_FILE),
    "upload 45 MB": upload(ALLOWED_UPLOAD),
    "upload 126 MB": upload(LARGE_UPLOAD),
    "upload chunked": upload(LARGE_UPLOAD, chunked=True),
    "event 100 MB": poison("event"),
    "endless line": poison("line"),
    "gzip bomb": poison("bomb"),
    "endless answer": poison("endless"),
    "long list": show_long_list,
    "deep call": poison("deep"),
    "endless rounds": poison("calls"),
    "100 sends": send_everywhere,
    "1000 sockets": storm,
    "large frames": send_frames,
    "20000 fields": send_fields,
    "deep arguments": send_nested_arguments,
    "poisoned rows": poison_rows_and_wait,
}


async def attack_for(plan: AttackPlan, attack: Attack) -> Outcomes:
    """Repeats the attack until the time is over; what is under way then is counted as “unfinished”."""
    outcomes: Outcomes = Counter()
    try:
        async with asyncio.timeout(plan.seconds):
            while True:
                await attack(plan, outcomes)
    except TimeoutError:
        outcomes["unfinished"] += 1
    return outcomes


def main(name: str) -> None:
    plan = ATTACK_PLAN.validate_json(sys.stdin.buffer.read())
    os.nice(NICENESS)
    outcomes = asyncio.run(attack_for(plan, ATTACKS[name]))
    sys.stdout.buffer.write(orjson.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
