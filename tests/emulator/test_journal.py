import asyncio

import httpx2
import orjson

from sessions_app.emulator import Emulator
from sessions_app.emulator.http import ApiRequest
from tests.emulator.helpers import FLASH, send, user

STREAM = f"models/{FLASH}:streamGenerateContent"


def look(emulator: Emulator, path: str = "/_emulator", **headers: str) -> tuple[str, str]:
    """Content type and text, asked without a key."""
    response = emulator.handle(ApiRequest("GET", path, {}, headers))
    assert response.status == 200

    async def read() -> bytes:
        return b"".join([piece async for piece in response.body])

    return response.headers["content-type"], asyncio.run(read()).decode()


def test_it_tells_what_came_and_what_was_answered(emulator: Emulator) -> None:
    send(emulator, "POST", STREAM, {"contents": [user("hello there")]}, alt="sse")
    kind, text = look(emulator)
    assert kind.startswith("text/html")
    assert "hello there" in text and "I am an emulator" in text and "complete" in text


def test_the_json_has_the_same_facts(emulator: Emulator) -> None:
    send(emulator, "POST", STREAM, {"contents": [user("hello")]}, alt="sse")
    send(emulator, "POST", "cachedContents", {"model": FLASH, "contents": [user("word " * 1_000)]})
    told = orjson.loads(look(emulator, "/_emulator.json")[1])
    made, streamed = told["requests"]
    assert (streamed["status"], streamed["closedEarly"], streamed["underWay"]) == (200, False, False)
    assert streamed["chunks"] > 3 and streamed["bytes"] > 1_000 and "hello" in streamed["request"]
    assert made["answer"].startswith("{") and told["caches"][0]["model"] == f"models/{FLASH}"


def test_who_accepts_json_gets_json(emulator: Emulator) -> None:
    assert look(emulator, accept="application/json")[0].startswith("application/json")


def test_what_strangers_sent_is_escaped_and_keys_are_not_shown(emulator: Emulator) -> None:
    send(
        emulator,
        "POST",
        STREAM,
        {"contents": [user("<script>alert(1)</script>")]},
        key="secret-key",
        alt="sse",
    )
    text = look(emulator)[1]
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert "secret-key" not in text + look(emulator, "/_emulator.json")[1]


def test_looking_leaves_no_trace(emulator: Emulator) -> None:
    assert look(emulator) == look(emulator) and not len(emulator.journal)


async def test_an_early_close_is_told(emulator: Emulator, http: httpx2.AsyncClient) -> None:
    body = {"contents": [user("/slow")]}
    async with http.stream("POST", f"/v1beta/{STREAM}?alt=sse", json=body) as response:
        await anext(response.aiter_raw())
    told = (await http.get("/_emulator.json")).json()["requests"][0]
    assert told["closedEarly"] and told["chunks"] < 50


def test_a_long_answer_is_kept_only_in_part(emulator: Emulator) -> None:
    send(emulator, "POST", STREAM, {"contents": [user("/long " + "a" * 100_000)]}, alt="sse")
    entry = emulator.journal.last
    entry.send(b"a" * 100_000)
    assert len(entry.answer) == 65_536 and entry.sent > 100_000
