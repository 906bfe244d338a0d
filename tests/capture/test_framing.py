"""The chunks of an answer, and what stands around them."""

from collections.abc import Sequence
from itertools import accumulate

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.capture.framing import cut_answer

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
CHUNKS = st.lists(TEXT.map(lambda text: {"text": text, "n": [1, {"of": text}]}), min_size=1, max_size=5)
FRAMINGS = {
    "events": (b"data: ", b"\n\ndata: ", b"\n\n"),
    "events with carriage returns": (b"data: ", b"\r\n\r\ndata: ", b"\r\n\r\n"),
    "an array": (b"[", b"\n,\r\n", b"\n]\n"),
    "alone": (b"", b"", b"\n"),
}


def split(body: bytes, cuts: Sequence[int]) -> list[tuple[float, int]]:
    """Packets of these sizes, one each ten milliseconds."""
    places = sorted({at % (len(body) + 1) for at in cuts} | {len(body)} - {0})
    sizes = [end - start for start, end in zip([0, *places], places, strict=False)]
    return [(10.0 * at, size) for at, size in enumerate(sizes, start=1)]


@given(CHUNKS, st.sampled_from(sorted(FRAMINGS)), st.booleans(), st.lists(st.integers(0, 9_999), max_size=9))
def test_chunks_and_framing_are_the_answer_again(
    values: list[object], name: str, is_indented: bool, cuts: list[int]
) -> None:
    before, between, after = FRAMINGS[name]
    # Events of server-sent events are lines.
    option = orjson.OPT_INDENT_2 if is_indented and not name.startswith("events") else None
    chunks = [orjson.dumps(value, option=option) for value in (values[:1] if name == "alone" else values)]
    body = before + between.join(chunks) + after
    packets = split(body, cuts)
    found = cut_answer(body, packets, 999.0)
    assert [one.body for one in found.chunks] == chunks
    assert found.framing and found.framing.joined(chunks) == body
    assert [one.ms for one in found.chunks] == [_arrived(packets, end) for end in _ends(body, chunks)]


def _ends(body: bytes, chunks: list[bytes]) -> list[int]:
    at, found = 0, []
    for chunk in chunks:
        at = body.index(chunk, at) + len(chunk)
        found.append(at)
    return found


def _arrived(packets: list[tuple[float, int]], end: int) -> float:
    """When so many bytes were there."""
    sums = accumulate(size for _, size in packets)
    return next(ms for (ms, _), total in zip(packets, sums, strict=True) if total >= end)


@given(st.binary(max_size=60), st.lists(st.integers(0, 99), max_size=5))
def test_nothing_that_came_raises(body: bytes, cuts: list[int]) -> None:
    found = cut_answer(body, split(body, cuts), 5.0)
    assert found.framing is None or found.framing.joined([one.body for one in found.chunks]) == body


@given(CHUNKS, st.sampled_from(sorted(FRAMINGS)), st.integers(0, 9_999))
def test_a_cut_answer_has_the_chunks_that_came_whole(values: list[object], name: str, cut: int) -> None:
    before, between, after = FRAMINGS[name]
    chunks = [orjson.dumps(value) for value in (values[:1] if name == "alone" else values)]
    body = before + between.join(chunks) + after
    ends = _ends(body, chunks)
    body = body[: cut % len(body)]
    found = cut_answer(body, [(1.0, len(body))], 5.0)
    whole = [one.body for one in found.chunks]
    came = [chunk for chunk, end in zip(chunks, ends, strict=True) if end <= len(body)]
    assert whole[: len(came)] == came or name.startswith("events")
    assert found.framing is None or found.framing.joined(whole) == body


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"null", b"data: \xff\n\n", b'{"a": ', b"[1, 2]", b"data: x"]
)
def test_an_answer_of_another_kind_is_kept_as_it_can_be(body: bytes) -> None:
    found = cut_answer(body, [(1.0, len(body))], 5.0)
    assert found.framing is None or found.framing.joined([one.body for one in found.chunks]) == body


def test_gaps_that_differ_have_no_framing() -> None:
    assert cut_answer(b"data: {}\n\ndata: {}\n\n\n\ndata: {}\n\n", [], 5.0).framing is None


def test_what_arrived_in_no_known_packet_has_the_time_of_the_end() -> None:
    assert [one.ms for one in cut_answer(b"data: {}\n\n", [], 5.0).chunks] == [5.0]
