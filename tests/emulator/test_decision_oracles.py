"""Each decision beside one that is made here, naively, by other code."""

from random import Random

import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.decisions import CacheState, Rule
from tests.emulator.asking import OTHER, ask, create, saying
from tests.emulator.clock import Clock
from tests.emulator.helpers import FLASH, send, user


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def emulator(clock: Clock) -> Emulator:
    return Emulator(delay=0, clock=clock)


class NaivePrefixes:
    """Compares a request with every earlier one, byte by byte, in whole blocks of 1,024 bytes."""

    def __init__(self) -> None:
        self._earlier: list[tuple[str, list[bytes]]] = []

    def longest(self, scope: str, texts: list[bytes]) -> int:
        known = [self._common(before, texts) for owner, before in self._earlier if owner == scope]
        self._earlier.append((scope, texts))
        return max(known, default=0)

    @staticmethod
    def _common(before: list[bytes], now: list[bytes]) -> int:
        total = 0
        for old, new in zip(before, now, strict=False):
            if old == new:
                total += len(new)
                continue
            pairs = enumerate(zip(old, new, strict=False))
            alike = next((at for at, (one, two) in pairs if one != two), min(len(old), len(new)))
            return total + alike - alike % 1_024
        return total


def random_contents(rng: Random, stem: list[str]) -> list[str]:
    """The stem, cut, changed or gone on with."""
    texts = list(stem[: rng.randint(1, len(stem))])
    if rng.random() < 0.3:
        at = rng.randrange(len(texts))
        place = rng.randrange(len(texts[at]))
        texts[at] = texts[at][:place] + "~" + texts[at][place + 1 :]
    return [*texts, *("z" * rng.randint(1, 3_000) for _ in range(rng.randint(0, 2)))]


@pytest.mark.parametrize("seed", range(10))
def test_hits_and_misses_are_those_of_a_naive_comparison(emulator: Emulator, seed: int) -> None:
    rng, naive = Random(seed), NaivePrefixes()
    stem = ["".join(rng.choices("abc déf日", k=rng.randint(500, 6_000))) for _ in range(4)]
    minimums = {FLASH: 4_096, "gemini-2.5-flash": 2_048}
    hits = 0
    for _ in range(40):
        name, key = rng.choice(list(minimums)), rng.choice(["one", "two"])
        texts = random_contents(rng, stem)
        decision = ask(emulator, {"contents": [user(text) for text in texts]}, name, key=key)[1]
        size = naive.longest(f"{key} {name}", [text.encode() for text in texts])
        assert decision.prefix and decision.prefix.bytes == size
        assert abs(decision.prefix.tokens - size / 3.3) <= len(texts)
        assert decision.prefix.minimum == minimums[name]
        expected = decision.prefix.tokens >= minimums[name]
        assert decision.rule.is_hit == expected and bool(decision.cached) == expected
        assert (decision.rule is Rule.NOTHING_HELD) == (size == 0)
        hits += expected
    assert hits


class Ended:
    """What is known here of a cache."""

    def __init__(self, key: str, name: str, expires: float) -> None:
        self.key, self.model, self.expires = key, name, expires
        self.state = CacheState.LIVE

    def at(self, now: float) -> CacheState:
        is_over = self.state is CacheState.LIVE and now >= self.expires
        return CacheState.EXPIRED if is_over else self.state


@pytest.mark.parametrize("seed", range(10))
def test_states_of_caches_are_those_of_a_list_kept_here(emulator: Emulator, clock: Clock, seed: int) -> None:
    rng, now, known = Random(seed), 0.0, dict[str, Ended]()
    for _ in range(60):
        key, name = rng.choice(["one", "two"]), rng.choice([FLASH, OTHER])
        act = rng.choice(["create", "wait", "delete", "use", "use", "use", "vanish"])
        if act == "create" or not known:
            known[create(emulator, name, key=key)] = Ended(key, name, now + 600)
        elif act == "wait":
            seconds = rng.choice([1, 100, 300])
            clock.pass_seconds(seconds)
            now += seconds
        else:
            cache = rng.choice(list(known))
            use(emulator, act, cache, known[cache], now, key=key, name=name)


def use(
    emulator: Emulator,
    act: str,
    cache: str,
    entry: Ended,
    now: float,
    *,
    key: str,
    name: str,
) -> None:
    """Deletes the cache, or asks with it, and compares what the journal says of all that fit."""
    entry.state = entry.at(now)
    if act == "delete":
        status, _ = send(emulator, "DELETE", cache, key=key)
        is_own = entry.state is CacheState.LIVE and entry.key == key
        assert (status == 200) == is_own
        entry.state = CacheState.DELETED if is_own else entry.state
        return
    status, decision = ask(
        emulator, saying(cachedContent=cache), name, key=key, fault="vanish" if act == "vanish" else ""
    )
    if act == "vanish" and entry.state is CacheState.LIVE:
        entry.state = CacheState.VANISHED
    (finding,) = decision.caches
    assert (finding.state, finding.is_named) == (entry.state, True)
    assert (finding.is_other_key, finding.is_other_model) == (entry.key != key, entry.model != name)
    rule, code = Rule.EXPLICIT_HIT, 200
    if entry.state is not CacheState.LIVE or entry.key != key:
        rule, code = Rule.CACHE_GONE, 403
    elif entry.model != name:
        rule, code = Rule.CACHE_OF_OTHER_MODEL, 400
    assert (decision.rule, status) == (rule, code)
    assert bool(decision.cached) == (rule is Rule.EXPLICIT_HIT)
