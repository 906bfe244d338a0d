"""Sessions that end with their test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import PersonalLimits
from sessions_app.prompt.rollover import thresholds_for
from tests.matrix.played_session import PlayedSession

Begin = Callable[..., PlayedSession]


@pytest.fixture
def begin(transactional_db: None, alice: User) -> Iterator[Begin]:
    # A matrix sends more messages than a person does.
    PersonalLimits.objects.create(everybody=True, sends_per_minute=100_000)
    started: list[PlayedSession] = []

    def start(background: str, **settings: Any) -> PlayedSession:
        started.append(PlayedSession(alice, background, **settings))
        return started[-1]

    yield start
    for one in started:
        one.process.end()


@pytest.fixture
def rolls_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tail of 600 tokens is worth a roll; money would wait for thousands."""
    monkeypatch.setattr("sessions_app.prompt.strategy.explicit_tail", lambda *_: 600.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.implicit_tail", lambda *_: 600.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.SEED", thresholds_for(400, 3))
