"""`bench captured`, short."""

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.models import CaptureAddress, Session
from tests.bench.captured import ROUND, Soak, aims, read, record
from tests.bench.inspector import PageTimes


@pytest.mark.slow
def test_every_page_of_a_captured_session_is_measured() -> None:
    soak = read(30, 1)
    assert {"list, 30", "layers, last", "capture"} <= {page.name for page in soak.pages}
    assert soak.first_ms > 0 and soak.last_ms > 0


@pytest.mark.django_db
def test_the_measured_session_is_sound(alice: User) -> None:
    address, _ = CaptureAddress.issue(alice.pk, "bench")
    record(address, "long", 2 * ROUND)
    session = Session.objects.get()
    assert session.exchanges.count() == 2 * ROUND and session.runs.values("lane").distinct().count() == 1
    assert list(audit_session(session.pk, "")) == []


def test_the_aims_are_of_the_slowest_page_and_the_last_requests() -> None:
    pages = [
        PageTimes("bare page", 1, 1, 0, 9),
        PageTimes("list, 200", 30, 30, 8, 9),
        PageTimes("list, 5000", 140, 140, 9, 9),
        PageTimes("search, 5000", 90, 90, 8, 9),
    ]
    found = aims(Soak(pages, first_ms=20, last_ms=90))
    assert [(aim.value, aim.verdict) for aim in found] == [
        (140, "NOT MET"),
        (1, "NOT MET"),
        (90, "NOT MET"),
    ]
