"""A provider's address that sends requests elsewhere: nothing goes there, the key least of all."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from sessions_app.errors import Redirected
from sessions_app.gemini.error_mapping import is_worth_retrying
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.key_check import check_key
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.gemini.sdk import PublicSender
from tests.gemini.conftest import BODY, KEY, MODEL, listening, read
from tests.gemini.upstream import Upstream

CALLS: dict[str, Callable[[Gateway], Awaitable[object]]] = {
    "stream": read,
    "count_tokens": lambda gateway: gateway.count_tokens(MODEL, BODY),
    "create_cache": lambda gateway: gateway.create_cache(
        model=MODEL, contents_and_tools=b"{}", ttl_seconds=60, display_name="name"
    ),
    "list_caches": lambda gateway: gateway.list_caches(),
    "extend_cache": lambda gateway: gateway.extend_cache("cachedContents/one", 60),
    "delete_cache": lambda gateway: gateway.delete_cache("cachedContents/one"),
    "upload_file": lambda gateway: gateway.upload_file(b"x", mime="video/mp4", name="clip.mp4"),
    "delete_file": lambda gateway: gateway.delete_file("https://files.example/v1beta/files/one"),
    "models": lambda gateway: gateway.models(),
}


@pytest.fixture
async def elsewhere(upstream: Upstream) -> AsyncIterator[Upstream]:
    """Where `upstream` sends every request."""
    async with listening() as elsewhere:
        upstream.location = f"{elsewhere.url}/v1beta/there"
        yield elsewhere


def test_every_call_of_a_gateway_is_tried() -> None:
    public = {name for name, member in vars(Gateway).items() if callable(member) and name[0] != "_"}
    assert CALLS.keys() == public - {"wire_body", "aclose"}


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("call", CALLS)
async def test_no_call_follows_a_redirect(
    gateway: Gateway, upstream: Upstream, elsewhere: Upstream, call: str, status: int
) -> None:
    upstream.status = status
    with pytest.raises(Redirected) as caught:
        await CALLS[call](gateway)
    assert "GOOGLE_GEMINI_BASE_URL" in caught.value.hint and not is_worth_retrying(caught.value)
    assert len(upstream.requests) == 1 and not elsewhere.requests


@pytest.mark.parametrize("call", ["stream", "count_tokens"])
async def test_nor_does_the_public_seam(
    public_gateway: Gateway, upstream: Upstream, elsewhere: Upstream, call: str
) -> None:
    upstream.status = 302
    assert isinstance(public_gateway._sender, PublicSender)
    with pytest.raises(Redirected):
        await CALLS[call](public_gateway)
    assert not elsewhere.requests


@pytest.mark.parametrize("call", ["stream", "count_tokens", "models"])
async def test_nor_does_the_openai_gateway(upstream: Upstream, elsewhere: Upstream, call: str) -> None:
    upstream.status = 302
    gateway = OpenAIGateway(api_key=KEY, base_url=upstream.url)
    with pytest.raises(Redirected):
        await CALLS[call](gateway)
    await gateway.aclose()
    assert not elsewhere.requests


async def test_a_trial_of_a_key_says_that_the_address_is_wrong(
    upstream: Upstream, elsewhere: Upstream
) -> None:
    upstream.status = 302
    trial = await check_key(KEY, base_url=upstream.url)
    assert trial.result == "unreachable" and "GOOGLE_GEMINI_BASE_URL" in trial.hint
    assert not elsewhere.requests
