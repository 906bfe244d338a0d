"""Caches, counting and listing: what goes out and what comes back."""

import json
from datetime import UTC, datetime

import orjson
import pytest

from sessions_app.errors import (
    BrokenStream,
    CacheGone,
    CacheTooSmall,
    PromptError,
    QuotaExceeded,
)
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.provider_resources import CacheCreated, CacheListed, ModelListed
from tests.gemini.conftest import BODY, MODEL
from tests.gemini.upstream import Upstream, error_body

NAME = "cachedContents/abc"
EXPIRES = datetime(2026, 9, 7, 2, 18, 17, 23637, tzinfo=UTC)
CACHE = {
    "name": NAME,
    "model": f"models/{MODEL}",
    "createTime": "2026-09-07T01:18:17.438678Z",
    "expireTime": "2026-09-07T02:18:17.023637828Z",
    "displayName": "",
    "usageMetadata": {"totalTokenCount": 7021},
}
FIELDS = (
    '{"contents":[{"role":"user","parts":[{"text":"é"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}'
)


async def create(gateway: Gateway) -> CacheCreated:
    return await gateway.create_cache(
        model=MODEL, contents_and_tools=FIELDS.encode(), ttl_seconds=600, display_name="pipeweb:1"
    )


async def test_a_cache_is_made_of_the_given_fields(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers["cachedContents"] = orjson.dumps(CACHE)
    assert await create(gateway) == CacheCreated(NAME, EXPIRES, 7021)
    assert upstream.requests[0].target == "/v1beta/cachedContents"
    assert orjson.loads(upstream.requests[0].body) == {
        "model": f"models/{MODEL}",
        "ttl": "600s",
        "displayName": "pipeweb:1",
        **orjson.loads(FIELDS),
    }


@pytest.mark.parametrize(
    "name", ["", "cachedContents/a\0", "cachedContents/\ud800", "cachedContents/" + "a" * 120]
)
async def test_a_name_that_cannot_be_stored_and_sent_is_none(
    gateway: Gateway, upstream: Upstream, name: str
) -> None:
    upstream.answers["cachedContents"] = json.dumps(CACHE | {"name": name}).encode()
    with pytest.raises(BrokenStream):
        await create(gateway)


async def test_caches_are_listed(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers["cachedContents"] = orjson.dumps({"cachedContents": [CACHE]})
    assert await gateway.list_caches() == (CacheListed(NAME, MODEL, "", EXPIRES, 7021),)


async def test_no_caches_are_no_caches(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers["cachedContents"] = b"{}"
    assert await gateway.list_caches() == ()


async def test_a_cache_lives_longer(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers[NAME] = orjson.dumps(CACHE)
    assert (await gateway.extend_cache(NAME, 7200)).expires == EXPIRES
    assert (upstream.requests[0].method, upstream.requests[0].body) == ("PATCH", b'{"ttl": "7200s"}')


async def test_a_cache_is_deleted(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers[NAME] = b"{}"
    await gateway.delete_cache(NAME)
    assert (upstream.requests[0].method, upstream.requests[0].target) == ("DELETE", f"/v1beta/{NAME}")


async def test_refusals_have_names(gateway: Gateway, upstream: Upstream) -> None:
    upstream.status = 400
    upstream.packets = [error_body(400, "Cached content is too small.", "INVALID_ARGUMENT")]
    with pytest.raises(CacheTooSmall):
        await create(gateway)
    upstream.status, upstream.packets = 429, [error_body(429, "limit=0", "RESOURCE_EXHAUSTED")]
    with pytest.raises(QuotaExceeded):
        await create(gateway)
    upstream.status = 403
    upstream.packets = [
        error_body(403, "CachedContent not found (or permission denied)", "PERMISSION_DENIED")
    ]
    for gone in (gateway.delete_cache(NAME), gateway.extend_cache(NAME, 60)):
        with pytest.raises(CacheGone):
            await gone


async def test_the_whole_request_is_counted(either: Gateway, upstream: Upstream) -> None:
    upstream.answers["countTokens"] = (
        b'{"totalTokens": 61, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 61}]}'
    )
    assert await either.count_tokens(MODEL, BODY) == 61
    assert upstream.requests[0].target == f"/v1beta/models/{MODEL}:countTokens"
    asked = orjson.loads(upstream.requests[0].body)["generateContentRequest"]
    assert asked == {"model": f"models/{MODEL}", **orjson.loads(BODY)}


async def test_an_empty_body_cannot_be_counted(gateway: Gateway) -> None:
    with pytest.raises(PromptError):
        await gateway.count_tokens(MODEL, b"{}")


async def test_a_count_that_is_no_json_is_broken(either: Gateway, upstream: Upstream) -> None:
    upstream.answers["countTokens"] = b"<html>"
    with pytest.raises(BrokenStream):
        await either.count_tokens(MODEL, BODY)


async def test_models_are_listed(gateway: Gateway, upstream: Upstream) -> None:
    model = {
        "name": f"models/{MODEL}",
        "displayName": "Flash",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }
    upstream.answers["models"] = orjson.dumps({"models": [model]})
    listed = ModelListed(MODEL, "Flash", 1_048_576, 65_536, ("generateContent", "countTokens"))
    assert await gateway.models() == (listed,)


async def test_an_answer_that_is_no_json_is_broken(gateway: Gateway, upstream: Upstream) -> None:
    upstream.answers["cachedContents"] = b"<html>"
    with pytest.raises(BrokenStream):
        await gateway.list_caches()
