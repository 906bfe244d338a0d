"""What happened, as a panel."""

from datetime import datetime

import pytest
from django.utils import timezone

from sessions_app.error_codes import RefusalCode
from sessions_app.errors import LimitReached
from sessions_app.models import (
    Notification,
    Session,
)
from sessions_app.panels.kinds.notifications import EARLIER_REQUESTS
from sessions_app.panels.refresh import refresh
from sessions_app.runs.limits import notify_limit
from sessions_app.workspace import Workspace
from tests import factories
from tests.panels.reading import LATER, NOW, panels

pytestmark = pytest.mark.django_db


def test_notifications_are_the_open_ones_and_the_last_ten_seen(
    session: Session, workspace: Workspace
) -> None:
    for number in range(1, 14):
        Notification.objects.add(session.pk, "custom", "old", source=str(number), status="seen")
    Notification.objects.add(session.pk, "guard_rail", "stop")
    Notification.objects.add(session.pk, "user_message", "a message is in the history already")
    found = panels(session, workspace)["notifications"].value
    assert [one["id"] for one in found] == [f"N{number}" for number in range(4, 15)]


def told(session: Session, workspace: Workspace, began: datetime) -> dict[str, str]:
    """Kind → state, as a run sends them that began then."""
    read = refresh(session, workspace, LATER, began=began)
    panels = (panel for one in read for panel in one.panels if panel.key == "notifications")
    return {each["kind"]: each["state"] for panel in panels for each in panel.value}


def test_a_notification_is_open_to_the_end_of_the_run_that_sent_it_first(
    session: Session, workspace: Workspace
) -> None:
    Notification.objects.add(session.pk, "todo_incomplete", "x")
    Notification.objects.add(session.pk, "guard_rail", "x", status="blocked")
    Notification.objects.add(session.pk, "custom", "x", status="seen")
    first = {"todo_incomplete": "open", "guard_rail": "open", "custom": "seen"}
    began = timezone.now()
    assert told(session, workspace, began) == first
    Notification.objects.mark_seen(session.pk)
    assert told(session, workspace, began) == first
    assert told(session, workspace, timezone.now()) == dict.fromkeys(first, "seen")


def test_one_that_the_person_has_marked_is_seen(session: Session, workspace: Workspace) -> None:
    Notification.objects.add(session.pk, "todo_incomplete", "x")
    Notification.objects.filter(session=session).dismiss()
    assert told(session, workspace, timezone.now()) == {"todo_incomplete": "seen"}


def test_it_says_when_it_happened(session: Session, workspace: Workspace) -> None:
    Notification.objects.add(session.pk, "guard_rail", "x")
    Notification.objects.filter(session=session).update(created_at=NOW)
    (sent,) = panels(session, workspace)["notifications"].value
    assert sent["at"] == "2026-11-21T09:00+00:00"


@pytest.mark.parametrize("request_", EARLIER_REQUESTS)
def test_what_earlier_versions_asked_for_is_not_asked_for_ever(
    session: Session, workspace: Workspace, request_: str
) -> None:
    Notification.objects.add(session.pk, "guard_rail", f"2 happened{request_}")
    (sent,) = panels(session, workspace)["notifications"].value
    assert sent["text"] == "2 happened"


@pytest.mark.parametrize("reason", [RefusalCode.MAX_USD, RefusalCode.MAX_HOPS, RefusalCode.RUNS_AT_ONCE])
def test_the_person_reads_what_to_do_and_the_model_does_not(
    session: Session, workspace: Workspace, reason: RefusalCode
) -> None:
    run = factories.make_run(session)
    figures = {"used": 1} if reason == RefusalCode.RUNS_AT_ONCE else {"spent": 1}
    made = LimitReached(reason, limit=1, **figures)
    found = notify_limit(run, made)
    (sent,) = panels(session, workspace)["notifications"].value
    assert found.hint and found.hint not in sent["text"] and "{" not in found.hint
