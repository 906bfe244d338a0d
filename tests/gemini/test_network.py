"""The transport of production, and what it makes of failures below HTTP."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from sessions_app.errors import Unreachable
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.network import NetworkTransport
from sessions_app.gemini.outbound import Outbound
from tests.gemini.conftest import KEY, read
from tests.gemini.proxy import certificate
from tests.gemini.upstream import Upstream, event, framed


async def asked(url: str, **times: float) -> bytes:
    request = httpx2.Request("POST", url, content=b"x" * 20_000_000, extensions={"timeout": times})
    transport = NetworkTransport()
    try:
        response = await transport.handle_async_request(request)
        return await response.aread()
    finally:
        await transport.aclose()


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_a_provider_over_tls_is_asked_where_its_authority_is_trusted(
    tmp_path: Path, is_trusted: bool
) -> None:
    bundle, context = certificate(tmp_path, "provider.test")
    upstream = Upstream(packets=[framed(event("Hi"))])
    async with await asyncio.start_server(upstream.serve, "127.0.0.1", 0, ssl=context) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        outbound = Outbound(ca_bundle=bundle if is_trusted else None)
        gateway = Gateway(api_key=KEY, base_url=url, transport=outbound.transport(url))
        try:
            if is_trusted:
                assert len(await read(gateway)) == 1
            else:
                with pytest.raises(Unreachable, match="could not be reached") as refused:
                    await read(gateway)
                assert "CERTIFICATE_VERIFY_FAILED" in refused.value.hint
        finally:
            await gateway.aclose()
    assert len(upstream.requests) == is_trusted


async def test_a_provider_that_falls_silent_is_given_up(
    gateway: Gateway, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.gemini.sdk.TIMEOUT", httpx2.Timeout(5, read=0.3))
    upstream.packets, upstream.hold = [framed(event("Hi"))], True
    with pytest.raises(Unreachable, match="in time") as silent:
        await read(gateway)
    assert "ReadTimeout" in silent.value.hint


async def test_a_provider_that_never_answers_is_given_up(
    gateway: Gateway, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.gemini.sdk.TIMEOUT", httpx2.Timeout(5, read=0.3))
    upstream.silent = True
    with pytest.raises(Unreachable, match="in time"):
        await read(gateway)


async def test_a_body_that_nobody_takes_is_given_up() -> None:
    released = asyncio.Event()

    async def never_reading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()
        writer.transport.abort()

    async with await asyncio.start_server(never_reading, "127.0.0.1", 0) as server:
        with pytest.raises(httpx2.WriteTimeout):
            await asked(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", write=0.3, read=30)
        released.set()
        await asyncio.sleep(0.05)


async def test_an_answer_that_is_not_http_is_a_broken_one() -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"SSH-2.0-no\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(nonsense, "127.0.0.1", 0) as server:
        with pytest.raises(httpx2.TransportError):
            await asked(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def test_what_came_before_a_break_is_read_however_late() -> None:
    async def breaking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await asyncio.sleep(0.05)
        writer.write(b"1\r\nb\r\n1\r\nc\r\n")
        writer.close()

    packets: list[bytes] = []
    transport = NetworkTransport()

    async def read_slowly(response: httpx2.Response) -> None:
        async for packet in response.aiter_raw():
            packets.append(packet)
            await asyncio.sleep(0.2)

    async with await asyncio.start_server(breaking, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        response = await transport.handle_async_request(httpx2.Request("GET", url))
        with pytest.raises(httpx2.TransportError):
            await read_slowly(response)
    await transport.aclose()
    assert b"".join(packets) == b"abc"
