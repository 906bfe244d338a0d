import orjson

from sessions_app.emulator import Emulator, framing
from tests.emulator.wire import FLASH, send, user

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


def test_an_empty_array_is_still_an_array() -> None:
    assert b"".join(framing.array([])) == b"[]"
