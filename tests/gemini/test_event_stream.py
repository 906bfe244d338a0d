import json
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.errors import BadKey, BrokenStream, GatewayError, ProviderDown
from sessions_app.gemini.event_stream import EventSplitter, read_event
from tests.gemini.upstream import error_body, event, framed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\{}[]\u2028é😀\n', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=4)


def split(packets: list[bytes]) -> list[bytes]:
    splitter = EventSplitter()
    return [body for packet in packets for body in splitter.feed(packet)] + splitter.close()


def cut(text: bytes, lengths: list[int]) -> list[bytes]:
    packets = []
    for length in lengths:
        packets.append(text[:length])
        text = text[length:]
    return [*packets, text]


@given(OBJECTS, st.sampled_from([b"\r\n", b"\n"]), st.lists(st.integers(1, 12)))
def test_packets_make_no_difference(objects: list[object], end: bytes, lengths: list[int]) -> None:
    sent = [orjson.dumps(one) for one in objects]
    assert split(cut(framed(*sent, end=end), lengths)) == sent


PIECES = [
    *(b"data: {}\n\n", b'data: {"a":1}\r\n\r\n', b"data: {}\n", b"data: {", b"}\n\n", b"data: [DONE]\n\n"),
    *(b"\n", b"\r\n", b": comment\n", b"[", b'[{"b":2},', b"]", b'{"c":"\\n"}\n', b"data: {}\r\n\n"),
]


def outcome(packets: list[bytes]) -> list[bytes] | str:
    try:
        return split(packets)
    except BrokenStream as error:
        return str(error)


PACKETS = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map(b"".join), max_size=4)


@given(PACKETS)
@example([b"data: {}\n\ndata: {}\n", b"data: {}\n\n"])
@example([b"data: {}\n\ndata: {", b"data: {}\n\n"])
def test_a_packet_that_is_one_event_is_read_as_its_bytes_are(packets: list[bytes]) -> None:
    assert outcome(packets) == outcome([bytes([byte]) for byte in b"".join(packets)])


@given(OBJECTS, st.sampled_from([None, 2]), st.lists(st.integers(1, 12)))
def test_an_array_is_cut_into_its_objects(objects: list[object], indent: int, lengths: list[int]) -> None:
    text = json.dumps(objects, indent=indent, ensure_ascii=False).encode()
    assert [orjson.loads(body) for body in split(cut(text, lengths))] == objects


def test_elements_of_an_array_are_verbatim() -> None:
    assert split([b'[{ "a" :1}\n,\r\n{"b": [ {} ]}]\n']) == [b'{ "a" :1}', b'{"b": [ {} ]}']


def test_one_byte_per_packet_and_two_events_in_one() -> None:
    stream = framed(event("é😀"), event("b"))
    assert split([bytes([byte]) for byte in stream]) == split([stream]) == [event("é😀"), event("b")]


@pytest.mark.parametrize(
    "text",
    [
        b": comment\nid: 7\nevent: message\nretry: 10\ndata: {}\n\n",
        b"data:{}\n\n",
        b"data: {}",
        b"data: {}\n",
        b"\n\n\r\ndata: {}\n\n\n\n",
        b"data: {\ndata: }\n\n",
    ],
)
def test_what_servers_add_is_tolerated(text: bytes) -> None:
    assert [orjson.loads(body) for body in split([text])] == [{}]


def test_a_bare_object_may_follow_frames_and_precede_them() -> None:
    bare = b'{\n  "a": "}\\"",\n\n  "b": [1]\n}\n'
    text = framed(b"{}") + bare + framed(b'{"c":1}')
    for packets in ([text], [bytes([byte]) for byte in text]):
        assert split(packets) == [b"{}", bare.rstrip(), b'{"c":1}']


@pytest.mark.parametrize("text", [b"<html>\n", b'"text"\n', b"HTTP/1.1 200 OK\r\n"])
def test_other_lines_are_broken(text: bytes) -> None:
    with pytest.raises(BrokenStream):
        split([text])


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("line", [b"upstream connect error\n", b"<html>\r\nmore"])
def test_what_is_broken_loses_no_event_before_it(line: bytes, size: int) -> None:
    text, splitter = framed(event("a"), event("b")), EventSplitter()
    *packets, last = (text[at : at + size] for at in range(0, len(text), size))
    found: list[bytes] = []
    with pytest.raises(BrokenStream):  # noqa: PT012
        for packet in (*packets, last + line):
            found += splitter.feed(packet)
        splitter.close()
    assert found == [event("a"), event("b")] and line.startswith(splitter.unread)


@pytest.mark.parametrize(
    ("text", "unread"), [(b"[1,", b"[1,"), (b'[{"a":1},', b","), (b'[{"a":1},{"b', b'{"b')]
)
def test_what_was_not_read_begins_behind_the_last_event(text: bytes, unread: bytes) -> None:
    splitter = EventSplitter()
    splitter.feed(text)
    assert splitter.unread == unread


@pytest.mark.parametrize("text", [b'{"a": {', b'[{"a": 1}', b'{"a": "}'])
def test_a_bare_value_that_never_closes_is_broken(text: bytes) -> None:
    with pytest.raises(BrokenStream):
        split([text])


def test_megabytes_are_read_once() -> None:
    big = event("x" * 3_000_000)
    packets = cut(framed(big), [1_000] * 2_900)
    assert split(packets) == [big]


@pytest.mark.parametrize("body", [b"[DONE]", b"{", b'"words"', b"[]", b"[{}]", b'{"a":"\xff"}', b"[" * 99])
def test_what_is_no_object_is_broken(body: bytes) -> None:
    with pytest.raises(BrokenStream):
        read_event(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":{}}',
        b'{"a":"\\ud83d"}',
        b'{"a":"\\u0000"}',
        b'{"candidates":[],"error":1}',
        b'{"choices":[],"error":null}',
    ],
)
def test_odd_objects_pass(body: bytes) -> None:
    assert read_event(body)


def test_an_error_is_seen_wherever_its_key_stands() -> None:
    error = orjson.loads(error_body(503, "High demand.", "UNAVAILABLE"))
    for shape in (error, {"responseId": "x", **error}, [error]):
        with pytest.raises(ProviderDown, match="High demand") as caught:
            read_event(orjson.dumps(shape))
        assert caught.value.code == 503


def test_an_error_of_one_word_is_still_an_error() -> None:
    with pytest.raises(GatewayError, match="overloaded"):
        read_event(b'{"error":"overloaded"}')


def test_the_key_is_masked_in_an_error_event() -> None:
    with pytest.raises(BadKey, match=r"^API key not valid: \[API key\]$"):
        read_event(error_body(400, "API key not valid: a-k3y-k3y", "INVALID_ARGUMENT"), secret="a-k3y-k3y")


def test_every_recorded_stream_splits_into_its_chunks(recordings: Path) -> None:
    """Byte-true recordings, both framings; the recorder's own parse is the oracle."""
    seen = 0
    for path in sorted(recordings.glob("*.json")):
        for exchange in orjson.loads(path.read_bytes())["exchanges"]:
            raw = exchange.get("raw_sse")
            if raw and exchange["status"] == 200:
                found = [orjson.loads(body) for body in split(cut(raw.encode(), [7] * 50))]
                assert found == exchange["response_chunks"], path.name
                seen += 1
    assert seen > 20
