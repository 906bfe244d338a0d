"""A loopback HTTP/1.1 server in place of the provider: raw packets out, requests and closings noted."""

import asyncio
from dataclasses import dataclass, field
from time import perf_counter

import orjson

HEAD = b"HTTP/1.1 %d Words\r\n%bContent-Type: %b\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Upstream:
    """Answers every request with `packets`, `pause` seconds apart.

    `hold` keeps the answer open until the client goes, `cut` ends it without the closing frame, `silent`
    reads the request and says nothing. `location` is the header of a redirect.
    `answers` maps the end of a path to a JSON body of its own.
    """

    packets: list[bytes] = field(default_factory=list)
    status: int = 200
    location: str = ""
    pause: float = 0.0
    hold: bool = False
    cut: bool = False
    silent: bool = False
    answers: dict[str, bytes] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    closed_at: float = 0.0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_now -= 1
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = await _read_request(reader)
        self.requests.append(received)
        self.asked.set()
        watch = asyncio.create_task(self._watch(reader))
        try:
            await self._write(received, writer)
            if self.hold or self.silent:
                await self.closed.wait()
        finally:
            watch.cancel()

    async def _write(self, received: Received, writer: asyncio.StreamWriter) -> None:
        path = received.target.partition("?")[0]
        own = next((body for end, body in self.answers.items() if path.endswith(end)), None)
        if self.silent:
            return
        content_type = b"application/json" if own else b"text/event-stream"
        location = b"Location: %b\r\n" % self.location.encode() if self.location else b""
        writer.write(HEAD % (self.status, location, content_type))
        for packet in [own] if own else self.packets:
            writer.write(b"%x\r\n%b\r\n" % (len(packet), packet))
            await writer.drain()
            await asyncio.sleep(self.pause)
        if not (self.hold or self.cut):
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        await reader.read(1)
        self.closed_at = perf_counter()
        self.closed.set()


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, target, headers, body)


def event(text: str = "hello", **more: object) -> bytes:
    """The JSON of one event, written as Gemini writes it: a space after the colon, raw UTF-8."""
    body = {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}], **more}
    return orjson.dumps(body).replace(b'":', b'": ')


def framed(*bodies: bytes, end: bytes = b"\r\n") -> bytes:
    return b"".join(b"data: " + body + end + end for body in bodies)


def error_body(code: int, message: str, status: str, *details: object) -> bytes:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return orjson.dumps({"error": error}, option=orjson.OPT_INDENT_2)
