"""The gateway through the OpenAI-compatible endpoint, over the transport that production uses."""

from collections.abc import AsyncIterator

import httpx2
import orjson
import pytest

from sessions_app.errors import BadKey, BadRequest, ProviderDown, QuotaExceeded, Unreachable
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.openai_gateway import LABEL_SUFFIX, OpenAIGateway
from tests.gemini.conftest import KEY, MODEL, read
from tests.gemini.upstream import Upstream, error_body, framed

CHUNK = b'{"choices":[{"delta":{"content":"h\xc3\xa9"},"index":0}], "object":"chat.completion.chunk"}'
DONE = b"data: [DONE]\n\n"


@pytest.fixture
async def gateway(upstream: Upstream) -> AsyncIterator[OpenAIGateway]:
    gateway = OpenAIGateway(api_key=KEY, base_url=upstream.url)
    yield gateway
    await gateway.aclose()


def listed(body: bytes) -> bytes:
    return b"[" + body + b"\n]"


async def test_the_request_is_a_chat_completion_with_the_key_as_bearer(
    gateway: OpenAIGateway, upstream: Upstream
) -> None:
    upstream.packets = [framed(CHUNK), DONE]
    await read(gateway)
    (request,) = upstream.requests
    assert (request.method, request.target) == ("POST", "/v1beta/openai/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = orjson.loads(request.body)
    assert (body["model"], body["messages"]) == (MODEL, [{"role": "user", "content": "hé"}])


async def test_a_chunk_is_what_arrived_byte_for_byte(gateway: OpenAIGateway, upstream: Upstream) -> None:
    upstream.packets = [framed(CHUNK, CHUNK), DONE]
    chunks = await read(gateway)
    assert [(chunk.seq, chunk.body) for chunk in chunks] == [(0, CHUNK), (1, CHUNK)]


async def test_the_end_mark_is_no_chunk_even_when_it_comes_in_pieces(
    gateway: OpenAIGateway, upstream: Upstream
) -> None:
    upstream.packets = [framed(CHUNK), b"data: [DO", b"NE]\n\n"]
    upstream.pause = 0.01
    assert len(await read(gateway)) == 1


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        (400, "INVALID_ARGUMENT", BadRequest),
        (401, "UNAUTHENTICATED", BadKey),
        (429, "RESOURCE_EXHAUSTED", QuotaExceeded),
        (503, "UNAVAILABLE", ProviderDown),
    ],
)
async def test_an_error_in_a_list_becomes_our_error(
    gateway: OpenAIGateway, upstream: Upstream, code: int, status: str, error: type[Exception]
) -> None:
    upstream.status, upstream.packets = code, [listed(error_body(code, "No.", status))]
    with pytest.raises(error, match=r"No\."):
        await read(gateway)


async def test_a_page_of_a_proxy_becomes_an_error_too(gateway: OpenAIGateway, upstream: Upstream) -> None:
    upstream.status, upstream.packets = 502, [b"<html>Bad gateway</html>"]
    with pytest.raises(ProviderDown, match="502"):
        await read(gateway)


async def test_an_error_in_mid_stream_comes_after_what_had_arrived(
    gateway: OpenAIGateway, upstream: Upstream
) -> None:
    upstream.packets = [framed(CHUNK), listed(error_body(503, "Overloaded.", "UNAVAILABLE"))]
    async with gateway.stream(MODEL, b'{"contents":[]}') as chunks:
        assert (await anext(chunks)).body == CHUNK
        with pytest.raises(ProviderDown, match="Overloaded"):
            await anext(chunks)


async def test_the_key_is_masked_where_the_provider_repeats_it(
    gateway: OpenAIGateway, upstream: Upstream
) -> None:
    upstream.status, upstream.packets = 400, [listed(error_body(400, f"Bad {KEY}", "INVALID_ARGUMENT"))]
    with pytest.raises(BadRequest) as caught:
        await read(gateway)
    assert KEY not in str(caught.value) and KEY not in str(caught.value.details)


async def test_a_closed_port_is_unreachable() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    gateway = OpenAIGateway(api_key=KEY, transport=httpx2.MockTransport(refuse))
    with pytest.raises(Unreachable):
        await read(gateway)


async def test_leaving_early_closes_the_connection(gateway: OpenAIGateway, upstream: Upstream) -> None:
    upstream.packets, upstream.hold = [framed(CHUNK)], True
    async with gateway.stream(MODEL, b'{"contents":[]}') as chunks:
        await anext(chunks)
    await upstream.closed.wait()
    assert upstream.closed.is_set()


async def test_tokens_are_counted_at_the_native_endpoint(gateway: OpenAIGateway, upstream: Upstream) -> None:
    upstream.answers = {":countTokens": b'{"totalTokens": 7}'}
    assert await gateway.count_tokens(MODEL, b'{"contents":[]}') == 7


async def test_there_are_no_caches_and_nothing_is_asked(gateway: OpenAIGateway, upstream: Upstream) -> None:
    made = {"model": MODEL, "contents_and_tools": b"{}", "ttl_seconds": 60, "display_name": "x"}
    with pytest.raises(BadRequest):
        await gateway.create_cache(**made)  # type: ignore[arg-type]
    with pytest.raises(BadRequest):
        await gateway.extend_cache("cachedContents/a", 60)
    with pytest.raises(BadRequest):
        await gateway.delete_cache("cachedContents/a")
    assert await gateway.list_caches() == () and not upstream.requests
    assert not gateway.has_explicit_caches


def test_its_route_is_not_the_native_one() -> None:
    native, gateway = Gateway(api_key=KEY), OpenAIGateway(api_key=KEY)
    assert native.route != gateway.route == OpenAIGateway(api_key=KEY).route
    assert gateway.label.endswith(LABEL_SUFFIX) and not native.label.endswith(LABEL_SUFFIX)
    assert KEY not in repr(gateway)
