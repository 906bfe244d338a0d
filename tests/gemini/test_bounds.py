"""What an endpoint may send at most, before real listeners on this machine."""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import AnswerRefused, GatewayError, ProviderDown
from sessions_app.gemini import bounds, event_stream
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.prompt import wire
from tests.gemini.conftest import BODY, KEY, MODEL, read
from tests.gemini.upstream import Upstream, event, framed

MB = 1_000_000
DEEP = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":%b}}]}}]}' % (
    b'{"a":' * 900 + b"1" + b"}" * 900
)
WIDE = b'{"candidates":[' + b"[]," * 200_000 + b"[]]}"


async def refused(gateway: Gateway) -> RefusalCode:
    with pytest.raises(AnswerRefused) as caught:
        await read(gateway)
    return caught.value.reason


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test reaches in no time."""
    monkeypatch.setattr(event_stream, "EVENT_LIMIT", 20_000)
    for name, limit in (("ANSWER_LIMIT", 50_000), ("UNARY_LIMIT", 10_000), ("ERROR_LIMIT", 5_000)):
        monkeypatch.setattr(bounds, name, limit)


async def test_no_compression_is_asked_for(either: Gateway, upstream: Upstream) -> None:
    upstream.packets = [framed(event())]
    upstream.answers = {":countTokens": b'{"totalTokens": 3}', "/models": b'{"models": []}'}
    await read(either)
    await either.count_tokens(MODEL, BODY)
    await either.models()
    assert {one.headers["accept-encoding"] for one in upstream.requests} == {"identity"}


async def test_nor_in_the_other_dialect(upstream: Upstream) -> None:
    upstream.packets = [framed(event())]
    gateway = OpenAIGateway(api_key=KEY, base_url=upstream.url)
    await read(gateway)
    await gateway.aclose()
    assert upstream.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("packet", [b"data: " + b"x" * 30_000, b'{"a": "' + b"x" * 30_000, b":" * 30_000])
async def test_an_event_without_end_is_refused(either: Gateway, upstream: Upstream, packet: bytes) -> None:
    upstream.packets, upstream.hold = [packet], True
    assert await refused(either) is RefusalCode.EVENT_TOO_LARGE


@pytest.mark.usefixtures("small")
async def test_events_without_end_are_refused(either: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.hold = [framed(event("x" * 1_000))] * 60, True
    assert await refused(either) is RefusalCode.ANSWER_TOO_LARGE


@pytest.mark.usefixtures("small")
async def test_large_events_below_the_bounds_are_read(either: Gateway, upstream: Upstream) -> None:
    upstream.packets = [framed(event("x" * 19_000))] * 2
    assert len(await read(either)) == 2


@pytest.mark.parametrize("body", [DEEP, WIDE], ids=["deep", "wide"])
async def test_an_event_that_is_too_complex_is_refused(
    either: Gateway, upstream: Upstream, body: bytes
) -> None:
    upstream.packets = [framed(body)]
    assert await refused(either) is RefusalCode.ANSWER_TOO_COMPLEX


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "ask",
    [
        lambda gateway: gateway.count_tokens(MODEL, BODY),
        lambda gateway: gateway.models(),
        lambda gateway: gateway.list_caches(),
        lambda gateway: gateway.extend_cache("cachedContents/a", 60),
    ],
    ids=["count", "models", "caches", "extend"],
)
@pytest.mark.parametrize("body", [b'{"a": "%b"}' % (b"x" * 11_000), DEEP], ids=["large", "deep"])
async def test_an_answer_that_is_no_stream_is_bounded(
    either: Gateway, upstream: Upstream, ask: Callable[[Gateway], Awaitable[object]], body: bytes
) -> None:
    upstream.packets = [body]
    with pytest.raises(AnswerRefused):
        await ask(either)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("body", [b"x" * 90_000, b'{"error": {"message": "%b"}}' % (b"y" * 90_000), DEEP])
async def test_of_an_error_no_more_than_its_bound_is_read(
    either: Gateway, upstream: Upstream, body: bytes
) -> None:
    upstream.status, upstream.packets = 503, [body]
    with pytest.raises(ProviderDown) as caught:
        await read(either)
    assert caught.value.code == 503 and len(str(caught.value.details)) < 6_000


@given(
    st.recursive(st.none() | st.text(max_size=3) | st.integers(), lambda inner: st.lists(inner, max_size=4))
)
def test_nesting_is_counted_outside_of_strings(value: object) -> None:
    padding = "[{" * 200 + '\\"' * 3
    body = wire.dumps({"text": padding, "value": value})
    assert not wire.is_too_complex(body)


@pytest.mark.parametrize(
    "depth", [wire.DEPTH_LIMIT - 1, wire.DEPTH_LIMIT, wire.DEPTH_LIMIT + 1, 5_000, 10 * MB]
)
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_the_limit_is_exact_and_any_depth_is_safe(depth: int, pair: str) -> None:
    opener, closer = (b"[", b"]") if pair == "[]" else (b'{"a":', b"}")
    body = opener * depth + b"1" + closer * depth
    assert wire.is_too_complex(body) is (depth > wire.DEPTH_LIMIT)


ROOT = Path(__file__).resolve().parents[2]


async def _write(writer: asyncio.StreamWriter, packet: bytes, times: int, headers: bytes) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n%b\r\n" % headers
    )
    for _ in range(times):
        writer.write(packet)
        await writer.drain()
    writer.close()


@pytest.fixture
def flood() -> Callable[..., Awaitable[str]]:
    """Answers one request with `packet`, `times` over, and returns what a process of its own made of it."""

    async def run(packet: bytes, times: int, headers: bytes = b"") -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await reader.readuntil(b"\r\n\r\n")
                await _write(writer, packet, times, headers)
            except ConnectionError:
                pass

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            command = (sys.executable, "-m", "tests.gemini.bounded_reader", url)
            reader = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=ROOT)
            out, _ = await asyncio.wait_for(reader.communicate(), 240)
        return out.decode()

    return run


@pytest.mark.parametrize(
    ("packet", "times", "headers", "reason"),
    [
        (b"x" * MB, 100, b"", RefusalCode.EVENT_TOO_LARGE),
        (b'data: {"a": "' + b"x" * MB, 100, b"", RefusalCode.EVENT_TOO_LARGE),
        (gzip.compress(b"\n" * 300 * MB), 1, b"Content-Encoding: gzip\r\n", RefusalCode.ANSWER_COMPRESSED),
        (b'data: {"a":[' + b"[]," * 10 * MB + b"[]]}\n\n", 1, b"", RefusalCode.ANSWER_TOO_COMPLEX),
    ],
    ids=["line", "event", "gzip", "containers"],
)
async def test_a_flood_costs_little_memory_and_ends_in_words(
    flood: Callable[..., Awaitable[str]],
    packet: bytes,
    times: int,
    headers: bytes,
    reason: RefusalCode,
) -> None:
    said, megabytes, seconds = (await flood(packet, times, headers)).split()
    assert said == reason
    assert float(megabytes) <= 100
    assert float(seconds) < 30


def test_a_refused_answer_is_a_failure_of_the_provider() -> None:
    assert issubclass(AnswerRefused, GatewayError)
