"""Locks are taken in one order, so that no two pieces of work ever wait for each other: who waits for a row
holds none that comes after it."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from sessions_app.models import CacheEntry, Exchange, Run, Session, Spending
from sessions_app.models.booking import BookingQuerySet
from sessions_app.models.cache_queries import CacheEntryQuerySet
from sessions_app.models.personal_limits import lock_person
from sessions_app.runs.recorder import close_run
from sessions_app.runs.start import start_send
from tests.beside import beside, has_row_locks
from tests.factories import answered, make_exchange, make_run, text_chunk
from tests.models.test_cache import PRINT, keep
from tests.prices import make_price
from tests.runs.conftest import Ask


def assert_free(rows: Any) -> None:
    """Raises OperationalError where somebody else has one of these rows locked."""
    assert list(rows.select_for_update(of=("self",), nowait=True))


@has_row_locks
@pytest.mark.parametrize("is_answering", [True, False])
def test_a_message_that_waits_for_its_person_holds_no_run_and_no_session(
    session: Session, is_answering: bool
) -> None:
    if is_answering:
        make_run(session)
    else:
        answered(session, "Question", "Answer")
    with beside() as begin:
        with transaction.atomic():
            lock_person(session.owner_id)
            sent = begin(lambda: start_send(session.pk, uuid.uuid4(), "And then?", "there"))
            assert not sent.done()
            assert_free(Run.objects.filter(session=session))
            assert_free(Session.objects.filter(pk=session.pk))
        assert (sent.result(60) is None) is is_answering


@has_row_locks
def test_an_answer_that_waits_for_its_cache_holds_no_sums(session: Session) -> None:
    make_price(session.model)
    answered(session, "Question", "Answer")
    entry = keep()
    run = make_run(session)
    exchange = make_exchange(run, [text_chunk("Late")], cache_name=entry.name, fingerprint=PRINT)
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None)
    Spending.objects.create(owner_id=session.owner_id, day=exchange.started_at.date(), model=session.model)
    with beside() as begin:
        with transaction.atomic():
            list(CacheEntry.objects.select_for_update(of=("self",)))
            ended = begin(lambda: close_run(run.pk, Run.Status.STOPPED))
            assert not ended.done()
            assert_free(Session.objects.filter(pk=session.pk))
            assert_free(Spending.objects.all())
        assert ended.result(60) is not None
    entry.refresh_from_db()
    assert entry.hits == 1


async def test_an_answer_counts_the_use_of_its_cache_before_it_is_booked(
    ask: Ask, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask("Hello")
    calls = list[str]()
    for owner, name in ((CacheEntryQuerySet, "note_use"), (BookingQuerySet, "book")):
        monkeypatch.setattr(owner, name, noting(calls, getattr(owner, name), name))
    await ask("And then?")
    assert calls[:2] == ["note_use", "book"]


def noting(calls: list[str], work: Callable[..., Any], name: str) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return work(*args, **kwargs)

    return noted


@has_row_locks
def test_an_erasure_that_waits_for_a_run_holds_nothing_that_its_end_needs(session: Session) -> None:
    run = make_run(session)
    keep().add_session(session.pk)
    with beside() as begin:
        with transaction.atomic():
            Run.objects.hold(run.pk)
            erased = begin(session.erase)
            assert not erased.done()
            assert_free(Session.objects.filter(pk=session.pk))
            assert_free(CacheEntry.objects.all())
        erased.result(60)
    assert not Session.objects.filter(pk=session.pk).exists()
