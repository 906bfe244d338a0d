"""Unkindness that stands beside the reply: caches, counts, models, headers and time."""

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.command_effects import UNKNOWN_FINISH
from sessions_app.emulator.faults import UNKIND, unkind
from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.slash_commands import CommandUse, find_commands, parse_faults
from tests.emulator.asking import LONG, STATIC, ask, create, saying
from tests.emulator.clock import Clock
from tests.emulator.helpers import FLASH, Wire, generate, parts, send, stream, user

CACHE = {"model": f"models/{FLASH}", "contents": [user(STATIC)]}


class Pauses:
    """A sleep that is over at once."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


def emulator_with(faults: str, clock: Clock, pauses: Pauses | None = None) -> Emulator:
    return Emulator(delay=0, clock=clock, faults=parse_faults(faults), sleep=pauses or Pauses())


@pytest.fixture
def emulator(clock: Clock, pauses: Pauses) -> Emulator:
    return emulator_with("", clock, pauses)


def headers_of(emulator: Emulator, text: str) -> tuple[int, dict[str, str]]:
    body = orjson.dumps(saying(text))
    path, key = f"/v1beta/models/{FLASH}:generateContent", {"x-goog-api-key": "emulator"}
    response = emulator.handle(ApiRequest("POST", path, {}, key, body))
    return response.status, dict(response.headers)


def test_a_message_takes_a_chance_and_a_seed() -> None:
    assert find_commands("/error 503 once p=0.25 seed=7 please") == (
        CommandUse("error", "503", once=True, probability=0.25, seed=7),
    )


def test_a_header_takes_once_and_later(emulator: Emulator) -> None:
    codes = [ask(emulator, saying(), fault="error 503 once")[0] for _ in range(2)]
    assert codes == [503, 200]
    assert ask(emulator, saying(), fault="error 503 later")[0] == 200


def test_a_cache_takes_its_time_to_be_created(clock: Clock, pauses: Pauses) -> None:
    emulator = emulator_with("creating 5", clock, pauses)
    for _ in range(20):
        assert send(emulator, "POST", "cachedContents", CACHE)[0] == 200
    assert len(set(pauses.seconds)) == 20 and all(0 <= seconds <= 5 for seconds in pauses.seconds)
    assert max(pauses.seconds) > 4 and min(pauses.seconds) < 1
    again = Pauses()
    repeated = emulator_with("creating 5", clock, again)
    for _ in range(20):
        send(repeated, "POST", "cachedContents", CACHE)
    assert again.seconds == pauses.seconds


def test_a_cache_vanishes_before_its_expiry(emulator: Emulator) -> None:
    name = create(emulator)
    seen = [ask(emulator, saying(text, cachedContent=name))[0] for text in ("a", "/vanish", "b")]
    assert seen == [200, 403, 403]
    assert send(emulator, "GET", name)[0] == 403


def test_vanish_once_waits_for_a_request_that_names_a_cache(emulator: Emulator) -> None:
    text, name = "/vanish once", create(emulator)
    assert ask(emulator, saying(text))[0] == 200
    assert ask(emulator, saying(text, cachedContent=name))[0] == 403
    assert ask(emulator, saying(text, cachedContent=create(emulator)))[0] == 200


def test_implicit_hits_fail_at_a_rate(clock: Clock) -> None:
    emulator = emulator_with("miss; p=0.5; seed=2", clock)
    hits = [bool(ask(emulator, saying(LONG))[1].cached) for _ in range(60)]
    assert 15 < sum(hits) < 45


def counts_of(emulator: Emulator, body: Wire) -> tuple[int, int, int]:
    """countTokens, and prompt and cached tokens of an answer."""
    counted = orjson.loads(send(emulator, "POST", f"models/{FLASH}:countTokens", body)[1])["totalTokens"]
    usage = generate(emulator, body)["usageMetadata"]
    thoughts, candidates = usage.get("thoughtsTokenCount", 0), usage["candidatesTokenCount"]
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + candidates + thoughts
    return counted, usage["promptTokenCount"], usage.get("cachedContentTokenCount", 0)


def test_counts_differ_by_up_to_eight_percent(clock: Clock) -> None:
    emulator = emulator_with("miscount", clock)
    ours = emulator_with("", clock)
    shares = []
    for number in range(40):
        body = {"contents": [user(LONG), user(str(number))]}
        for theirs, own in zip(counts_of(emulator, body), counts_of(ours, body), strict=True):
            shares.append(theirs / own - 1 if own else 0.0)
    assert -0.081 < min(shares) < -0.06 and 0.06 < max(shares) < 0.081


def test_what_was_cached_never_exceeds_the_prompt(clock: Clock) -> None:
    emulator = emulator_with("miscount", clock)
    for _ in range(30):
        _, prompt, cached = counts_of(emulator, saying(LONG))
        assert cached <= prompt


def test_a_created_cache_keeps_the_count_that_was_told(clock: Clock) -> None:
    emulator = emulator_with("miscount", clock)
    created = orjson.loads(send(emulator, "POST", "cachedContents", CACHE)[1])
    usage = generate(emulator, saying(cachedContent=created["name"]))["usageMetadata"]
    assert usage["cachedContentTokenCount"] == created["usageMetadata"]["totalTokenCount"]


@pytest.mark.parametrize("name", [FLASH, "gemini-2.5-flash"])
def test_another_model_answers_and_signs(emulator: Emulator, name: str) -> None:
    answer = generate(emulator, saying("/served"), name)
    assert answer["modelVersion"] not in ("", name)
    content = {"role": "model", "parts": parts(answer)}
    history = [user("/served"), content, user("and now?")]
    assert "error" not in generate(emulator, {"contents": history}, name)


def test_a_call_signed_by_the_other_model_is_refused_by_the_asked_one(emulator: Emulator) -> None:
    tools = [{"functionDeclarations": [{"name": "current_time"}]}]
    asked = generate(emulator, {**saying("what time is it /served"), "tools": tools})
    done = {"role": "user", "parts": [{"functionResponse": {"name": "current_time", "response": {}}}]}
    history = [user("what time is it"), {"role": "model", "parts": parts(asked)}, done]
    code, decision = ask(emulator, {"contents": history, "tools": tools})
    assert (code, decision.rule) == (400, "signature_refused")


def test_a_reason_and_a_part_that_nobody_knows(emulator: Emulator) -> None:
    chunks = stream(emulator, saying("/newreason /newpart"))
    assert chunks[-1]["candidates"][0]["finishReason"] == UNKNOWN_FINISH
    assert any("partOfNextYear" in part for chunk in chunks for part in parts(chunk))


def test_a_part_that_nobody_knows_is_taken_back(emulator: Emulator) -> None:
    answer = generate(emulator, saying("/newpart"))
    content = {"role": "model", "parts": parts(answer)}
    assert ask(emulator, {"contents": [user("hello"), content, user("and now?")]})[0] == 200


def test_a_busy_service_says_when_in_seconds(emulator: Emulator) -> None:
    status, headers = headers_of(emulator, "/retryafter 7")
    assert (status, headers["retry-after"]) == (429, "7")


def test_a_busy_service_says_when_as_a_date(emulator: Emulator, clock: Clock) -> None:
    status, headers = headers_of(emulator, "/retrydate 7")
    moments: list[datetime] = [parsedate_to_datetime(headers[name]) for name in ("date", "retry-after")]
    assert status == 429 and moments[0] == clock.now
    assert (moments[1] - moments[0]).total_seconds() == 7


def test_a_limit_says_what_is_left_and_when_it_is_reset(emulator: Emulator) -> None:
    status, headers = headers_of(emulator, "/ratelimit")
    limits = {name: value for name, value in headers.items() if name.startswith("x-ratelimit")}
    assert status == 429 and list(limits.values()) == ["10", "0", "2s"]


def test_the_first_chunk_is_late(emulator: Emulator, pauses: Pauses) -> None:
    stream(emulator, saying("/delay 9"))
    assert pauses.seconds[0] == 9 and not any(pauses.seconds[1:])


def test_faults_of_a_stream_add_up(emulator: Emulator, pauses: Pauses) -> None:
    path, body = f"models/{FLASH}:streamGenerateContent", saying("/delay 9 /stall 4 /wire comment")
    assert b": keep-alive" in send(emulator, "POST", path, body, alt="sse")[1]
    assert [seconds for seconds in pauses.seconds if seconds] == [9, 4]


def test_unkind_is_all_of_it_and_its_seed_decides(clock: Clock) -> None:
    words = {use.word for use in unkind(3)}
    assert words >= {"creating", "vanish", "miss", "miscount", "served", "corrupted", "continue", "newreason"}
    assert words >= {"newpart", "retryafter", "retrydate", "ratelimit", "delay", "think"}
    assert {use.seed for use in unkind(3)} == {3} and len(words) == UNKIND.count(",") + 1

    def run(seed: int) -> list[dict[str, Any]]:
        emulator = Emulator(delay=0, clock=clock, faults=unkind(seed), sleep=Pauses())
        return [ask(emulator, saying(LONG))[1].describe() for _ in range(60)]

    assert run(3) == run(3) != run(4)
    assert len({word for decision in run(3) for word in decision["faults"]}) > 6
