"""Sockets are for our own pages only: the Origin of a handshake is compared with its Host, as forms are."""

import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any, NamedTuple

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host

DEFAULT_PORTS = {"http": 80, "https": 443}
ORIGIN = re.compile(r"(https?)://([^\s/?#@:\[\]]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?")

Application = Callable[[Any, Any, Any], Awaitable[Any]]


class Address(NamedTuple):
    scheme: str
    host: str
    port: int


class SameOriginOnly:
    """Refuses (403) a handshake whose Origin is missing or not that of its Host."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        application = self._application if _is_own(scope) else WebsocketDenier()
        return await application(scope, receive, send)


def is_allowed_origin(
    origin: str, host: str, *, is_secure: bool, allowed_hosts: Collection[str], trusted: Collection[str] = ()
) -> bool:
    """Whether the origin has scheme, host and port of the request, or is one of the `trusted` origins.

    `trusted` is CSRF_TRUSTED_ORIGINS, in which `https://*.example.org` stands for all subdomains.
    """
    found = _address(origin)
    own = _address(f"{'https' if is_secure else 'http'}://{host}")
    if found is None:
        return False
    is_own = found == own and validate_host(found.host, allowed_hosts)
    return is_own or any(_is_trusted(found, one) for one in trusted)


def _is_own(scope: Any) -> bool:
    headers = dict(scope.get("headers", []))
    origin, host = (headers.get(name, b"").decode("latin1") for name in (b"origin", b"host"))
    return is_allowed_origin(
        origin,
        host,
        is_secure=_is_secure(scope),
        allowed_hosts=settings.ALLOWED_HOSTS,
        trusted=settings.CSRF_TRUSTED_ORIGINS,
    )


def _is_secure(scope: Any) -> bool:
    """Daphne does not tell the scheme of a socket; cookies that need https then tell it."""
    if "scheme" in scope:
        return str(scope["scheme"]) in ("https", "wss")
    return bool(settings.SESSION_COOKIE_SECURE)


def _address(origin: str) -> Address | None:
    """None for what no browser sends as the origin of a page: `null`, a path, a name and password."""
    match = ORIGIN.fullmatch(origin.lower())
    if match is None:
        return None
    scheme, host, port = match.groups()
    return Address(scheme, host, int(port) if port else DEFAULT_PORTS[scheme])


def _is_trusted(found: Address, trusted: str) -> bool:
    pattern = _address(trusted.replace("://*.", "://"))
    if pattern is None or (found.scheme, found.port) != (pattern.scheme, pattern.port):
        return False
    return found.host.endswith(f".{pattern.host}") if "://*." in trusted else found.host == pattern.host
