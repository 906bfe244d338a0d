"""Policies × modes × how long a cache takes to be made × what happens: the journal and the audit agree."""

import itertools
from collections.abc import Callable

import pytest

from tests.matrix.conftest import Begin
from tests.matrix.played_session import PlayedSession
from tests.runs.scripted_session import LONG

Operation = Callable[[PlayedSession], None]
OPERATIONS: dict[str, Operation] = {
    "idle": PlayedSession.idle,
    "text": PlayedSession.edit_text,
    "panel": PlayedSession.change_panel,
    "tool": PlayedSession.change_tools,
    "model": PlayedSession.change_model,
    "settings": PlayedSession.change_settings,
    "branch": PlayedSession.switch_branch,
    "roll-over": PlayedSession.roll_over,
    "refused": PlayedSession.refuse_caches,
    "retry": PlayedSession.retry,
    "stop": PlayedSession.stop,
}
WAYS = [*itertools.product(("adaptive", "seed"), ("explicit", "implicit"))]
QUICK, SLOW = (0, 5), (1, 2, 3, 4)
"""Seconds that a cache takes, in the fast tier and in the slow one."""


def play(begin: Begin, way: tuple[str, str], delay: int, happens: Operation) -> None:
    policy, mode = way
    played = begin(LONG, delay=delay, cache_policy=policy, cache_mode=mode)
    for _ in range(2):
        played.talk()
    happens(played)
    for _ in range(2):
        played.talk()
    played.judge()


@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("delay", QUICK)
def test_cell(begin: Begin, delay: int, way: tuple[str, str], name: str) -> None:
    play(begin, way, delay, OPERATIONS[name])


@pytest.mark.slow
@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("delay", SLOW)
def test_more_cells(begin: Begin, delay: int, way: tuple[str, str], name: str) -> None:
    play(begin, way, delay, OPERATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("delay", range(6))
def test_long_session(begin: Begin, delay: int, way: tuple[str, str]) -> None:
    play(begin, way, delay, PlayedSession.go_on_for_long)
