"""Streams as the grammar of server-sent events allows them, read by the standard's algorithm and by ours."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.gemini.event_stream import EventSplitter
from sessions_app.gemini.line_buffer import LineBuffer

TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=6)
ENDS = st.sampled_from(["\r\n", "\n", "\r"])
FIELDS = st.one_of(
    st.tuples(st.sampled_from(["data", "event", "id", "retry"]), st.sampled_from([":", ": "]), TEXTS),
    st.tuples(st.just(""), st.just(":"), TEXTS),
    st.tuples(st.sampled_from(["data", "event", "id", "retry"]), st.just(""), st.just("")),
).map("".join)
LINES = st.lists(st.tuples(FIELDS | st.just(""), ENDS), max_size=12)
SIZES = st.lists(st.integers(1, 5), max_size=40)


def events_by_the_standard(stream: bytes) -> list[bytes]:
    """Its algorithm, on the text as a whole; what is left at the end has no blank line of its own here."""
    text = stream.decode().removeprefix("\ufeff")
    events: list[bytes] = []
    buffer = ""
    for line in re.split("\r\n|\n|\r", text + "\n\n"):
        name, colon, value = line.partition(":")
        if line == "":
            if buffer:
                events.append(buffer.removesuffix("\n").encode())
            buffer = ""
        elif colon and name == "":
            continue
        elif name == "data":
            buffer += value.removeprefix(" ") + "\n"
    return events


def split(stream: bytes, sizes: list[int]) -> list[bytes]:
    splitter, found = EventSplitter(), list[bytes]()
    for size in sizes:
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    return [*found, *splitter.feed(stream), *splitter.close()]


@given(st.sampled_from(["", "\ufeff"]), LINES, st.sampled_from(["", "data: {}"]), SIZES)
@example("\ufeff", [("data: {}", "\r"), ("", "\r")], "", [])
@example("", [("data: 1", "\r"), ("", "\n"), ("data: 2", "\r\n"), ("", "\r")], "", [1] * 40)
@example("", [("data", "\n"), ("id", "\n"), ("", "\n")], "", [])
def test_events_are_those_of_the_standard(
    mark: str, lines: list[tuple[str, str]], last: str, sizes: list[int]
) -> None:
    stream = (mark + "".join(line + end for line, end in lines) + last).encode()
    expected = [event for event in events_by_the_standard(stream) if event != b"[DONE]"]
    assert split(stream, sizes) == expected


def test_a_line_that_ends_with_cr_is_read_before_the_next_byte() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b"data: {}\r\r") == [b"{}"]
    assert splitter.feed(b"\ndata: {}\n\n") == [b"{}"]


def test_a_second_byte_order_mark_is_no_mark() -> None:
    lines = LineBuffer()
    lines.add("\ufeff\ufeff\n".encode())
    assert lines.first() == 0xEF and lines.line() == "\ufeff".encode()


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_each_byte_is_searched_once_for_each_end(end: bytes) -> None:
    """Many lines in one packet: what follows a line is not searched again for it."""
    lines = LineBuffer()
    packet = (b"x" * 9 + end) * 2_000
    lines.add(packet)
    counting = _Counting(lines._bytes)
    lines._bytes = counting
    while lines.first() is not None and lines.line() is not None:
        lines.drop_line()
    assert counting.searched <= 2 * len(packet)


class _Counting(bytearray):
    searched = 0

    def find(self, sub: bytes | int, start: int = 0, stop: int | None = None, /) -> int:  # type: ignore[override]
        stop = len(self) if stop is None else stop
        found = super().find(sub, start, stop)
        self.searched += (found + 1 if found >= 0 else stop) - start
        return found
