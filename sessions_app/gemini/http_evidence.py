"""What the HTTP requests of one exchange leave as evidence: times, status, listed headers, a refused body.

Headers are kept by name from two lists, so that one nobody thought of is not kept; the API key is masked
in whatever is kept.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from urllib.parse import quote

import httpx2

from sessions_app.gemini.error_mapping import masked

REQUEST_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "content-length",
        "content-type",
        "host",
        "traceparent",
        "user-agent",
        "x-goog-api-client",
        "x-server-timeout",
    }
)
"""Names, in lower case, of the headers of ours that are kept."""

EMULATOR_HEADER = "x-pipeweb-emulator"
"""Names an emulator of ours behind a base URL (`emulator.delivery`)."""

RESPONSE_HEADERS = frozenset(
    {
        "age",
        "cf-ray",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "openai-processing-ms",
        "openai-version",
        "ratelimit",
        "ratelimit-policy",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "server",
        "server-timing",
        "traceparent",
        "transfer-encoding",
        "via",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-gemini-service-tier",
        "x-goog-request-id",
        EMULATOR_HEADER,
        "x-request-id",
    }
)
"""Names of the provider's headers that are kept, besides those that begin with `RATE_LIMITS`."""

RATE_LIMITS = ("x-ratelimit-", "ratelimit-")

BODY_LIMIT = 262_144
"""Bytes that are kept of what could not be used as an answer."""

READ_LIMIT = 4 * BODY_LIMIT
"""Bytes in which the key is looked for; masking it makes a text shorter."""

SHORTEST_BEGINNING = 4
"""Characters of a key from which its beginning is one."""

VALUE_LIMIT = 500
HEADER_LIMIT = 60
"""Characters of a header, and headers of a direction, that are kept."""

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class HttpAttempt:
    """One HTTP request. Times are milliseconds since it was sent; `status` is None without a response.

    `body` is what the provider sent in place of an answer, or of its next event, without the key; `is_cut`
    says that it is the beginning only, or was not read.
    """

    started_at: datetime
    request_headers: Headers
    secret: str = field(repr=False)
    began: float = field(default_factory=perf_counter, repr=False)
    status: int | None = None
    reason: str = ""
    http_version: str = ""
    response_headers: Headers = ()
    head_ms: float | None = None
    total_ms: float | None = None
    body: bytes = b""
    is_cut: bool = False

    @classmethod
    def of(cls, request: httpx2.Request, secret: str) -> "HttpAttempt":
        return cls(datetime.now(UTC), kept_headers(request.headers, REQUEST_HEADERS, secret), secret)

    def answered(self, response: httpx2.Response) -> None:
        """The head of the response is there."""
        self.head_ms = (perf_counter() - self.began) * 1000
        self.status = response.status_code
        self.reason = masked(_said(response, "reason_phrase"), self.secret)[:80]
        self.http_version = _said(response, "http_version")[:12]
        self.response_headers = kept_headers(response.headers, RESPONSE_HEADERS, self.secret, RATE_LIMITS)

    def keep(self, body: bytes, *, is_cut: bool = False) -> None:
        """The bytes that are no answer; `is_cut` when more of them came or would have come."""
        self.body, self.is_cut = kept_body(body, self.secret, is_cut=is_cut)

    def end(self) -> None:
        """Once; later calls change nothing."""
        if self.total_ms is None:
            self.total_ms = (perf_counter() - self.began) * 1000


@dataclass(slots=True)
class HttpEvidence:
    """The attempts of one exchange, in order: one, unless the SDK repeats a request by itself.

    `waited_ms` is the pause before the first.
    """

    waited_ms: float = 0.0
    attempts: list[HttpAttempt] = field(default_factory=list)
    secret: str = field(default="", repr=False)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Requests that the transport sends inside belong to this exchange."""
        token = EVIDENCE.set(self)
        try:
            yield
        except BaseException:
            self.end()
            raise
        finally:
            EVIDENCE.reset(token)

    def begin(self, request: httpx2.Request) -> HttpAttempt:
        self.end()
        self.attempts.append(HttpAttempt.of(request, self.secret))
        return self.attempts[-1]

    def keep(self, body: bytes, *, is_cut: bool = False) -> None:
        if self.attempts:
            self.attempts[-1].keep(body, is_cut=is_cut)

    def end(self) -> None:
        if self.attempts:
            self.attempts[-1].end()

    @property
    def response_headers(self) -> Headers:
        """Headers of the last response; empty without one."""
        heads = (one.response_headers for one in reversed(self.attempts) if one.status is not None)
        return next(heads, ())

    @property
    def total_ms(self) -> float | None:
        """Milliseconds of all attempts together; None when nothing was sent."""
        times = [one.total_ms for one in self.attempts if one.total_ms is not None]
        return sum(times) if times else None


EVIDENCE: ContextVar[HttpEvidence | None] = ContextVar("http_evidence", default=None)


def _said(response: httpx2.Response, name: str) -> str:
    """What the head of the response had; empty for a transport that has no such thing."""
    value: bytes = response.extensions.get(name, b"")
    return value.decode("ascii", "replace")


def kept_headers(
    headers: httpx2.Headers, names: Collection[str], secret: str, prefixes: tuple[str, ...] = ()
) -> Headers:
    """The listed headers, and those that begin with a prefix, in the order of the wire, without the key."""
    pairs = ((name.lower(), value) for name, value in headers.multi_items())
    listed = [
        (name, masked(value, secret)[:VALUE_LIMIT])
        for name, value in pairs
        if name in names or name.startswith(prefixes)
    ]
    return tuple(listed[:HEADER_LIMIT])


def kept_body(body: bytes, secret: str, *, is_cut: bool = False) -> tuple[bytes, bool]:
    """The beginning of the body without the key in any spelling, and whether it is the beginning only."""
    text = body[:READ_LIMIT].decode("latin-1")
    is_cut = is_cut or len(body) > READ_LIMIT
    for spelling in {secret, secret.replace("/", "\\/"), quote(secret, safe="")}:
        text = masked(text, spelling)
        if is_cut:
            text = text[: len(text) - _begun(text, spelling)]
    return text[:BODY_LIMIT].encode("latin-1"), is_cut or len(text) > BODY_LIMIT


def _begun(text: str, secret: str) -> int:
    """How many characters at the end of a text that was cut begin the key; 0 below `SHORTEST_BEGINNING`."""
    lengths = range(len(secret) - 1, SHORTEST_BEGINNING - 1, -1)
    return next((length for length in lengths if text.endswith(secret[:length])), 0)
