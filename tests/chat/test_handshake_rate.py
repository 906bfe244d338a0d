"""Handshakes of one sign-in: a burst at once, then a few a second, and refusals that are no quicker."""

import asyncio

import pytest

from sessions_app.chat import handshake
from sessions_app.chat.handshake import BURST, Handshakes


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []

    async def sleep(delay: float) -> None:
        seconds.append(delay)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return seconds


async def test_the_burst_of_one_sign_in_does_not_wait_and_is_no_other_ones(slept: list[float]) -> None:
    handshakes = Handshakes()
    assert all([await handshakes.pace("a") for _ in range(BURST)])
    assert await handshakes.pace("b") and set(slept) == {0.0}
    await handshakes.close()


async def test_a_storm_waits_and_then_is_refused_as_slowly(
    slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "PER_SECOND", 1.0)
    handshakes = Handshakes()
    went = [await handshakes.pace("a") for _ in range(BURST + 20)]
    assert all(went[:BURST]) and not any(went[-5:])
    assert max(slept) == handshake.PATIENCE and slept[-1] == handshake.PATIENCE
    await handshakes.close()


async def test_idle_sign_ins_are_forgotten(slept: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "KEYS_LIMIT", 3)
    monkeypatch.setattr(handshake, "PER_SECOND", 1e9)
    handshakes = Handshakes()
    for key in range(100):
        await handshakes.pace(str(key))
    assert len(handshakes._rates) <= 5
    await handshakes.close()
