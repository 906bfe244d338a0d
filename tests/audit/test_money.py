"""The audit of money: of sessions that the product made, sound and with one thing broken."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.differences import Difference
from sessions_app.audit.session_money import audit_money
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Session
from tests.prices import make_price
from tests.runs.test_unkind_sessions import PatientPerson

MODEL = "gemini-3-flash-preview"


@pytest.fixture
def session(alice: User, transactional_db: None) -> Iterator[Session]:
    """Some messages with tool rounds before a kind provider, which keeps a cache."""
    make_price(MODEL, input="0.5", cached="0.050001", storage="1.000003")
    person = PatientPerson(1, alice)
    person.provider.be_kind(True)
    for rounds in (1, 0, 0):
        person.send(rounds, 1)
    yield person.session
    person.process.end()


def audited(session: Session) -> list[Difference]:
    found = audit_money(session.pk, str(session.public), shown_session(session))
    return [*found, *of_spending()]


def figures(session: Session) -> set[Any]:
    return {one.figure for one in audited(session)}


def test_what_the_product_booked_follows_from_the_raw_rows(session: Session) -> None:
    causes = set(session.bookings.values_list("cause", flat=True))
    assert causes >= {"answer", "cache_made", "cache_kept"}
    assert audited(session) == []
