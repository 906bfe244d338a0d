"""How responses are framed; and every row of gemini-wire §3, as bytes and through the real SDK."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import orjson
import pytest
from google.genai import errors
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator, framing
from sessions_app.emulator.framing import BROKEN_FRAMINGS, StreamFault
from tests.emulator.helpers import FLASH, OPENING, send, user

PATH = f"models/{FLASH}:streamGenerateContent"
BODY = {"contents": [user("<b>日本語</b> & \"'")]}


def test_an_event_is_one_line_in_the_recorded_style() -> None:
    value = {"a": [1, {"b": "<é>"}], "c": "&'"}
    assert framing.line(value) == '{"a": [1,{"b": "\\u003cé\\u003e"}],"c": "&\'"}'.encode()


def test_events_end_with_two_line_ends(emulator: Emulator) -> None:
    raw = send(emulator, "POST", PATH, BODY, alt="sse")[1]
    frames = raw.split(b"\r\n\r\n")
    assert frames[-1] == b"" and all(frame.startswith(b'data: {"candidates": [{') for frame in frames[:-1])
    assert "日本語".encode() in raw and b"<" not in raw


def test_without_events_a_stream_is_one_array(emulator: Emulator) -> None:
    raw = send(emulator, "POST", PATH, BODY)[1]
    assert raw.startswith(b'[{\n  "candidates": [\n')
    assert len(orjson.loads(raw)) > 2


def test_an_error_before_a_stream_is_a_plain_object_or_a_list_of_one(emulator: Emulator) -> None:
    events, array = send(emulator, "POST", PATH, {}, alt="sse"), send(emulator, "POST", PATH, {})
    assert events[0] == array[0] == 400
    assert [orjson.loads(events[1])] == orjson.loads(array[1])
    assert array[1] == b"[" + events[1] + b"]"


def test_an_array_is_framed_as_google_frames_it() -> None:
    """The whole body: a line feed ends each element, and a comma and CRLF stand between them."""
    assert b"".join(framing.array([{"a": 1}, {"b": "<"}])) == (
        b'[{\n  "a": 1\n}\n,\r\n{\n  "b": "\\u003c"\n}\n]'
    )


def test_an_empty_array_is_still_an_array() -> None:
    assert b"".join(framing.array([])) == b"[]"


Read = Callable[[str], Awaitable[list[str]]]


@pytest.fixture
def read(sdk: AsyncClient) -> Read:
    """The texts of a stream through the SDK."""

    async def read(text: str) -> list[str]:
        chunks = await sdk.models.generate_content_stream(model=FLASH, contents=text)
        return [chunk.text or "" async for chunk in chunks]

    return read


def raw(emulator: Emulator, text: str) -> bytes:
    return send(emulator, "POST", PATH, {"contents": [user(text)]}, alt="sse")[1]


@pytest.mark.parametrize("name", ["feeds", "bytes"])
async def test_the_sdk_takes_odd_but_legal_framing(read: Read, name: str) -> None:
    assert OPENING in "".join(await read(f"/wire {name}"))


@pytest.mark.parametrize("name", ["comment", "named", "tight", "joined", "done", "torn"])
async def test_the_sdk_breaks_on_what_is_not_its_protocol(read: Read, name: str) -> None:
    with pytest.raises(errors.UnknownApiResponseError):
        await read(f"/wire {name}")


@pytest.mark.parametrize(("name", "code"), [("failing", 500), ("bare", 503), ("first", 503)])
async def test_an_error_inside_a_stream_reaches_the_sdk(read: Read, name: str, code: int) -> None:
    with pytest.raises(errors.ServerError) as broken:
        await read(f"/wire {name}")
    assert broken.value.code == code


async def test_an_array_in_place_of_events_is_one_empty_chunk(read: Read) -> None:
    assert await read("/wire array") == [""]


async def test_a_silent_stream_has_no_chunks(read: Read) -> None:
    assert await read("/wire silent") == []


async def test_a_close_in_mid_stream_breaks_the_protocol(read: Read) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        await read("/close")


async def test_a_reset_in_mid_stream_breaks_the_reading(read: Read) -> None:
    with pytest.raises(httpx2.ReadError):
        await read("/drop")


async def test_a_hangup_leaves_no_answer(read: Read, emulator: Emulator) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        await read("/hangup")
    assert emulator.journal.last.chunks == 0 and not emulator.journal.last.under_way


async def test_a_proxys_page_is_no_json(read: Read) -> None:
    with pytest.raises(errors.ServerError) as broken:
        await read("/proxy")
    assert broken.value.code == 502


async def test_a_stall_outlasts_the_clients_patience(http: httpx2.AsyncClient) -> None:
    body = {"contents": [user("/stall 1")]}
    async with http.stream("POST", f"/v1beta/{PATH}?alt=sse", json=body) as response:
        pieces = response.aiter_raw()
        await anext(pieces)
        await anext(pieces)
        with pytest.raises(TimeoutError):
            await _soon(anext(pieces))


async def _soon(awaited: Awaitable[bytes]) -> bytes:
    async with asyncio.timeout(0.05):
        return await awaited


def test_a_bare_error_follows_valid_events(emulator: Emulator) -> None:
    frames = raw(emulator, "/wire bare").split(b"\r\n\r\n")
    assert frames[0].startswith(b"data: ") and frames[-1].startswith(b'{\n  "error"')


@pytest.mark.parametrize("name", BROKEN_FRAMINGS)
def test_every_trouble_changes_the_pieces(name: str) -> None:
    pieces = [b'data: {"a": 1}\r\n\r\n'] * 3
    assert StreamFault(framing=name).apply(pieces) != pieces


async def test_a_continued_answer_comes_in_two_hops(read: Read, emulator: Emulator) -> None:
    told = "".join(await read("/continue"))
    assert OPENING in told and told.rstrip().endswith("~~~~")
    assert [entry.status for entry in emulator.journal] == [200, 200]


def test_a_continuation_token_of_somebody_else_is_refused(emulator: Emulator) -> None:
    status, body = send(
        emulator, "POST", PATH, {"contents": [user("a")], "continuationToken": "YWJj"}, alt="sse"
    )
    assert status == 400 and b"Invalid continuation token." in body


def test_a_content_can_be_without_parts(emulator: Emulator) -> None:
    assert b'"content": {"role": "model"},"finishReason": "STOP"' in raw(emulator, "/noparts")
