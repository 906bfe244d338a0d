"""A cache is bounded by the bytes of its values, and forgets those that were used least recently."""

import tracemalloc
from hashlib import sha256

import pytest

from sessions_app.metrics import REGISTRY
from sessions_app.models import byte_cache
from sessions_app.models.byte_cache import ByteCache


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> ByteCache[str, str]:
    monkeypatch.setattr(byte_cache, "CACHE_SIZE", 80)
    monkeypatch.setattr(byte_cache, "ENTRY", 0)
    return ByteCache("tested")


def test_the_least_recently_used_value_goes_first(cache: ByteCache[str, str]) -> None:
    for name in "abcdefgh":
        cache.put(name, name, 10)
    assert cache.find("a") == "a"
    cache.put("i", "i", 10)
    assert [name for name in "abcdefghi" if cache.find(name) is None] == ["b"]


def test_a_value_that_is_put_again_counts_once(cache: ByteCache[str, str]) -> None:
    for name in "aaaabcdefgh":
        cache.put(name, name, 10)
    assert all(cache.find(name) for name in "abcdefgh")


def test_a_large_value_drives_nothing_out(cache: ByteCache[str, str]) -> None:
    cache.put("a", "a", 10)
    cache.put("b", "b", 11)
    assert (cache.find("a"), cache.find("b")) == ("a", None)


def test_nothing_is_left_of_what_was_cleared(cache: ByteCache[str, str]) -> None:
    cache.put("a", "a", 10)
    cache.clear()
    assert cache.find("a") is None


def test_values_that_are_asked_for_together_are_used_together(cache: ByteCache[str, str]) -> None:
    for name in "abcdefgh":
        cache.put(name, name, 10)
    assert cache.find_all(["a", "x", "b"]) == ["a", None, "b"]
    cache.put("i", "i", 10)
    cache.put("j", "j", 10)
    assert cache.find_all("abcdefghij") == ["a", "b", None, None, *"efghij"]


def test_many_short_values_take_no_more_memory_than_the_limit() -> None:
    cache = ByteCache[str, bytes]("tested", limit=2_000_000)
    tracemalloc.start()
    try:
        for number in range(20_000):
            wire = b"%032d" % number
            cache.put(sha256(wire).hexdigest(), wire, len(wire))
        assert 1_000_000 < tracemalloc.get_traced_memory()[0] < 2_000_000
    finally:
        tracemalloc.stop()


def test_metrics_say_how_much_is_kept(cache: ByteCache[str, str]) -> None:
    for name in "abcdefghi":
        cache.put(name, name, 10)
    assert REGISTRY.get_sample_value("pipeweb_memory_cache_bytes", {"values": "tested"}) == 80
    cache.clear()
    assert REGISTRY.get_sample_value("pipeweb_memory_cache_bytes", {"values": "tested"}) == 0
