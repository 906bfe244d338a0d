import orjson
import pytest
from google.genai import errors, types
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from sessions_app.emulator.usage import estimate_tokens
from tests.emulator.clock import Clock
from tests.emulator.helpers import (
    FLASH,
    Wire,
    answers,
    declare,
    generate,
    refusal,
    send,
    stream,
    text_of,
    user,
)

STATIC = "Everything that hardly ever changes. " * 100
BIG = {"model": f"models/{FLASH}", "contents": [user(STATIC)], "ttl": "600s"}
QUESTION = "Check the weather in Rome."
ANSWERED = answers(("get_current_temperature", {"temp": "21C"}))
GONE = "CachedContent not found (or permission denied)"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def emulator(clock: Clock) -> Emulator:
    return Emulator(delay=0, clock=clock)


@pytest.fixture
async def cache(sdk: AsyncClient) -> types.CachedContent:
    config = types.CreateCachedContentConfig(contents=[STATIC], ttl="600s", display_name="static")
    return await sdk.caches.create(model=FLASH, config=config)


async def test_a_cache_is_created_read_and_listed(sdk: AsyncClient, cache: types.CachedContent) -> None:
    again = await sdk.caches.get(name=cache.name or "")
    listed = [found.name async for found in await sdk.caches.list()]
    assert again == cache and listed == [cache.name]
    assert cache.display_name == "static" and cache.model == f"models/{FLASH}"
    assert cache.usage_metadata and cache.usage_metadata.total_token_count == estimate_tokens(STATIC)


def test_a_new_cache_is_described_as_recorded(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", "cachedContents", BIG)
    assert status == 200
    assert b'"createTime": "2026-01-02T03:04:05.000000Z"' in body
    assert b'"expireTime": "2026-01-02T03:14:05.000000000Z"' in body
    assert b'"displayName": ""' in body and b"hardly" not in body


async def test_a_hit_reports_the_tokens_of_the_cache(sdk: AsyncClient, cache: types.CachedContent) -> None:
    config = types.GenerateContentConfig(cached_content=cache.name)
    reply = await sdk.models.generate_content(model=FLASH, contents=[user("hello")], config=config)
    usage = reply.usage_metadata
    assert usage and usage.prompt_token_count and usage.cached_content_token_count == estimate_tokens(STATIC)
    assert usage.prompt_token_count == estimate_tokens(STATIC) + estimate_tokens("hello")
    assert cache.name and cache.name in (reply.text or "")


async def test_tools_in_a_cache_can_be_called(sdk: AsyncClient) -> None:
    tools = [types.Tool.model_validate(tool) for tool in declare(calculate=["expression"])]
    config = types.CreateCachedContentConfig(contents=[STATIC], tools=tools)
    made = await sdk.caches.create(model=FLASH, config=config)
    asked = types.GenerateContentConfig(cached_content=made.name)
    reply = await sdk.models.generate_content(model=FLASH, contents=["calculate 1+1"], config=asked)
    assert reply.function_calls and reply.function_calls[0].args == {"expression": "1+1"}


async def test_an_extended_cache_lives_longer(
    sdk: AsyncClient, cache: types.CachedContent, clock: Clock
) -> None:
    await sdk.caches.update(name=cache.name or "", config=types.UpdateCachedContentConfig(ttl="7200s"))
    clock.pass_seconds(7_199)
    assert (await sdk.caches.get(name=cache.name or "")).name == cache.name


@pytest.mark.parametrize("verb", ["get", "delete"])
async def test_an_expired_cache_is_a_403(
    sdk: AsyncClient, cache: types.CachedContent, clock: Clock, verb: str
) -> None:
    clock.pass_seconds(600)
    with pytest.raises(errors.ClientError, match="permission denied") as refused:
        await getattr(sdk.caches, verb)(name=cache.name)
    assert (refused.value.code, refused.value.status) == (403, "PERMISSION_DENIED")


async def test_a_deleted_cache_is_a_403_for_the_next_request(
    sdk: AsyncClient, cache: types.CachedContent
) -> None:
    await sdk.caches.delete(name=cache.name or "")
    config = types.GenerateContentConfig(cached_content=cache.name)
    with pytest.raises(errors.ClientError, match="permission denied"):
        await sdk.models.generate_content(model=FLASH, contents="hello", config=config)


def test_a_cache_of_another_key_is_a_403(emulator: Emulator) -> None:
    name = orjson.loads(send(emulator, "POST", "cachedContents", BIG)[1])["name"]
    assert send(emulator, "GET", name)[0] == 200
    assert send(emulator, "GET", name, key="another")[0] == 403


def test_below_the_minimum_is_refused_with_both_counts(emulator: Emulator) -> None:
    body = {"model": f"models/{FLASH}", "contents": [user("a" * 33)]}
    answer = send(emulator, "POST", "cachedContents", body)
    assert answer[0] == 400
    assert b"too small. total_token_count=10, min_total_token_count=1024" in answer[1]


def test_a_model_without_explicit_caches_is_refused(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", "cachedContents", {**BIG, "model": "models/gemini-4-argon"})
    assert status == 404 and b"not supported for createCachedContent" in body


def held(emulator: Emulator, *contents: Wire) -> str:
    """The name of a cache with these contents behind a long text, and one function."""
    body = {
        **BIG,
        "contents": [user(STATIC), *contents],
        "tools": declare(get_current_temperature=["location"]),
    }
    name: str = orjson.loads(send(emulator, "POST", "cachedContents", body)[1])["name"]
    return name


def asked(emulator: Emulator) -> Wire:
    """The call that the model makes for a question, as it came."""
    body = {"contents": [user(QUESTION)], "tools": declare(get_current_temperature=["location"])}
    found: Wire = generate(emulator, body)["candidates"][0]["content"]
    return found


def test_a_request_answers_the_call_at_the_end_of_its_cache(emulator: Emulator) -> None:
    """As google-adk sends it: the cache ends with the call, the request is the answer alone."""
    name = held(emulator, user(QUESTION), asked(emulator))
    reply = generate(emulator, {"cachedContent": name, "contents": [ANSWERED]})
    assert "21C" in text_of([reply])
    assert reply["usageMetadata"]["cachedContentTokenCount"] > estimate_tokens(STATIC)


def test_an_answer_without_a_call_in_the_cache_is_refused(emulator: Emulator) -> None:
    name = held(emulator, user(QUESTION))
    assert "immediately after a function call turn" in refusal(
        emulator, {"cachedContent": name, "contents": [ANSWERED]}
    )


def test_a_call_in_the_cache_needs_its_answer_and_its_signature(emulator: Emulator) -> None:
    call_turn = asked(emulator)
    name = held(emulator, user(QUESTION), call_turn)
    assert "number of function response parts" in refusal(
        emulator, {"cachedContent": name, "contents": [user("And now?")]}
    )
    unsigned = {**call_turn, "parts": [{"functionCall": call_turn["parts"][0]["functionCall"]}]}
    bare = held(emulator, user(QUESTION), unsigned)
    missing = refusal(emulator, {"cachedContent": bare, "contents": [ANSWERED]})
    assert "missing a thought_signature" in missing and "position 3" in missing


async def test_tools_beside_a_cache_are_refused(sdk: AsyncClient, cache: types.CachedContent) -> None:
    config = types.GenerateContentConfig(cached_content=cache.name, system_instruction="Be kind.")
    with pytest.raises(errors.ClientError, match="can not be used with GenerateContent request setting"):
        await sdk.models.generate_content(model=FLASH, contents="hello", config=config)


async def test_a_cache_of_another_model_is_refused(sdk: AsyncClient, cache: types.CachedContent) -> None:
    config = types.GenerateContentConfig(cached_content=cache.name)
    with pytest.raises(errors.ClientError, match=r"models/gemini-3.5-flash\) and CachedContent"):
        await sdk.models.generate_content(model="gemini-3.5-flash", contents="hello", config=config)


def test_a_list_has_pages(emulator: Emulator) -> None:
    for number in range(3):
        send(emulator, "POST", "cachedContents", {**BIG, "displayName": str(number)})
    first = send(emulator, "GET", "cachedContents", pageSize="2")[1]
    second = send(emulator, "GET", "cachedContents", pageSize="2", pageToken="2")[1]
    assert b'"nextPageToken": "2"' in first and b"nextPageToken" not in second
    assert second.count(b'"name"') == 1


def test_nothing_to_list_is_an_empty_object(emulator: Emulator) -> None:
    assert send(emulator, "GET", "cachedContents")[1] == b"{}\n"


@pytest.mark.parametrize("expiry", [{"ttl": "soon"}, {"ttl": "1s", "expireTime": "2030-01-01T00:00:00Z"}])
def test_an_unreadable_expiry_is_refused(emulator: Emulator, expiry: dict[str, str]) -> None:
    body = {"model": f"models/{FLASH}", "contents": [user(STATIC)], **expiry}
    assert send(emulator, "POST", "cachedContents", body)[0] == 400


def test_only_the_expiry_can_be_changed(emulator: Emulator) -> None:
    name = orjson.loads(send(emulator, "POST", "cachedContents", BIG)[1])["name"]
    assert send(emulator, "PATCH", name, {"displayName": "new"})[0] == 400
    assert send(emulator, "PATCH", name, {})[0] == 400


def test_an_implicit_hit_needs_a_repeated_beginning(emulator: Emulator) -> None:
    long = user("The same beginning, every time. " * 600)
    cached = [
        generate(emulator, {"contents": [long, user(text)]})["usageMetadata"].get("cachedContentTokenCount")
        for text in ("one", "two")
    ]
    assert cached == [None, estimate_tokens(long["parts"][0]["text"])]


def test_an_implicit_hit_is_told_in_the_answer(emulator: Emulator) -> None:
    body = {"contents": [user("The same beginning. " * 900), user("hello")]}
    stream(emulator, body)
    assert "implicit hit" in text_of(stream(emulator, body))


def test_a_missing_cache_comes_before_everything_else(emulator: Emulator) -> None:
    assert refusal(emulator, {"cachedContent": "cachedContents/none"}) == GONE
