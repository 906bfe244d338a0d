"""Rates and places: what one person may take of everybody's time."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app import fairness
from sessions_app.fairness import Places, Rate


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(
    burst=st.integers(1, 50),
    per_second=st.floats(0.5, 1_000),
    steps=st.lists(st.floats(0, 3), min_size=1, max_size=80),
)
def test_no_second_sees_more_than_the_burst_and_the_rate(
    burst: int, per_second: float, steps: list[float]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr(fairness, "monotonic", clock)
        rate, went = Rate(burst, per_second), []
        for step in steps:
            clock.now += step
            went.append(clock.now + rate.take())
        for first in went:
            within = sum(first <= moment <= first + 1 for moment in went)
            assert within <= burst + per_second + 1


def test_a_burst_waits_for_nothing_and_comes_back_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(fairness, "monotonic", clock)
    rate = Rate(3, 10)
    assert [rate.take() for _ in range(3)] == [0, 0, 0]
    assert rate.delay() == pytest.approx(0.1) and not rate.is_full
    clock.now += 10
    assert rate.is_full and [rate.take() for _ in range(3)] == [0, 0, 0]


async def test_of_one_key_one_at_a_time_and_other_keys_pass() -> None:
    places, order = Places(), list[str]()

    async def work(key: str, name: str) -> None:
        async with places.of(key):
            order.append(name)
            await asyncio.sleep(0.01)

    await asyncio.gather(*(work("bob", f"bob {n}") for n in range(3)), work("alice", "alice"))
    assert order.index("alice") < order.index("bob 1") < order.index("bob 2")


async def test_a_key_without_anybody_costs_no_memory() -> None:
    places = Places()
    for key in range(1_000):
        async with places.of(key):
            pass
    assert not places._locks
