"""A pipe between two sockets that reads nothing: what a machine takes for passing bytes on at all.

`python -m tests.bench.bare_pipe PORT` passes each connection on to that port of 127.0.0.1 until it is ended.
"""

import asyncio
import sys


class Side(asyncio.Protocol):
    """One of two connections; what it reads is written to the other."""

    def __init__(self, port: int | None = None) -> None:
        """`port`: where the other one leads, made with this one; None for that other one."""
        self._port = port
        self.other: Side | None = None
        self.transport: asyncio.Transport
        self._early: list[bytes] = []
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._port is not None:
            self._opening = asyncio.ensure_future(self._open(self._port))

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            self._early.append(data)
        else:
            self.other.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other is not None:
            self.other.transport.close()

    async def _open(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        _, other = await loop.create_connection(Side, "127.0.0.1", port)
        other.other, self.other = self, other
        other.transport.write(b"".join(self._early))


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Side(port), "127.0.0.1", 0)
    print(f"pipe on port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
