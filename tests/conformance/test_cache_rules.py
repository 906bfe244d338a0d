"""gemini-wire §7 and §2: one test a rule about caches."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from sessions_app.emulator import Emulator
from tests.emulator.clock import Clock
from tests.emulator.helpers import FLASH, Wire, declare, generate, parts, refusal, send, user

TEXT = "word " * 1_000
BODY: Wire = {"model": f"models/{FLASH}", "contents": [user(TEXT)]}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def emulator(clock: Clock) -> Emulator:
    return Emulator(delay=0, clock=clock)


def create(emulator: Emulator, **more: object) -> Wire:
    made: Wire = orjson.loads(send(emulator, "POST", "cachedContents", BODY | more)[1])
    return made


def usage(emulator: Emulator, made: Wire, *contents: Wire) -> Wire:
    body = {"contents": list(contents) or [user("hello")], "cachedContent": made["name"]}
    found: Wire = generate(emulator, body)["usageMetadata"]
    return found


def test_the_default_life_is_an_hour(emulator: Emulator) -> None:
    assert create(emulator)["expireTime"] == "2026-01-01T01:00:00.000000000Z"


def test_a_life_is_seconds_with_fractions(emulator: Emulator) -> None:
    assert create(emulator, ttl="1.5s")["expireTime"] == "2026-01-01T00:00:01.500000000Z"


def test_an_offset_is_a_time_too(emulator: Emulator) -> None:
    made = create(emulator, expireTime="2026-01-01T03:00:00+02:00")
    assert made["expireTime"] == "2026-01-01T01:00:00.000000000Z"


def test_a_life_is_said_one_way(emulator: Emulator) -> None:
    assert create(emulator, ttl="5s", expireTime="2027-01-01T00:00:00Z")["error"]["code"] == 400


def test_a_name_has_40_letters(emulator: Emulator) -> None:
    name = create(emulator)["name"].removeprefix("cachedContents/")
    assert len(name) == 40 and name.isalnum() and name == name.lower()


def test_what_was_cached_is_never_echoed(emulator: Emulator) -> None:
    made = create(emulator, tools=declare(f=[]), systemInstruction=user("be terse"))
    assert not {"contents", "tools", "systemInstruction"} & made.keys()


def test_the_cached_count_is_the_caches_own(emulator: Emulator) -> None:
    made = create(emulator)
    told = usage(emulator, made)
    assert told["cachedContentTokenCount"] == made["usageMetadata"]["totalTokenCount"]
    assert told["promptTokenCount"] == told["cachedContentTokenCount"] + 2


def test_what_is_sent_again_is_billed_again(emulator: Emulator) -> None:
    made = create(emulator)
    twice = usage(emulator, made, user(TEXT), user("hello"))
    assert twice["promptTokenCount"] == 2 * made["usageMetadata"]["totalTokenCount"] + 2


def test_a_patch_without_a_mask_extends(emulator: Emulator, clock: Clock) -> None:
    made = create(emulator, ttl="10s")
    send(emulator, "PATCH", made["name"], {"ttl": "7200s"})
    clock.now += timedelta(hours=1)
    assert usage(emulator, made)["cachedContentTokenCount"]


def test_an_expired_cache_cannot_be_revived(emulator: Emulator, clock: Clock) -> None:
    made = create(emulator, ttl="10s")
    clock.now += timedelta(seconds=10)
    assert send(emulator, "PATCH", made["name"], {"ttl": "60s"})[0] == 403


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_a_missing_cache_is_a_403_whatever_is_asked(emulator: Emulator, method: str) -> None:
    body = {"ttl": "5s"} if method == "PATCH" else None
    assert send(emulator, method, "cachedContents/none", body)[0] == 403


def test_a_deleted_cache_answers_with_nothing_and_is_gone(emulator: Emulator) -> None:
    made = create(emulator)
    assert orjson.loads(send(emulator, "DELETE", made["name"])[1]) == {}
    body = {"contents": [user("a")], "cachedContent": made["name"]}
    assert refusal(emulator, body) == "CachedContent not found (or permission denied)"


def test_a_cache_belongs_to_its_key(emulator: Emulator) -> None:
    assert send(emulator, "GET", create(emulator)["name"], key="another")[0] == 403


def test_generation_settings_may_stand_beside_a_cache(emulator: Emulator) -> None:
    body = {"contents": [user("a")], "cachedContent": create(emulator)["name"]}
    assert not refusal(emulator, body | {"generationConfig": {"temperature": 1}, "safetySettings": []})


def test_a_system_instruction_is_enough_for_a_cache(emulator: Emulator) -> None:
    assert "name" in create(emulator, contents=[], systemInstruction=user(TEXT))


def test_cached_tools_are_honoured(emulator: Emulator) -> None:
    forced = {"functionCallingConfig": {"mode": "ANY"}}
    made = create(emulator, tools=declare(check_flight=["flight"]), toolConfig=forced)
    answer = generate(emulator, {"contents": [user("hello")], "cachedContent": made["name"]})
    assert parts(answer)[0]["functionCall"]["name"] == "check_flight"


def test_no_caches_are_an_empty_object(emulator: Emulator) -> None:
    assert orjson.loads(send(emulator, "GET", "cachedContents")[1]) == {}


@pytest.mark.parametrize(("served", "minimum"), [(FLASH, 4_096), ("gemini-2.5-flash", 2_048)])
def test_an_implicit_hit_needs_its_minimum(emulator: Emulator, served: str, minimum: int) -> None:
    hits = []
    for tokens in (minimum - 40, minimum + 40):
        body = {"contents": [user(str(tokens) + "a" * (tokens * 33 // 10)), user("hello")]}
        generate(emulator, body, served)
        hits.append(generate(emulator, body, served)["usageMetadata"].get("cachedContentTokenCount", 0))
    assert hits[0] == 0 and hits[1] >= minimum


def test_an_implicit_hit_ends_where_the_bytes_differ(emulator: Emulator) -> None:
    first, second = ({"contents": [user("a" * 33_000), user(text)]} for text in ("one", "another"))
    generate(emulator, first)
    assert generate(emulator, second)["usageMetadata"]["cachedContentTokenCount"] == 10_000
