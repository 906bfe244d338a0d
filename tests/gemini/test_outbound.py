"""Requests through a real proxy on loopback, with TLS to a provider whose name only the proxy knows."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sessions_app.errors import Unreachable
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.outbound import Outbound
from tests.gemini.conftest import BODY, KEY, read
from tests.gemini.proxy import certificate, proxy_to
from tests.gemini.upstream import Upstream, event, framed

HOST = "provider.test"


@dataclass(frozen=True)
class Provider:
    """An Upstream behind TLS; `bundle` is what has to be trusted."""

    upstream: Upstream
    bundle: Path
    tls: ssl.SSLContext

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.upstream.port}"


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Provider]:
    bundle, context = certificate(tmp_path, HOST)
    upstream = Upstream(packets=[framed(event("Hi"))])
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, ssl=context)
    upstream.port = server.sockets[0].getsockname()[1]
    async with server:
        yield Provider(upstream, bundle, context)


async def asked_through(outbound: Outbound, provider: Provider) -> None:
    gateway = Gateway(api_key=KEY, base_url=provider.url, transport=outbound.transport(provider.url))
    try:
        assert len(await read(gateway)) == 1
    finally:
        await gateway.aclose()


async def test_a_provider_is_asked_through_the_proxy(provider: Provider) -> None:
    async with proxy_to(provider.upstream.port) as proxy:
        outbound = Outbound(proxy=f"http://127.0.0.1:{proxy.port}", ca_bundle=provider.bundle)
        await asked_through(outbound, provider)
    assert proxy.asked == [f"CONNECT {HOST}:{provider.upstream.port} HTTP/1.1"]
    assert [request.body for request in provider.upstream.requests] == [BODY]
    assert not any("proxy" in name for name in provider.upstream.requests[0].headers)


async def test_the_proxy_is_told_user_and_password(provider: Provider) -> None:
    credentials = b64encode(b"ann:p w").decode()
    async with proxy_to(provider.upstream.port, credentials) as proxy:
        address = f"127.0.0.1:{proxy.port}"
        await asked_through(Outbound(f"http://ann:p%20w@{address}", "", provider.bundle), provider)
        with pytest.raises(Unreachable) as refused:
            await asked_through(Outbound(f"http://ann:wrong@{address}", "", provider.bundle), provider)
    assert "407" in refused.value.hint and "wrong" not in refused.value.hint + str(refused.value)


async def test_a_proxy_is_reached_over_tls_too(provider: Provider) -> None:
    async with proxy_to(provider.upstream.port, tls=provider.tls) as proxy:
        await asked_through(Outbound(f"https://127.0.0.1:{proxy.port}", "", provider.bundle), provider)
        with pytest.raises(Unreachable, match="could not be reached"):
            await asked_through(Outbound(f"https://127.0.0.1:{proxy.port}"), provider)
    assert len(proxy.asked) == len(provider.upstream.requests) == 1


async def test_whom_the_bundle_does_not_name_is_not_trusted(provider: Provider) -> None:
    async with proxy_to(provider.upstream.port) as proxy:
        with pytest.raises(Unreachable, match="could not be reached") as refused:
            await asked_through(Outbound(f"http://127.0.0.1:{proxy.port}"), provider)
    assert "CERTIFICATE_VERIFY_FAILED" in refused.value.hint
    assert provider.upstream.requests == []


async def test_a_proxy_that_is_not_there_is_no_answer(provider: Provider) -> None:
    with pytest.raises(Unreachable):
        await asked_through(Outbound("http://127.0.0.1:9", "", provider.bundle), provider)
    assert provider.upstream.requests == []


@pytest.mark.parametrize(
    ("url", "no_proxy", "is_direct"),
    [
        ("https://api.example.org", "", False),
        ("https://api.example.org", "example.org", True),
        ("https://api.example.org", ".example.org", True),
        ("https://api.example.org", "other.org,api.example.org", True),
        ("https://api.example.org:8443", "api.example.org:8443", True),
        ("https://notexample.org", "example.org", False),
        ("https://api.example.org", "*", True),
        ("http://127.0.0.1:9000", "", True),
    ],
)
def test_hosts_are_left_out_as_curl_leaves_them_out(url: str, no_proxy: str, is_direct: bool) -> None:
    assert (Outbound("http://proxy:3128", no_proxy).proxy_for(url) == "") is is_direct
