"""The law of unkindness: before an emulator of `--unkind`, every message has an answer or a named end.

After a named end the session answers a plain message; no message is lost, no tool runs twice, and no verdict
contradicts the emulator's journal. Run one with `-k 'session and 17'`.
"""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection

from tests.runs.patient_person import PatientPerson

SESSIONS = 100
QUICK = 8
"""Sessions of the fast tier."""


@pytest.fixture
def people(transactional_db: None) -> Iterator[list[PatientPerson]]:
    """Whoever lives in the test; their processes end with it."""
    living: list[PatientPerson] = []
    yield living
    for person in living:
        person.process.end()


def live_and_check(seed: int, owner: User, people: list[PatientPerson]) -> None:
    print(f"unkind session {seed} on {connection.vendor}")
    people.append(PatientPerson(seed, owner))
    people[-1].live()
    people[-1].check()


@pytest.mark.parametrize("seed", range(QUICK))
def test_session(seed: int, alice: User, people: list[PatientPerson]) -> None:
    live_and_check(seed, alice, people)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, SESSIONS))
def test_more_of_session(seed: int, alice: User, people: list[PatientPerson]) -> None:
    live_and_check(seed, alice, people)
