"""Sessions that the product makes for the audit."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Session
from tests.audit.money import talked
from tests.prices import make_price
from tests.runs.patient_person import PatientPerson

MODEL = "gemini-3-flash-preview"


@pytest.fixture
def person(alice: User, transactional_db: None) -> Iterator[PatientPerson]:
    """Before a kind provider; the second tier of the price begins within their requests."""
    make_price(
        MODEL,
        above=6_100,
        cached="0.050001",
        storage="1.000003",
        input_above="0.75",
        cached_above="0.06",
        output_above="4",
    )
    person = PatientPerson(1, alice)
    person.provider.be_kind(True)
    yield person
    person.process.end()


@pytest.fixture
def session(person: PatientPerson) -> Session:
    """Some messages with tool rounds, and a cache."""
    return talked(person)
