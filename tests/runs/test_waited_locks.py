"""A run that begins while another one ends has waited for the row of the session, and reads it anew."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from sessions_app.models import Notification, Run, Session
from sessions_app.runs.start import start_next, start_send
from tests.factories import answered, make_run

pytestmark = pytest.mark.django_db(transaction=True)

WAIT = 0.5
"""Seconds in which the other thread comes to the lock."""


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    """A thread with a connection of its own, as another process has."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
        pool.submit(connections.close_all).result()


def send_while_it_ends(session: Session, run: Run, beside: ThreadPoolExecutor) -> Run:
    """A message that is sent between the lock of the end of `run` and its commit."""
    is_held = threading.Event()

    def send() -> Run | None:
        assert is_held.wait(30)
        return start_send(session.pk, uuid.uuid4(), "And then?", "there") or start_next(session.pk, "there")

    sent = beside.submit(send)
    with transaction.atomic():
        held = Session.objects.select_for_update().get(pk=session.pk)
        is_held.set()
        threading.Event().wait(WAIT)
        Notification.objects.add(session.pk, Notification.Kind.CUSTOM, "It has ended.", source="test")
        held.advance(run.trigger)
        run.end(Run.Status.COMPLETED)
    begun = sent.result(60)
    assert begun is not None
    return begun


@pytest.mark.parametrize("is_first", [True, False])
def test_its_message_stands_below_what_is_the_newest_then(
    session: Session, beside: ThreadPoolExecutor, is_first: bool
) -> None:
    if not is_first:
        answered(session, "Question", "Answer")
        session.refresh_from_db()
    head = session.head
    run = make_run(session)
    Session.objects.filter(pk=session.pk).update(head=head)
    begun = send_while_it_ends(session, run, beside)
    assert begun.trigger is not None and begun.trigger.parent_id == run.trigger_id


def test_its_request_tells_what_happened_meanwhile(session: Session, beside: ThreadPoolExecutor) -> None:
    begun = send_while_it_ends(session, make_run(session), beside)
    assert begun.session.has_notifications  # type: ignore[attr-defined]
