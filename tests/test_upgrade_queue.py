"""The order and the rate in which handshakes of sockets begin."""

import asyncio
from functools import partial

import pytest

from pipeweb import upgrade_queue
from pipeweb.upgrade_queue import UpgradeQueue


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_queue, "PAUSE", 0)


class Begun(list[str]):
    async def reach(self, count: int) -> list[str]:
        for _ in range(1_000):
            if len(self) >= count:
                break
            await asyncio.sleep(0)
        return self


async def begun(queue: UpgradeQueue, keys: list[str], count: int) -> list[str]:
    """The first `count` that begin when so many are waiting at once."""
    order = Begun()
    for key in keys:
        queue.add(key, partial(order.append, key))
    assert order == [], "none begins in the caller's turn of the loop"
    return await order.reach(count)


async def test_handshakes_begin_in_turn_for_each_sign_in() -> None:
    order = await begun(UpgradeQueue(), ["many", "many", "many", "one", "other"], 5)
    assert order == ["many", "one", "other", "many", "many"]


async def test_one_begins_in_a_turn_of_the_loop() -> None:
    order: list[str] = []
    queue = UpgradeQueue()
    for _ in range(3):
        queue.add("many", partial(order.append, "handshake"))
    while order.count("handshake") < 3:
        await asyncio.sleep(0)
        order.append("turn")
    assert "".join(word[0] for word in order).replace("tt", "t").strip("t") == "hthth"


async def test_a_storm_waits_after_its_burst_and_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_queue, "PER_SECOND", 1e-6)
    queue = UpgradeQueue()
    storm = ["storm"] * (upgrade_queue.BURST + 50)
    order = await begun(queue, [*storm, "one"], upgrade_queue.BURST + 1)
    assert order.count("storm") == upgrade_queue.BURST and order[1] == "one"
    assert await begun(queue, ["late"], 1) == ["late"]
    assert order.count("storm") == upgrade_queue.BURST


async def test_no_more_wait_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_queue, "WAITING_LIMIT", 3)
    queue, begin = UpgradeQueue(), partial(str, "")
    assert [queue.add("many", begin) for _ in range(5)] == [True, True, True, False, False]
    assert queue.add("one", begin)


async def test_one_whose_client_has_left_takes_nobody_s_place() -> None:
    queue, left = UpgradeQueue(), partial(pytest.fail, "begun")
    queue.add("many", left)
    queue.remove("many", left)
    queue.remove("many", left)
    assert await begun(queue, ["many", "one"], 2) == ["many", "one"]


async def test_handshakes_begin_again_after_the_queue_was_empty() -> None:
    queue = UpgradeQueue()
    for _ in range(2):
        assert await begun(queue, ["one"], 1) == ["one"]
        await asyncio.sleep(0.01)


async def test_a_handshake_that_fails_keeps_no_other_from_its_own() -> None:
    queue = UpgradeQueue()
    queue.add("broken", partial(int, "x"))
    assert await begun(queue, ["one"], 1) == ["one"]


async def test_idle_sign_ins_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_queue, "KEYS_KEPT", 3)
    monkeypatch.setattr(upgrade_queue, "PER_SECOND", 1e9)
    queue = UpgradeQueue()
    for number in range(100):
        await begun(queue, [str(number)], 1)
    assert len(queue._rates) <= 5
