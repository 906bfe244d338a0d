"""Captured requests leave this machine as the settings say: through a proxy, and trusting the bundle only."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest_django import Settings

from pipeweb.composition import build_relay
from sessions_app.capture import network
from sessions_app.capture.network import client_to
from sessions_app.capture.upstreams import Asked, UpstreamClient
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.gemini.outbound import Outbound
from sessions_app.models import CaptureAddress
from tests.capture.test_network import OK, Provider, answering
from tests.gemini.proxy import certificate, proxy_to

HOST = "provider.test"
"""Only the proxy knows it."""

ODD = "/v1/a%2Fb?x=%20+1&&y"
ANSWER = OK + b"Transfer-Encoding: chunked\r\nX-Odd: 1\r\nx-odd: 2\r\n\r\n"
CHUNKS = (ANSWER, b"2\r\n\x1f\x8b\r\n", b"1\r\nz\r\n", b"0\r\n\r\n")


@dataclass(frozen=True)
class Secured:
    """A provider behind TLS; `bundle` is what has to be trusted."""

    found: Provider
    port: int
    bundle: Path


@asynccontextmanager
async def secured_provider(folder: Path, *writes: bytes) -> AsyncIterator[Secured]:
    bundle, tls = certificate(folder, HOST)
    found = Provider(answering(*writes))
    async with await asyncio.start_server(found.connected, "127.0.0.1", 0, ssl=tls) as server:
        yield Secured(found, server.sockets[0].getsockname()[1], bundle)
        await asyncio.gather(*filter(None, found.connections))


async def asked(base: str, outbound: Outbound) -> list[bytes]:
    client = client_to(base, outbound)
    try:
        return await pieces_of(client, base)
    finally:
        await client.close()


async def pieces_of(client: UpstreamClient, base: str) -> list[bytes]:
    headers = [("X-Goog-Api-Key", "k"), ("x-Odd", "a"), ("x-Odd", "b"), ("Content-Length", "2")]
    async with client.ask(Asked("POST", base + ODD, headers, b"{}")) as answer:
        odd = [pair for pair in answer.headers if pair[0].lower() == "x-odd"]
        assert odd == [("X-Odd", "1"), ("x-odd", "2")]
        return [piece async for piece in answer.pieces]


async def test_a_request_goes_through_the_proxy_as_it_came(tmp_path: Path) -> None:
    async with secured_provider(tmp_path, *CHUNKS) as secured, proxy_to(secured.port) as proxy:
        outbound = Outbound(f"http://127.0.0.1:{proxy.port}", "", secured.bundle)
        pieces = await asked(f"https://{HOST}:{secured.port}", outbound)
    assert pieces == [b"\x1f\x8b", b"z"]
    assert proxy.asked == [f"CONNECT {HOST}:{secured.port} HTTP/1.1"]
    lines = secured.found.heads[0].decode().split("\r\n")
    assert lines[0] == f"POST {ODD} HTTP/1.1"
    assert sorted(lines[1:-2]) == sorted(
        [f"Host: {HOST}:{secured.port}", "X-Goog-Api-Key: k", "x-Odd: a", "x-Odd: b", "Content-Length: 2"]
    )


async def test_the_relay_goes_as_the_settings_say(settings: Settings, tmp_path: Path) -> None:
    async with secured_provider(tmp_path, *CHUNKS) as secured, proxy_to(secured.port) as proxy:
        settings.GOOGLE_GEMINI_BASE_URL = f"https://{HOST}:{secured.port}"
        settings.HTTPS_PROXY, settings.SSL_CERT_FILE = f"http://127.0.0.1:{proxy.port}", secured.bundle
        provider = build_relay()._upstreams[CaptureAddress.Upstream.PROVIDER]
        assert await pieces_of(provider.client, provider.base) == [b"\x1f\x8b", b"z"]
        await provider.client.close()
    assert len(proxy.asked) == 1


async def test_a_host_of_no_proxy_is_reached_directly(tmp_path: Path) -> None:
    async with secured_provider(tmp_path, *CHUNKS) as secured, proxy_to(secured.port) as proxy:
        outbound = Outbound(f"http://127.0.0.1:{proxy.port}", "127.0.0.1", secured.bundle)
        assert b"".join(await asked(f"https://127.0.0.1:{secured.port}", outbound)) == b"\x1f\x8bz"
    assert proxy.asked == [] and len(secured.found.heads) == 1


@pytest.mark.parametrize("no_proxy", ["", "127.0.0.1"])
async def test_whom_the_bundle_does_not_name_is_not_asked(tmp_path: Path, no_proxy: str) -> None:
    async with secured_provider(tmp_path, *CHUNKS) as secured, proxy_to(secured.port) as proxy:
        outbound = Outbound(f"http://127.0.0.1:{proxy.port}", no_proxy)
        with pytest.raises(RelayRefused) as refused:
            await asked(f"https://127.0.0.1:{secured.port}", outbound)
    assert refused.value.fault == CaptureFault.NOT_REACHED and secured.found.heads == []


@pytest.mark.parametrize("writes", [[], [ANSWER + b"1\r\nz\r\n"]])
async def test_silence_behind_the_proxy_is_given_up(
    tmp_path: Path, writes: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "SILENCE", 0.5)
    async with secured_provider(tmp_path, *writes) as secured, proxy_to(secured.port) as proxy:
        outbound = Outbound(f"http://127.0.0.1:{proxy.port}", "", secured.bundle)
        with pytest.raises(RelayRefused) as refused:
            await asked(f"https://{HOST}:{secured.port}", outbound)
    assert refused.value.fault == CaptureFault.NO_ANSWER
