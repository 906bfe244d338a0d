"""A socket is for pages of the same scheme, name and port."""

from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from hypothesis import example, given
from hypothesis import strategies as st
from pytest_django import Settings

from sessions_app.accounts.origins import SameOriginOnly, is_allowed_origin

HOSTS = ("chat.example.org", "127.0.0.1", "[::1]", "localhost")

schemes = st.sampled_from(("http", "https"))
hosts = st.sampled_from(
    (*HOSTS, "example.org", "evil.org", "chat.example.org.evil.org", "sub.chat.example.org")
)
ports = st.none() | st.sampled_from((80, 443, 8000, 8001, 65535))


def written(scheme: str, host: str, port: int | None) -> str:
    return f"{scheme}://{host}" + ("" if port is None else f":{port}")


def full(scheme: str, host: str, port: int | None) -> tuple[str, str, int]:
    return scheme, host, port or {"http": 80, "https": 443}[scheme]


@given(st.tuples(schemes, hosts, ports), st.tuples(schemes, hosts, ports))
def test_scheme_name_and_port_are_those_of_the_request(
    page: tuple[str, str, int | None], own: tuple[str, str, int | None]
) -> None:
    netloc, is_secure = written(*own).partition("://")[2], own[0] == "https"
    allowed = is_allowed_origin(written(*page), netloc, is_secure=is_secure, allowed_hosts=HOSTS)
    assert allowed == (full(*page) == full(*own) and own[1] in HOSTS)


@given(st.text(max_size=40))
@example("null")
@example("http://")
@example("http://localhost/")
@example("http://localhost?")
@example("http://user@localhost")
@example("http://localhost:")
@example("http://localhost:99999999")
@example("http://[::1")
@example("http://localhost, http://localhost")
@example("ws://localhost")
@example("http://localhost.")
@example(" http://localhost")
def test_anything_else_is_no_origin(origin: str) -> None:
    if origin.lower() not in ("http://localhost", "http://localhost:80"):
        assert not is_allowed_origin(origin, "localhost", is_secure=False, allowed_hosts=HOSTS)


@pytest.mark.parametrize(
    ("origin", "is_trusted"),
    [
        ("https://chat.example.org", True),
        ("https://a.b.example.net", True),
        ("https://example.net", False),
        ("https://badexample.net", False),
        ("http://chat.example.org", False),
        ("https://chat.example.org:8443", False),
    ],
)
def test_trusted_origins_are_those_of_forms(origin: str, is_trusted: bool) -> None:
    trusted = ("https://chat.example.org", "https://*.example.net")
    found = is_allowed_origin(origin, "127.0.0.1:8001", is_secure=False, allowed_hosts=HOSTS, trusted=trusted)
    assert found == is_trusted


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.accept"})


async def is_accepted(origin: str | None, **scope: Any) -> bool:
    headers = [(b"host", b"testserver:8000"), *([(b"origin", origin.encode())] if origin else [])]
    socket = WebsocketCommunicator(SameOriginOnly(accepting), "/ws/", headers)
    found: Any = socket.scope
    found |= scope
    accepted, _ = await socket.connect()
    return accepted


async def test_the_handshake_is_refused_before_anything_is_read(settings: Settings) -> None:
    assert await is_accepted("http://testserver:8000")
    for origin in (None, "null", "http://testserver:8001", "http://testserver", "https://testserver:8000"):
        assert not await is_accepted(origin)
    settings.SESSION_COOKIE_SECURE = True
    assert await is_accepted("https://testserver:8000")
    assert not await is_accepted("http://testserver:8000")
    assert await is_accepted("http://testserver:8000", scheme="ws")
