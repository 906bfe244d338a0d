"""Fetch one web page: http and https only, from public addresses only, within limits.

The address is checked when the name is resolved and again on the connected socket, for the first request
and for each redirect, so that no name can lead into a private network. No cookies, no proxy.
"""

import http.client
import re
import socket
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from sessions_app.documents.addresses import is_loopback, is_public
from sessions_app.error_codes import DocumentProblem
from sessions_app.errors import DocumentRefused

SECONDS = 10.0
"""For all requests together; the process that fetches is killed then."""

SIZE_LIMIT = 5_000_000
"""Bytes of a page, unpacked."""

REDIRECTS = 5
URL_LIMIT = 2_000
USER_AGENT = "Pipeweb (fetches a page that a person named)"

HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown, application/json;q=0.9",
    "Accept-Encoding": "identity",
    "Connection": "close",
}
_REDIRECTING = (301, 302, 303, 307, 308)
_PACKED = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS | 32}
_PIECE = 65_536
_SCHEME = re.compile("https?:", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9._:-]+", re.IGNORECASE)
"""A name in ASCII, or a numeric address."""

Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Fetched:
    """`url` is where the redirects ended; `mime` and `charset` are what the server said."""

    url: str
    mime: str
    charset: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Rules:
    """`allows_loopback` is for tests."""

    deadline: float
    allows_loopback: bool = False

    def allows(self, address: str) -> bool:
        return is_public(address) or (self.allows_loopback and is_loopback(address))

    @property
    def left(self) -> float:
        """Seconds. Raises DocumentRefused when there are none."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise DocumentRefused(DocumentProblem.TOO_SLOW, seconds=int(SECONDS))
        return left


def resolved(host: str, port: int) -> list[str]:
    """Numeric addresses of a host. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def fetch(url: str, rules: Rules, resolve: Resolve = resolved) -> Fetched:
    """Raises DocumentRefused."""
    for _ in range(REDIRECTS + 1):
        try:
            answer = _request(checked_url(url), rules, resolve)
        except TimeoutError as error:
            raise DocumentRefused(DocumentProblem.TOO_SLOW, seconds=int(SECONDS)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DocumentRefused(DocumentProblem.UNREACHABLE, host=urlsplit(url).hostname or "") from error
        if isinstance(answer, Fetched):
            return answer
        url = urljoin(url, answer)
    raise DocumentRefused(DocumentProblem.TOO_MANY_REDIRECTS, limit=REDIRECTS)


def checked_url(url: str) -> SplitResult:
    """Raises DocumentRefused where this is no address of a web page."""
    if not _SCHEME.match(url.strip()):
        raise DocumentRefused(DocumentProblem.NO_WEB_ADDRESS)
    try:
        parts = urlsplit(url.strip())
        is_whole = parts.port != 0 and _HOST.fullmatch(_host(parts)) is not None
    except ValueError:
        is_whole = False
    if not is_whole or len(url) > URL_LIMIT or not url.strip().isprintable():
        raise DocumentRefused(DocumentProblem.BAD_ADDRESS, limit=URL_LIMIT)
    if parts.username is not None:
        raise DocumentRefused(DocumentProblem.WITH_LOGIN)
    return parts


def _host(parts: SplitResult) -> str:
    """As it is asked for. Raises ValueError for what no name can be."""
    return (parts.hostname or "").encode("idna").decode()


def _request(parts: SplitResult, rules: Rules, resolve: Resolve) -> Fetched | str:
    """The page, or the address that it redirects to. Raises DocumentRefused, OSError, HTTPException."""
    host = _host(parts)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = http.client.HTTPConnection(host, port)
    with connected(host, port, rules, resolve) as plain:
        connection.sock = plain
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        named = f"[{host}]" if ":" in host else host
        named = named if parts.port is None else f"{named}:{port}"
        target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + (
            "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~?[]") if parts.query else ""
        )
        connection.sock.settimeout(rules.left)
        connection.request("GET", target, headers={**HEADERS, "Host": named})
        response = connection.getresponse()
        try:
            return _read(response, parts.geturl(), rules)
        finally:
            response.close()
            connection.close()


def connected(host: str, port: int, rules: Rules, resolve: Resolve) -> socket.socket:
    """A socket to the first public address of the host. Raises DocumentRefused, OSError."""
    try:
        addresses = resolve(host.strip("[]"), port)
    except OSError as error:
        raise DocumentRefused(DocumentProblem.UNKNOWN_HOST, host=host) from error
    allowed = [address for address in addresses if rules.allows(address)]
    if not allowed:
        raise DocumentRefused(DocumentProblem.PRIVATE_ADDRESS, host=host)
    found = socket.create_connection((allowed[0], port), timeout=rules.left)
    if not rules.allows(str(found.getpeername()[0])):
        found.close()
        raise DocumentRefused(DocumentProblem.PRIVATE_ADDRESS, host=host)
    return found


def _read(response: http.client.HTTPResponse, url: str, rules: Rules) -> Fetched | str:
    location = response.headers.get("Location", "")
    if response.status in _REDIRECTING and location:
        return location
    if response.status != 200:
        raise DocumentRefused(DocumentProblem.BAD_STATUS, status=response.status)
    body = bytearray()
    while piece := response.read1(_PIECE):
        body += piece
        _check_size(len(body))
        _ = rules.left
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    mime, charset = response.headers.get_content_type(), response.headers.get_content_charset() or ""
    return Fetched(url, mime, charset, _unpacked(bytes(body), packing))


def _unpacked(body: bytes, packing: str) -> bytes:
    """Raises DocumentRefused."""
    if packing in ("identity", ""):
        return body
    if packing not in _PACKED:
        raise DocumentRefused(DocumentProblem.UNREADABLE)
    try:
        text = zlib.decompressobj(_PACKED[packing]).decompress(body, SIZE_LIMIT + 1)
    except zlib.error as error:
        raise DocumentRefused(DocumentProblem.UNREADABLE) from error
    _check_size(len(text))
    return text


def _check_size(size: int) -> None:
    if size > SIZE_LIMIT:
        raise DocumentRefused(DocumentProblem.PAGE_TOO_LARGE, limit=SIZE_LIMIT)
