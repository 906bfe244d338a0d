"""What recorded clients sent becomes sessions whose every figure the audit gives again."""

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.audit.session_money import audit_money
from sessions_app.management.shown_money import shown_session
from sessions_app.models import CaptureAddress, CapturedRequest, Exchange, Session
from tests.capture.recordings import generating, needs_captures, recorded
from tests.capture.relayed_recordings import capture
from tests.capture.test_recorded_sessions import SESSIONS

pytestmark = [needs_captures, pytest.mark.django_db]


@pytest.fixture
def address(alice: User) -> CaptureAddress:
    return CaptureAddress.issue(alice.pk, "Laptop")[0]


@pytest.mark.parametrize("folder", SESSIONS)
def test_each_folder_becomes_sessions_that_the_audit_finds_right(
    folder: str, address: CaptureAddress
) -> None:
    capture(address, recorded(folder))
    sessions = list(Session.objects.captured().order_by("pk"))
    assert [session.exchanges.count() for session in sessions] == SESSIONS[folder]
    for session in sessions:
        assert list(audit_session(session.pk, "")) == []
        assert list(audit_money(session.pk, "", shown_session(session))) == []


@pytest.mark.parametrize("folder", [name for name, sizes in SESSIONS.items() if sizes])
def test_both_bodies_are_given_again_byte_for_byte(folder: str, address: CaptureAddress) -> None:
    exchanges = generating(folder)
    capture(address, exchanges)
    rows = CapturedRequest.objects.order_by("pk").select_related("exchange", "response_body")
    assert [row.sent_body() for row in rows] == [one.body for one in exchanges]
    assert [row.received_body() for row in rows] == [one.answer for one in exchanges]
    assert all(exchange.is_faithful() for exchange in Exchange.objects.all())
