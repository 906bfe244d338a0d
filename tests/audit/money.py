"""A session of some messages, and the audit of its money."""

from typing import Any

from sessions_app.audit.differences import Difference
from sessions_app.audit.session_money import audit_money
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Session
from tests.runs.patient_person import PatientPerson


def talked(person: PatientPerson) -> Session:
    for rounds in (1, 0, 0):
        person.send(rounds, 1)
    return person.session


def audited(session: Session) -> list[Difference]:
    found = audit_money(session.pk, str(session.public), shown_session(session))
    return [*found, *of_spending()]


def figures(session: Session) -> set[Any]:
    return {one.figure for one in audited(session)}
