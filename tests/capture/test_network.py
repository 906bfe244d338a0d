"""The client over sockets sends once what it is given, and gives back what comes."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from sessions_app.capture import network
from sessions_app.capture.headers import Pair
from sessions_app.capture.network import NetworkClient
from sessions_app.capture.upstreams import Answer, Asked
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused

Serve = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\n"


class Provider:
    """A server on a socket; `serve` answers, given the head of a request."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.heads: list[bytes] = []
        self.url = ""
        self.connections: set[asyncio.Task[None] | None] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(asyncio.current_task())
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                await self._serve(head, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def provider(serve: Serve) -> AsyncIterator[tuple[Provider, NetworkClient]]:
    found, client = Provider(serve), NetworkClient()
    async with await asyncio.start_server(found.connected, "127.0.0.1", 0) as server:
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield found, client
        finally:
            await client.close()
            await asyncio.gather(*filter(None, found.connections))


def answering(*writes: bytes, then_closed: bool = False) -> Serve:
    async def serve(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for one in writes:
            writer.write(one)
            await writer.drain()
            await asyncio.sleep(0.02)
        if then_closed:
            writer.close()

    return serve


async def ask(
    client: NetworkClient,
    url: str,
    body: bytes | AsyncIterator[bytes] = b"",
    method: str = "POST",
    headers: Iterable[Pair] = (),
) -> tuple[Answer, list[bytes]]:
    async with client.ask(Asked(method, url, list(headers), body)) as answer:
        return answer, [piece async for piece in answer.pieces]


async def test_the_head_is_what_it_was_given_and_nothing_else() -> None:
    given = [("X-Goog-Api-Key", "k"), ("x-Odd", "a"), ("x-Odd", "b"), ("Accept-Encoding", "identity")]
    async with provider(answering(OK + b"Content-Length: 0\r\n\r\n")) as (found, client):
        await ask(client, f"{found.url}/v1/a%2Fb?x=%20+1&&y", b"{}", headers=given)
        await ask(client, f"{found.url}/v1/models", method="GET")
    lines = found.heads[0].decode().split("\r\n")
    assert lines[0] == "POST /v1/a%2Fb?x=%20+1&&y HTTP/1.1"
    assert sorted(lines[1:-2]) == sorted(
        [f"Host: {found.url[7:]}", *(f"{name}: {value}" for name, value in given), "Content-Length: 2"]
    )
    assert found.heads[1].decode().split("\r\n")[1:-2] == [f"Host: {found.url[7:]}"]


@pytest.mark.parametrize(
    ("came", "sent"),
    [("Bücher €.pdf".encode(), "Bücher €.pdf".encode()), (b"a\tb", b"a\tb"), (b"caf\xe9", "café".encode())],
)
async def test_a_header_in_utf8_goes_out_as_it_came(came: bytes, sent: bytes) -> None:
    async with provider(answering(OK + b"Content-Length: 0\r\n\r\n")) as (found, client):
        await ask(client, found.url + "/", headers=[("X-Name", came.decode("latin-1"))])
    assert b"X-Name: " + sent + b"\r\n" in found.heads[0]


async def test_pieces_come_as_they_arrive_and_packed_where_they_are_packed() -> None:
    packed = gzip.compress(b"answer")
    chunk = b"%x\r\n%b\r\n" % (len(packed), packed)
    head = OK + b"Content-Encoding: gzip\r\nX-Twice: 1\r\nx-twice: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with provider(answering(head, chunk, b"1\r\nz\r\n", b"0\r\n\r\n")) as (found, client):
        answer, pieces = await ask(client, found.url + "/")
    assert pieces == [packed, b"z"]
    assert [one for one in answer.headers if one[0].lower() == "x-twice"] == [
        ("X-Twice", "1"),
        ("x-twice", "2"),
    ]


@pytest.mark.parametrize("status", [b"301 Moved", b"307 Again", b"401 No", b"503 Later"])
async def test_no_status_is_followed_or_asked_again(status: bytes) -> None:
    head = b"HTTP/1.1 %b\r\nLocation: /x\r\nSet-Cookie: a=b\r\nContent-Length: 1\r\n\r\nx" % status
    async with provider(answering(head)) as (found, client):
        answer, pieces = await ask(client, found.url + "/", method="GET")
        await ask(client, found.url + "/", method="GET")
    assert (answer.status, pieces, len(found.heads)) == (int(status[:3]), [b"x"], 2)
    assert b"cookie" not in found.heads[1].lower()


async def test_a_kept_connection_that_turns_out_closed_is_no_reason_to_ask_again() -> None:
    async def serve(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(found.heads) == 1:
            writer.write(OK + b"Content-Length: 0\r\n\r\n")
        else:
            writer.close()

    async with provider(serve) as (found, client):
        await ask(client, found.url + "/", method="GET")
        with pytest.raises(RelayRefused) as refused:
            await ask(client, found.url + "/", method="GET")
    assert refused.value.fault == CaptureFault.NOT_ANSWERED and len(found.heads) == 2


async def test_a_large_body_and_a_body_in_pieces_arrive_whole() -> None:
    got: list[bytes] = []

    async def serve(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        got.append(await reader.readexactly(length))
        writer.write(OK + b"Content-Length: 0\r\n\r\n")

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    large = bytes(range(256)) * 10_000
    async with provider(serve) as (found, client):
        await ask(client, found.url + "/", large)
        await ask(client, found.url + "/", pieces(), headers=[("Content-Length", "6")])
    assert got == [large, b"onetwo"]


async def test_nobody_there_is_not_reached() -> None:
    client = NetworkClient()
    with pytest.raises(RelayRefused) as refused:
        await ask(client, "http://127.0.0.1:1/")
    await client.close()
    assert refused.value.fault == CaptureFault.NOT_REACHED


@pytest.mark.parametrize(
    ("writes", "fault"),
    [
        ([], CaptureFault.NOT_ANSWERED),
        ([b"nonsense\r\n\r\n"], CaptureFault.NOT_ANSWERED),
        ([OK + b"Content-Length: 9\r\n\r\nab"], CaptureFault.BROKEN_OFF),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"], CaptureFault.BROKEN_OFF),
    ],
)
async def test_an_answer_that_ends_early_is_told(writes: list[bytes], fault: CaptureFault) -> None:
    async with provider(answering(*writes, then_closed=True)) as (found, client):
        with pytest.raises(RelayRefused) as refused:
            await ask(client, found.url + "/")
    assert refused.value.fault == fault


async def test_what_came_before_a_break_is_given_however_late() -> None:
    writes = [OK + b"Content-Length: 9\r\n\r\na", b"b", b"c"]
    pieces: list[bytes] = []

    async def read_slowly(client: NetworkClient, url: str) -> None:
        async with client.ask(Asked("POST", url, [], b"")) as answer:
            async for piece in answer.pieces:
                pieces.append(piece)
                await asyncio.sleep(0.2)

    async with provider(answering(*writes, then_closed=True)) as (found, client):
        with pytest.raises(RelayRefused) as refused:
            await read_slowly(client, found.url + "/")
    assert refused.value.fault == CaptureFault.BROKEN_OFF
    assert b"".join(pieces) == b"abc"


@pytest.mark.parametrize(
    "writes",
    [
        [],
        [OK + b"Content-Length: 9\r\n\r\nab"],
        [OK + b"Content-Length: 9\r\n\r\na", b"b"],
    ],
)
async def test_a_provider_that_falls_silent_is_given_up(
    writes: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "SILENCE", 0.3)
    monkeypatch.setattr(network, "TIMEOUT", aiohttp.ClientTimeout(total=None, sock_read=0.3))
    async with provider(answering(*writes)) as (found, client):
        with pytest.raises(RelayRefused) as refused:
            await ask(client, found.url + "/")
    assert refused.value.fault == CaptureFault.NO_ANSWER


async def test_a_slow_answer_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "SILENCE", 0.3)

    async def serve(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"Content-Length: 8\r\n\r\n")
        for _ in range(8):
            await asyncio.sleep(0.1)
            writer.write(b"x")

    async with provider(serve) as (found, client):
        assert b"".join((await ask(client, found.url + "/"))[1]) == b"x" * 8


async def test_the_fault_of_a_body_is_that_of_the_request() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        raise RelayRefused(CaptureFault.REQUEST_TOO_LARGE, limit=2)

    async with provider(answering()) as (found, client):
        with pytest.raises(RelayRefused) as refused:
            await ask(client, found.url + "/", pieces(), headers=[("Content-Length", "9")])
    assert (refused.value.fault, refused.value.limit) == (CaptureFault.REQUEST_TOO_LARGE, 2)


async def test_leaving_the_block_closes_the_request() -> None:
    is_left = asyncio.Event()

    async def serve(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"Content-Length: 9\r\n\r\nab")
        if not await reader.read(1):
            is_left.set()

    async with provider(serve) as (found, client):
        async with client.ask(Asked("POST", found.url + "/", [], b"")) as answer:
            assert await anext(aiter(answer.pieces)) == b"ab"
        await asyncio.wait_for(is_left.wait(), 10)
