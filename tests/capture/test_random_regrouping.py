"""Whatever programs ask and people join and split: the rows stay sound, and the audit finds nothing."""

from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from sessions_app.capture.recording import Recording
from sessions_app.capture.regrouping import join, split
from sessions_app.errors import NotRegrouped
from sessions_app.models import CaptureAddress, Session
from tests.capture.answers import Asking, audited
from tests.capture.random_programs import ASKED, JOINED, SPLIT, Conversation, unsound

pytestmark = pytest.mark.django_db

BOTH = [("ask", 0, "text"), ("ask", 1, "calls"), ("ask", 0, "fails"), ("ask", 1, "routes")]


def regroup(kind: str, one: int, other: int) -> None:
    sessions = list(Session.objects.captured().order_by("pk"))
    session = sessions[one % len(sessions)]
    with suppress(NotRegrouped):
        if kind == "join":
            join(session, sessions[other % len(sessions)])
        else:
            split(session, other)


def play(address: CaptureAddress, steps: list[tuple[Any, ...]]) -> None:
    """Two processes relay in turns."""
    program = Asking(address)
    processes = [program.recording, Recording()]
    conversations = [Conversation(number, program) for number in range(3)]
    for at, (kind, one, other) in enumerate(steps):
        program.recording = processes[at % 2]
        if kind == "ask":
            conversations[one].ask(other)
        elif Session.objects.captured().exists():
            regroup(kind, one, other)
            assert not unsound() and not audited()
    assert not unsound() and not audited()


@settings(
    max_examples=6,
    # Shrinking takes minutes: the steps that failed are printed as they are.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(ASKED, min_size=2, max_size=5), st.lists(st.one_of(ASKED, JOINED, SPLIT), min_size=2, max_size=6)
)
@example(BOTH, [("join", 0, 1), ("ask", 0, "calls"), ("split", 0, 3), ("ask", 1, "text"), ("join", 1, 0)])
@example(BOTH, [("split", 1, 2), ("join", 1, 2), ("split", 1, 2), ("split", 1, 2), ("ask", 1, "text")])
def test_sessions_stay_sound_however_they_are_regrouped(
    alice: User, first: list[tuple[Any, ...]], then: list[tuple[Any, ...]]
) -> None:
    with transaction.atomic():
        play(CaptureAddress.issue(alice.pk, "Laptop")[0], first + then)
        transaction.set_rollback(True)
