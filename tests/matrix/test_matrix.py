"""Policies × modes × how long a cache takes to be made × what happens: the journal and the audit agree."""

import itertools

import pytest

from tests.matrix.conftest import Begin
from tests.matrix.operations import OPERATIONS, Operation
from tests.matrix.played_session import LONG_SESSION, PlayedSession
from tests.runs.scripted_session import LONG

WAYS = [*itertools.product(("adaptive", "seed"), ("explicit", "implicit"))]
QUICK, SLOW = (0, 5), (1, 2, 3, 4)
"""Seconds that a cache takes, in the fast tier and in the slow one."""

LONG_SESSIONS = [(way, delay) for index, way in enumerate(WAYS) for delay in (index % 3, index % 3 + 3)]
"""Two delays of each way, all of them among them: a session of this length costs as much as twenty cells."""


def play(begin: Begin, way: tuple[str, str], delay: int, operation: Operation) -> None:
    policy, mode = way
    played = begin(LONG, delay=delay, cache_policy=policy, cache_mode=mode)
    for _ in range(2):
        played.talk()
    last = played.newest().number
    operation.play(played)
    played.talk()
    assert operation.happened(played, last)
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
@pytest.mark.parametrize(
    ("way", "delay"), LONG_SESSIONS, ids=[f"{delay}-{'-'.join(way)}" for way, delay in LONG_SESSIONS]
)
def test_long_session(begin: Begin, delay: int, way: tuple[str, str]) -> None:
    play(begin, way, delay, Operation(PlayedSession.go_on_for_long, is_long))


def is_long(played: PlayedSession, last: int) -> bool:
    return played.session.exchanges.count() > LONG_SESSION
