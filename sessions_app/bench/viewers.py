"""The load client: browsers that only look, one WebSocket each, over the same door as a page.

`python -m sessions_app.bench.viewers` reads a Plan on stdin and writes a Sample. Frames are searched, not
parsed, so that the client stays cheaper than the server it measures.
"""

import asyncio
import re
import sys
import time
import uuid

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from sessions_app.bench.load import PLANS, SAMPLES, Plan, Sample, Seat, Watch, merged
from sessions_app.bench.meters import cpu_seconds, resident_bytes
from sessions_app.bench.upstream import STAMP
from sessions_app.events import Ack, Send

CONNECTING = 16
"""Handshakes at once."""

ACKNOWLEDGE_EVERY = 64
"""Events between two acknowledgements; the server stops at a window beyond the last one."""

_HELLO = b'"type":"hello"'
_OVER = re.compile(rb'"type":"(finished|refused)"')
_COMPLETED = b'"status":"completed"'
_SEQ = re.compile(rb'"seq":(\d+)')
_RUN = re.compile(rb'"run":"([0-9a-f-]{36})"')


class Viewer(asyncio.Protocol):
    """One socket on one session. `ready` and `over` tell who waits; after `ask` comes `over` again."""

    def __init__(self, port: int, seat: Seat, watch: Watch) -> None:
        host = f"127.0.0.1:{port}"
        self._socket = ClientProtocol(parse_uri(f"ws://{host}/ws/s/{seat.session}/"), max_size=None)
        self._headers = {"Cookie": seat.cookie, "Origin": f"http://{host}"}
        self._watch = watch
        self._acknowledged = 0
        self.ready = asyncio.Event()
        self.over = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        request = self._socket.connect()
        request.headers.update(self._headers)
        self._socket.send_request(request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self._socket.receive_data(data)
        for event in self._socket.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._read(bytes(event.data), now)
            elif isinstance(event, Response) and event.status_code != 101:
                self._give_up(f"handshake refused with {event.status_code}")
        self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        self._give_up("connection lost")

    def ask(self, text: str) -> None:
        self.over.clear()
        self._acknowledged = 0
        command = Send(client_id=uuid.uuid4(), text=text).wire()
        self._watch.ask(time.monotonic_ns())
        if self._socket.state is State.OPEN and not self._transport.is_closing():
            self._send(command)
        else:
            self._give_up("connection lost")

    def close(self) -> None:
        self._watch = Watch(0)
        self._transport.close()

    def _read(self, data: bytes, now: int) -> None:
        for stamp in STAMP.finditer(data):
            self._watch.read(int(stamp[1]), now)
        if over := _OVER.search(data):
            self._watch.end("" if _COMPLETED in data else f"{over[1].decode()}, but not completed")
            self.over.set()
        elif _HELLO in data:
            self.ready.set()
        else:
            self._acknowledge(data)

    def _acknowledge(self, data: bytes) -> None:
        seq = int(found[1]) if (found := _SEQ.search(data)) else 0
        run = _RUN.search(data)
        if run and seq >= self._acknowledged + ACKNOWLEDGE_EVERY:
            self._acknowledged = seq
            self._send(Ack(run=uuid.UUID(run[1].decode()), seq=seq).wire())

    def _give_up(self, fault: str) -> None:
        if not (self.ready.is_set() and self.over.is_set()):
            self._watch.end(fault)
        self.ready.set()
        self.over.set()

    def _send(self, command: str) -> None:
        self._socket.send_text(command.encode())
        self._flush()

    def _flush(self) -> None:
        for data in self._socket.data_to_send():
            if data and not self._transport.is_closing():
                self._transport.write(data)


async def measure(plan: Plan) -> Sample:
    watches = [Watch(plan.load.chunks) for _ in plan.seats]
    viewers = await sit_down(plan, watches)
    begin = cpu_seconds(plan.pid)
    async with asyncio.TaskGroup() as streams:
        for number, viewer in enumerate(viewers):
            streams.create_task(_stream(viewer, plan, plan.load.start_of(number)))
    sample = merged(watches, cpu_seconds(plan.pid) - begin, resident_bytes(plan.pid))
    for viewer in viewers:
        viewer.close()
    return sample


async def sit_down(plan: Plan, watches: list[Watch]) -> list[Viewer]:
    """Everybody connected and greeted; handshakes are not part of the measurement."""
    gate = asyncio.Semaphore(CONNECTING)

    async def connect(seat: Seat, watch: Watch) -> Viewer:
        viewer = Viewer(plan.port, seat, watch)
        async with gate:
            await asyncio.get_running_loop().create_connection(lambda: viewer, "127.0.0.1", plan.port)
            await viewer.ready.wait()
        return viewer

    return await asyncio.gather(*map(connect, plan.seats, watches))


async def _stream(viewer: Viewer, plan: Plan, delay: float) -> None:
    await asyncio.sleep(delay)
    for _ in range(plan.load.turns):
        viewer.ask(plan.load.message)
        await viewer.over.wait()


def main() -> None:
    plan = PLANS.validate_json(sys.stdin.buffer.read())
    sys.stdout.buffer.write(SAMPLES.dump_json(asyncio.run(measure(plan))))


if __name__ == "__main__":
    main()
