"""Explicit caches of programs that are seen more than once: live and in archives, by one person or by two."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from sessions_app.inspector.session_cost import caches_of
from sessions_app.models import Booking, CacheEntry, CaptureAddress, CapturedRequest
from sessions_app.prompt.verdict import VerdictReason
from tests.capture.answers import audited
from tests.capture.caching_program import (
    CachingProgram,
    beside,
    booked,
    kinds,
    made_by,
    program,
)

__all__ = ["program"]

pytestmark = pytest.mark.django_db


def test_what_stands_in_two_imported_files_is_booked_once(program: CachingProgram, alice: User) -> None:
    """A second file has the same requests of the same moments, and what came after them."""
    other = CachingProgram(CaptureAddress.issue(alice.pk, "Again", upstream=program.address.upstream)[0])
    began = timezone.now() - timedelta(minutes=30)
    for one in (program, other):
        one.now = began
        one.make()
        one.extend(2)
        one.extend(3)
    kept = [("cache_made", False), *[("cache_kept", False)] * 3]
    assert booked() == kept and kinds() == ["planned", "made", "extended", "extended"]
    exchange = other.ask_with()
    assert [item.is_cached for item in exchange.sent_items()] == [True, True, False]
    other.delete()
    assert booked() == [*kept, *[("cache_kept", True)] * 3] and not audited()


def test_what_an_archive_shows_elsewhere_is_booked_once(alice: User) -> None:
    """It does not have the key, and may have the address of the relay or of a proxy."""
    live = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    archive = beside(live, alice)
    live.key_hash = "of the key"
    for one in (live, archive):
        one.make()
        one.extend(2)
        kept = booked()
    assert kept == [("cache_made", False), ("cache_kept", False), ("cache_kept", False)]
    assert [item.is_cached for item in archive.ask_with().sent_items()] == [True, True, False]
    live.delete()
    ended = booked()
    archive.delete()
    assert booked() == ended != kept and {entry.state for entry in CacheEntry.objects.all()} == {"gone"}
    assert not audited()


def test_what_two_people_captured_of_a_cache_is_booked_for_each(alice: User, bob: User) -> None:
    first = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    for one in (first, beside(first, bob)):
        one.make()
        one.extend(2)
    session = first.ask_with().session
    first.delete()
    given_back = Booking.objects.filter(stored_seconds__lt=0)
    assert {row.owner for row in given_back} == {alice} and len(booked()) == 6 + given_back.count()
    (made, *_) = caches_of(session)
    assert made.bookings == 1 and not audited()


def test_of_a_file_that_was_deleted_the_next_one_tells_what_the_cache_held(
    program: CachingProgram, alice: User
) -> None:
    program.make()
    CapturedRequest.objects.all().erase()
    other = CachingProgram(CaptureAddress.issue(alice.pk, "Again", upstream=program.address.upstream)[0])
    row = other.make()
    assert CacheEntry.objects.get().captured_request == row and len(booked()) == 2
    assert [item.is_cached for item in other.ask_with().sent_items()] == [True, True, False]


def test_a_making_is_erased_without_its_cache(program: CachingProgram, alice: User) -> None:
    program.make()
    assert CapturedRequest.objects.of(alice).erase() == 1
    connection.check_constraints()
    assert CacheEntry.objects.get().captured_request is None and len(booked()) == 2
    exchange = program.ask_with()
    assert exchange.found_verdict and exchange.found_verdict.reason == VerdictReason.NAMED and not audited()
