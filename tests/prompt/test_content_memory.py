"""What was computed of a content is computed once, and of a bounded number of bytes."""

import tracemalloc

import pytest

from sessions_app.prompt import content_memory
from sessions_app.prompt.content_memory import Remembered, remembered


@pytest.fixture
def counted() -> list[bytes]:
    """The contents that were measured."""
    return []


def test_an_equal_content_is_not_measured_again(counted: list[bytes]) -> None:
    @remembered
    def size(content: bytes) -> int:
        counted.append(content)
        return len(content)

    assert [size(b"one"), size(b"three"), size(bytes(bytearray(b"one")))] == [3, 5, 3]
    assert counted == [b"one", b"three"]


def test_an_error_is_raised_each_time(counted: list[bytes]) -> None:
    @remembered
    def refused(content: bytes) -> int:
        counted.append(content)
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            refused(b"one")
    assert len(counted) == 2


def test_beyond_the_limit_it_begins_anew(counted: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_memory, "LIMIT", 8)
    monkeypatch.setattr(content_memory, "ENTRY", 0)
    monkeypatch.setattr(content_memory, "LARGEST", 4)

    @remembered
    def size(content: bytes) -> int:
        counted.append(content)
        return len(content)

    for content in (b"aaaa", b"bbbb", b"aaaa", b"cccc", b"aaaa", b"large", b"large"):
        size(content)
    assert counted == [b"aaaa", b"bbbb", b"cccc", b"aaaa", b"large", b"large"]


def test_many_short_contents_take_no_more_memory_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_memory, "LIMIT", 1_000_000)
    size, most = remembered(len), 0
    tracemalloc.start()
    try:
        for number in range(20_000):
            size(b"%032d" % number)
            most = max(most, tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert 500_000 < most < 1_100_000


def test_of_many_contents_only_those_are_measured_that_are_new(counted: list[bytes]) -> None:
    @remembered
    def size(content: bytes) -> int:
        counted.append(content)
        return len(content)

    size(b"one")
    assert size.of_all([b"one", b"three", b"three", b"one"]) == [3, 5, 5, 3]
    assert counted[:2] == [b"one", b"three"]
    size.forget()
    assert size(b"one") == 3 and counted[-1] == b"one"


def test_what_is_no_bytes_says_its_size_itself(counted: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_memory, "LARGEST", 4)

    def joined(given: tuple[str, bytes]) -> bytes:
        counted.append(given[1])
        return given[0].encode() + given[1]

    known = Remembered(joined, lambda given: len(given[1]))
    for given in (("a", b"one"), ("b", b"one"), ("a", b"one"), ("a", b"large"), ("a", b"large")):
        known(given)
    assert counted == [b"one", b"one", b"large", b"large"]
