"""The sender into google-genai. When one of these fails after an upgrade of the SDK, the product still
works, through PublicSender; adapt PrivateSender and _PRIVATE_SIGNATURES to the new names."""

import asyncio
import inspect
from typing import Any
from unittest.mock import patch

import httpx2
import pytest
from google import genai

from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.sdk import INTERCEPTION, STREAM, PrivateSender, PublicSender, sdk_changes, sender_for
from tests.gemini.conftest import BODY, KEY, MODEL, bodies
from tests.gemini.upstream import Upstream, event, framed


def client() -> genai.Client:
    return genai.Client(api_key=KEY, vertexai=False)


def test_the_private_names_are_still_there() -> None:
    drift = sdk_changes(client())
    assert not drift, f"google-genai has changed under PrivateSender: {drift}"


def test_bytes_still_go_out_unchanged() -> None:
    source = inspect.getsource(client()._api_client._async_request_once)
    assert "isinstance(http_request.data, bytes)" in source, "see _async_request_once of google-genai"


def test_the_private_sender_is_used_while_it_fits() -> None:
    assert isinstance(sender_for(client()), PrivateSender)


def test_the_public_sender_takes_over_when_a_name_is_gone() -> None:
    changed = client()
    with patch.object(type(changed._api_client), "_async_request_once", None):
        assert "_async_request_once takes None" in sdk_changes(changed)
        assert isinstance(sender_for(changed), PublicSender)


def test_the_public_sender_takes_over_when_a_signature_changes() -> None:
    def renamed(self: Any, verb: str, path: str) -> None: ...

    changed = client()
    with patch.object(type(changed._api_client), "_build_request", renamed):
        assert "_build_request takes ['verb', 'path']" in sdk_changes(changed)
        assert isinstance(sender_for(changed), PublicSender)


def test_the_public_sender_takes_over_when_the_request_changes() -> None:
    changed = client()

    def build(http_method: Any, path: Any, request_dict: Any, http_options: Any = None) -> object:
        return object()

    changed._api_client._build_request = build  # type: ignore[method-assign,assignment]
    assert "_build_request returns object" in sdk_changes(changed)


async def test_both_senders_read_and_send_the_same(
    gateway: Gateway, public_gateway: Gateway, upstream: Upstream
) -> None:
    sent = [event("é"), event("b", usageMetadata={"totalTokenCount": 3})]
    upstream.packets = [framed(*sent)]
    assert await bodies(gateway) == await bodies(public_gateway) == sent
    direct, public = upstream.requests
    assert (direct.method, direct.target, direct.body) == (public.method, public.target, public.body)
    assert direct.headers == public.headers


async def test_parallel_diversions_stay_apart(public_gateway: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.pause = [framed(event())], 0.02
    sent = [b'{"contents":[],"n":%d}' % n for n in range(20)]

    async def send(body: bytes) -> None:
        async with public_gateway.stream(MODEL, body) as chunks:
            assert [chunk.body async for chunk in chunks] == [event()]

    await asyncio.gather(*map(send, sent))
    assert sorted(request.body for request in upstream.requests) == sorted(sent)
    assert INTERCEPTION.get() is None


async def test_a_diversion_ends_with_its_request(public_gateway: Gateway, upstream: Upstream) -> None:
    upstream.packets, upstream.answers["cachedContents"] = [framed(event())], b"{}"
    assert await bodies(public_gateway) == [event()]
    assert await public_gateway.list_caches() == ()
    assert upstream.requests[1].body == b""


async def test_a_diverted_answer_closes_when_the_sdk_fails(
    public_gateway: Gateway, upstream: Upstream
) -> None:
    sender = PublicSender(public_gateway._client)
    stream, upstream.hold = sender._verbs[STREAM], True

    async def failing(model: str) -> None:
        await stream(model)
        raise ZeroDivisionError

    sender._verbs[STREAM] = failing
    with pytest.raises(ZeroDivisionError):
        await sender.post(f"models/{MODEL}", STREAM, BODY)
    await asyncio.wait_for(upstream.closed.wait(), 20)


async def test_an_installed_aiohttp_would_not_be_used(gateway: Gateway) -> None:
    with patch("google.genai._api_client.has_aiohttp", True):
        assert not gateway._client._api_client._use_aiohttp()


async def test_the_time_outs_reach_the_transport() -> None:
    seen: list[dict[str, float | None]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.extensions["timeout"])
        return httpx2.Response(200, json={})

    for sender in (PrivateSender, PublicSender):
        gateway = Gateway(api_key=KEY, transport=httpx2.MockTransport(answer))
        gateway._sender = sender(gateway._client)
        await gateway.count_tokens(MODEL, BODY)
        await gateway.aclose()
    assert seen == [{"connect": 10.0, "read": 600.0, "write": 60.0, "pool": None}] * 2
