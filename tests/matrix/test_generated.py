"""Generated sessions: whatever happens in whatever order, the journal and the audit agree.

Play one again with `-k 'test_session and 17'` or `-k 'test_more_sessions and 117'`: its seed is its number.
"""

from random import Random

import pytest
from django.db import connection

from tests.matrix.conftest import Begin
from tests.matrix.operations import OPERATIONS, Operation
from tests.matrix.played_session import TALK, PlayedSession
from tests.runs.scripted_session import LONG, SHORT

SESSIONS = 500

QUICK = 10
"""Sessions of the fast tier."""


def live(seed: int, begin: Begin) -> None:
    print(f"generated session {seed} on {connection.vendor}")
    rng = Random(seed)
    played = begin(
        rng.choice((SHORT, LONG)),
        delay=rng.randint(0, 5),
        cache_policy=rng.choice(("adaptive", "seed")),
        cache_mode=rng.choice(("auto", "explicit", "implicit")),
        tools=rng.choice(([], ["add_todo"])),
    )
    played.talk()
    for _ in range(rng.randint(2, 5)):
        last = played.newest().number
        operation = step(rng, played)
        played.withhold(rng.random() < 0.15)
        played.talk(rounds=rng.randint(0, 2), more=rng.choice(("", TALK)))
        assert operation is None or operation.happened(played, last)
        played.provider.refuses = played.provider.refuses and rng.random() < 0.5
    played.judge()


def step(rng: Random, played: PlayedSession) -> Operation | None:
    """One of the operations, time that passes, or nothing."""
    chosen = rng.choice([*OPERATIONS, "pause", "nothing"])
    if chosen == "pause":
        played.wait(rng.randint(1, 40))
    operation = OPERATIONS.get(chosen)
    if operation is not None:
        operation.play(played)
    return operation


@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("seed", range(QUICK))
def test_session(seed: int, begin: Begin) -> None:
    live(seed, begin)


@pytest.mark.slow
@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("seed", range(QUICK, SESSIONS))
def test_more_sessions(seed: int, begin: Begin) -> None:
    live(seed, begin)
