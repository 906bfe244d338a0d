"""What a key is good for, found out with one free call."""

import orjson
import pytest

from sessions_app.errors import excerpt
from sessions_app.gemini.key_check import check_key
from tests.gemini.conftest import KEY
from tests.gemini.upstream import Upstream

MODELS = b'{"models":[{"name":"models/gemini-3-flash-preview"},{"name":"models/gemini-2.5-flash"}]}'


def refusal(code: int, status: str, message: str, reason: str = "") -> bytes:
    details = [{"reason": reason}] if reason else []
    return orjson.dumps({"error": {"code": code, "status": status, "message": message, "details": details}})


async def test_a_key_that_works_says_how_much_it_can_use(upstream: Upstream) -> None:
    upstream.answers["/models"] = MODELS
    trial = await check_key(KEY, base_url=upstream.url)
    assert trial.result == "works" and "2" in trial.message


@pytest.mark.parametrize("key", ["", "  ", "two words", "clé", "a\nb"])
async def test_what_cannot_be_a_key_is_not_sent(upstream: Upstream, key: str) -> None:
    assert (await check_key(key, base_url=upstream.url)).result == "malformed"
    assert not upstream.requests


REFUSALS = {
    "refused": refusal(400, "INVALID_ARGUMENT", "API key not valid.", "API_KEY_INVALID"),
    "disabled": refusal(
        403, "PERMISSION_DENIED", "The API has not been used in project 1", "SERVICE_DISABLED"
    ),
    "quota": refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    "failed": refusal(503, "UNAVAILABLE", "Try again later."),
}


@pytest.mark.parametrize("result", REFUSALS)
async def test_every_refusal_has_its_own_result(upstream: Upstream, result: str) -> None:
    upstream.packets = [REFUSALS[result]]
    upstream.status = orjson.loads(REFUSALS[result])["error"]["code"]
    trial = await check_key(KEY, base_url=upstream.url)
    assert trial.result == result
    assert KEY not in trial.message + trial.hint


async def test_without_a_way_to_the_provider_nothing_is_said_about_the_key() -> None:
    assert (await check_key(KEY, base_url="http://127.0.0.1:9")).result == "unreachable"


async def test_a_long_refusal_is_an_excerpt_with_all_of_it_behind(upstream: Upstream) -> None:
    message = "You exceeded your current quota, e.g. the 2. of them. " * 20
    upstream.packets = [refusal(429, "RESOURCE_EXHAUSTED", message)]
    upstream.status = 429
    trial = await check_key(KEY, base_url=upstream.url)
    assert excerpt(message) in trial.message and trial.said == message.strip()
