"""The audit of sessions whose payloads were purged: no damage is found, and wrong money is."""

from decimal import Decimal

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference, Figure
from sessions_app.audit.session_money import audit_money
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Booking, Exchange, Session
from sessions_app.models.payload_purge import purge_payloads
from sessions_app.prompt.verdict import VerdictReason
from tests.runs.patient_person import PatientPerson


def audited(session: Session) -> list[Difference]:
    public = str(session.public)
    return [*audit_session(session.pk, public), *audit_money(session.pk, public, shown_session(session))]


def test_a_purge_is_no_damage_and_the_session_goes_on(person: PatientPerson, session: Session) -> None:
    assert audited(session) == []
    count = session.exchanges.count()
    assert purge_payloads(session.pk) == count
    assert audited(session) == []
    person.send(0, 1)
    assert audited(session) == []
    following = session.exchanges.get(number=count + 1)
    found = following.found_verdict
    assert found is not None and found.reason is VerdictReason.NOT_COMPARED
    assert following.lost_tokens is None


def test_wrong_money_of_a_purged_exchange_is_found(person: PatientPerson, session: Session) -> None:
    purge_payloads(session.pk)
    booking = Booking.objects.filter(session=session).exclude(exchange=None).earliest("pk")
    Booking.objects.filter(pk=booking.pk).update(prompt_tokens=1)
    assert audited(session)
    Booking.objects.filter(pk=booking.pk).update(prompt_tokens=booking.prompt_tokens)
    Exchange.objects.filter(pk=booking.exchange_id or 0).update(usd=Decimal("12.5"))
    assert Figure.COST in {one.figure for one in audited(session)}
