"""What is kept of an HTTP request: the listed headers, times, the body of a refusal; never the key."""

import gzip
import resource
import zlib
from collections.abc import AsyncIterator, Callable

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.errors import GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import (
    BODY_LIMIT,
    RATE_LIMITS,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    HttpAttempt,
    HttpEvidence,
    kept_body,
    kept_headers,
)
from sessions_app.gemini.openai_gateway import OpenAIGateway
from tests.gemini.conftest import BODY, KEY, MODEL
from tests.gemini.upstream import Upstream, error_body, event, framed

SECRET_HEADERS = (
    "x-goog-api-key",
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "www-authenticate",
    "location",
)


ERROR = b'{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}'


class Packets(httpx2.AsyncByteStream):
    def __init__(self, packets: list[bytes]) -> None:
        self._packets = packets

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for packet in self._packets:
            yield packet


class Answering(httpx2.AsyncBaseTransport):
    """Answers every request with the same status, headers and packets."""

    def __init__(self, status: int, *packets: bytes, **headers: str) -> None:
        self._status = status
        self._packets = list(packets)
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(self._status, headers=self._headers, stream=Packets(self._packets))


async def evidence_of(gateway: Gateway) -> HttpEvidence:
    """What a request leaves, whether it is answered or refused."""
    evidence = HttpEvidence()
    try:
        async with gateway.stream(MODEL, BODY, evidence) as chunks:
            async for _ in chunks:
                pass
    except GatewayError:
        pass
    await gateway.aclose()
    return evidence


async def attempt_of(transport: httpx2.AsyncBaseTransport, kind: type[Gateway] = Gateway) -> HttpAttempt:
    (attempt,) = (await evidence_of(kind(api_key=KEY, transport=transport))).attempts
    return attempt


async def test_an_answer_leaves_status_times_and_headers_of_both_directions(
    either: Gateway, upstream: Upstream
) -> None:
    upstream.packets, upstream.pause = [framed(event("a")), framed(event("b"))], 0.05
    (attempt,) = (await evidence_of(either)).attempts
    assert (attempt.status, attempt.reason, attempt.http_version) == (200, "Words", "HTTP/1.1")
    assert dict(attempt.request_headers)["content-length"] == str(len(BODY))
    assert dict(attempt.response_headers)["content-type"] == "text/event-stream"
    assert attempt.head_ms is not None and attempt.total_ms is not None
    assert 0 < attempt.head_ms < attempt.total_ms - 50
    assert (attempt.body, attempt.is_cut) == (b"", False)


async def test_a_refusal_leaves_its_body_byte_for_byte(either: Gateway, upstream: Upstream) -> None:
    upstream.status, upstream.packets = 429, [error_body(429, "Slow é down.", "RESOURCE_EXHAUSTED")]
    (attempt,) = (await evidence_of(either)).attempts
    assert (attempt.status, attempt.body) == (429, upstream.packets[0])
    assert attempt.total_ms is not None and not attempt.is_cut


@pytest.mark.parametrize("kind", [Gateway, OpenAIGateway])
async def test_headers_that_say_when_to_come_again_are_kept(kind: type[Gateway]) -> None:
    answer = Answering(429, b"{}", retry_after="7", x_ratelimit_remaining_tokens="0", x_request_id="r-1")
    found = dict((await attempt_of(answer, kind)).response_headers)
    assert found == {"retry-after": "7", "x-ratelimit-remaining-tokens": "0", "x-request-id": "r-1"}


@pytest.mark.parametrize("kind", [Gateway, OpenAIGateway])
async def test_the_key_is_nowhere_in_what_is_kept(kind: type[Gateway]) -> None:
    echo = f'{{"key":"{KEY}"}}'.encode()
    attempt = await attempt_of(Answering(400, echo, x_request_id=KEY, set_cookie=KEY), kind)
    assert attempt.body == b'{"key":"[API key]"}'
    assert dict(attempt.response_headers) == {"x-request-id": "[API key]"}
    assert KEY not in repr((attempt.request_headers, attempt))


NAMES = st.sampled_from([*SECRET_HEADERS, *REQUEST_HEADERS, *RESPONSE_HEADERS, "x-ratelimit-key"])


@given(st.lists(st.tuples(NAMES, st.sampled_from(["", "Bearer ", "key="])), max_size=20))
def test_no_header_ever_holds_the_key(sent: list[tuple[str, str]]) -> None:
    headers = httpx2.Headers([(name.title(), f"{before}{KEY}") for name, before in sent])
    for names, prefixes in ((REQUEST_HEADERS, ()), (RESPONSE_HEADERS, RATE_LIMITS)):
        kept = kept_headers(headers, names, KEY, prefixes)
        assert KEY not in repr(kept)
        assert not {name for name, _ in kept} & {*SECRET_HEADERS}


@given(st.from_regex(r"[a-z][a-z0-9-]{0,30}", fullmatch=True))
def test_a_header_that_nobody_listed_is_not_kept(name: str) -> None:
    listed = name in REQUEST_HEADERS
    assert bool(kept_headers(httpx2.Headers([(name, "x")]), REQUEST_HEADERS, "")) is listed


def test_no_list_has_the_name_of_a_secret() -> None:
    assert not (REQUEST_HEADERS | RESPONSE_HEADERS) & {*SECRET_HEADERS}
    assert not any(name.startswith(RATE_LIMITS) for name in SECRET_HEADERS)


@pytest.mark.parametrize("spelling", ["ab/cd+ef==0123456789xyz", "ab\\/cd+ef==0123456789xyz"])
def test_a_key_is_masked_as_json_spells_it(spelling: str) -> None:
    key = "ab/cd+ef==0123456789xyz"
    body, _ = kept_body(f'{{"said":"{spelling}"}}'.encode(), key)
    assert body == b'{"said":"[API key]"}'


def test_a_key_is_masked_as_an_address_spells_it() -> None:
    assert (
        kept_body(b"?key=ab%2Fcd%2Bef0123456789xyzabc&", "ab/cd+ef0123456789xyzabc")[0] == b"?key=[API key]&"
    )


def test_a_key_across_the_end_of_what_was_read_is_not_kept() -> None:
    body, is_cut = kept_body(b"x" * 50 + KEY[:-1].encode(), KEY, is_cut=True)
    assert is_cut and KEY[:8].encode() not in body


def test_a_long_body_is_its_beginning_and_says_so() -> None:
    assert kept_body(b"x" * (BODY_LIMIT + 1), "") == (b"x" * BODY_LIMIT, True)
    assert kept_body(b"x" * BODY_LIMIT, "") == (b"x" * BODY_LIMIT, False)


async def test_a_refusal_in_a_compression_that_is_not_known_is_not_read_and_says_so() -> None:
    attempt = await attempt_of(Answering(500, b"\x1b\x03\x00", content_encoding="br"))
    assert (attempt.body, attempt.is_cut) == (b"", True)
    assert ("content-encoding", "br") in attempt.response_headers


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
}


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_a_refusal_that_came_compressed_is_read(encoding: str, size: int) -> None:
    packed = PACKERS[encoding](ERROR)
    packets = [packed[at : at + size] for at in range(0, len(packed), size)]
    attempt = await attempt_of(Answering(503, *packets, content_encoding=encoding))
    assert (attempt.body, attempt.is_cut) == (ERROR, False)
    assert ("content-encoding", encoding) in attempt.response_headers


async def test_the_message_of_a_compressed_refusal_is_the_errors() -> None:
    gateway = Gateway(api_key=KEY, transport=Answering(503, gzip.compress(ERROR), content_encoding="gzip"))
    with pytest.raises(GatewayError, match="Overloaded"):
        await gateway.count_tokens(MODEL, BODY)
    await gateway.aclose()


@pytest.mark.parametrize("end", [-12, 20])
async def test_of_a_compressed_refusal_that_ends_early_the_beginning_is_kept(end: int) -> None:
    packed = gzip.compress(ERROR, 0)[:end]
    attempt = await attempt_of(Answering(503, packed, content_encoding="gzip"))
    assert ERROR.startswith(attempt.body) and attempt.is_cut


async def test_what_is_no_compression_at_all_is_not_kept() -> None:
    attempt = await attempt_of(Answering(503, b"<html>Busy</html>", content_encoding="gzip"))
    assert (attempt.body, attempt.is_cut) == (b"", True)


async def test_a_compressed_refusal_is_read_to_the_bound_of_one_that_is_not() -> None:
    packed = gzip.compress(b"x" * 300_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attempt = await attempt_of(Answering(503, packed, content_encoding="gzip"))
    assert (attempt.body, attempt.is_cut) == (b"x" * BODY_LIMIT, True)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    ("last", "kept"),
    [(framed(ERROR), ERROR), (ERROR, ERROR), (b"data: {nonsense\r\n\r\n", b"{nonsense")],
)
async def test_what_ends_a_stream_is_kept_as_it_came(last: bytes, kept: bytes) -> None:
    attempt = await attempt_of(Answering(200, framed(event("Half")), last))
    assert (attempt.status, attempt.body, attempt.is_cut) == (200, kept, False)


async def test_a_page_in_place_of_a_stream_is_kept() -> None:
    attempt = await attempt_of(Answering(200, b"<html>Si", b"gn in\r\n</html>\n"))
    assert attempt.body == b"<html>Sign in\r\n</html>\n"


async def test_an_answer_that_ends_in_the_middle_of_a_value_is_kept() -> None:
    attempt = await attempt_of(Answering(200, b'[{"candidates":', b"[{"))
    assert (attempt.body, attempt.is_cut) == (b'{"candidates":[{', True)


async def test_an_event_too_large_to_read_leaves_no_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.gemini.event_stream.EVENT_LIMIT", 100)
    attempt = await attempt_of(Answering(200, b"data: " + b"x" * 200))
    assert (attempt.body, attempt.is_cut) == (b"", True)


async def test_the_key_in_two_packets_of_a_page_is_masked() -> None:
    page = f"<p>{KEY}</p>\n".encode()
    attempt = await attempt_of(Answering(200, page[:9], page[9:]))
    assert attempt.body == b"<p>[API key]</p>\n"


async def test_a_host_that_does_not_answer_leaves_a_time_and_no_status() -> None:
    (attempt,) = (await evidence_of(Gateway(api_key=KEY, base_url="http://127.0.0.1:9"))).attempts
    assert (attempt.status, attempt.head_ms, attempt.response_headers) == (None, None, ())
    assert attempt.total_ms is not None


async def test_what_sends_nothing_leaves_nothing() -> None:
    evidence = HttpEvidence()
    gateway = Gateway(api_key=KEY, base_url="http://127.0.0.1:9")
    with pytest.raises(GatewayError):
        async with gateway.stream("../secrets", BODY, evidence):
            pass
    assert (evidence.attempts, evidence.total_ms) == ([], None)


async def test_the_head_of_one_answer_is_not_told_to_another(either: Gateway, upstream: Upstream) -> None:
    """A second request inside the first stream is not one of its attempts."""
    upstream.packets, evidence = [framed(event())], HttpEvidence()
    async with either.stream(MODEL, BODY, evidence) as chunks, either.stream(MODEL, BODY) as others:
        assert [chunk.body async for chunk in others] == [chunk.body async for chunk in chunks]
    assert len(evidence.attempts) == 1
