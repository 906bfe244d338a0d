"""A change of one cache entry leaves all others alone, and only what is free is claimed."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.models import CacheEntry, CacheEvent, Session
from sessions_app.models.cache_event import CausedBy
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import EntryReason
from tests.factories import MODEL, make_exchange, make_run, make_session
from tests.models.test_cache import ENDPOINT, claim, keep

pytestmark = pytest.mark.django_db

ENTRIES, State = CacheEntry.objects, CacheEntry.State
ONE, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def states() -> list[str]:
    return list(ENTRIES.order_by("fingerprint").values_list("state", flat=True))


def run_out() -> None:
    keep(ONE, minutes=0)


def refuse() -> None:
    claim(ONE)
    ENTRIES.refuse(ONE, "No.", pause=timedelta(microseconds=1))


@pytest.mark.parametrize("end", [run_out, refuse])
def test_what_has_ended_is_claimed_again_by_one(end: Callable[[], None]) -> None:
    """The row still has the expiry, or the time of the next try, of what was before."""
    end()
    assert (claim(ONE), claim(ONE)) == (True, False)


def test_who_may_not_claim_a_cache_changes_no_other() -> None:
    keep(ONE)
    keep(OTHER, minutes=0)
    assert not claim(ONE) and states() == [State.LIVE, State.LIVE]


def test_a_cache_that_is_made_after_others_failed_begins_anew() -> None:
    refuse()
    entry = keep(ONE)
    assert (entry.failures, entry.retry_at, entry.hits, entry.said, entry.reason) == (0, None, 0, "", "")


def test_a_cache_whose_deletion_was_not_finished_is_not_made_again() -> None:
    entry = keep(ONE)
    ENTRIES.mark_for_deletion(EntryReason.REPLACED)
    assert ENTRIES.begin_deletion(entry.pk)
    ENTRIES.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert not claim(ONE) and states() == [State.TO_DELETE]


def test_a_refusal_ends_no_other_claim() -> None:
    assert claim(ONE) and claim(OTHER)
    ENTRIES.refuse(ONE, "No.")
    assert states() == [State.REFUSED, State.PENDING]


def test_an_extension_is_of_a_cache_that_is_there() -> None:
    for fingerprint in (ONE, OTHER):
        keep(fingerprint)
    ENTRIES.filter(fingerprint=ONE).drop(EntryReason.PROVIDER)
    ends = dict(ENTRIES.values_list("fingerprint", "expires_at"))
    later = timezone.now() + timedelta(hours=9)
    for name in ("cachedContents/aaaaaaaa", "cachedContents/bbbbbbbb"):
        ENTRIES.set_expiry(name, later)
    assert dict(ENTRIES.values_list("fingerprint", "expires_at")) == ends | {OTHER: later}
    extended = CacheEvent.objects.get(kind=CacheEventKind.EXTENDED)
    assert (extended.entry.fingerprint, extended.expires) == (OTHER, later)


def test_forgetting_an_endpoint_is_about_the_caches_that_it_has() -> None:
    keep(ONE)
    claim(OTHER)
    ENTRIES.claim("c" * 64, model=MODEL, route="fedcba9876543210")
    ENTRIES.remember("c" * 64, name="cachedContents/c", tokens=1, expires=timezone.now())
    ENTRIES.forget(ENDPOINT, EntryReason.EMULATOR_RESTARTED)
    assert states() == [State.GONE, State.PENDING, State.LIVE]


def test_history_rolls_over_in_its_own_session(session: Session) -> None:
    keep(ONE).add_session(session.pk)
    keep(OTHER).add_session(make_session(session.owner).pk)
    ENTRIES.note_roll_over("c" * 64, CausedBy(session=session.pk))
    rolled = CacheEvent.objects.filter(kind=CacheEventKind.ROLLED_OVER)
    assert [(event.entry.fingerprint, event.reason) for event in rolled] == [(ONE, EntryReason.ROLLED_ON)]


def test_a_deleted_session_leaves_its_cache_for_that_also_after_a_roll_over(session: Session) -> None:
    keep(ONE).add_session(session.pk)
    ENTRIES.note_roll_over(OTHER, CausedBy(session=session.pk))
    session.soft_delete()
    dropped = CacheEvent.objects.get(kind=CacheEventKind.DROPPED)
    assert (dropped.reason, dropped.session) == (EntryReason.SESSION_DELETED, session)


def test_a_session_that_leaves_says_nothing_of_caches_that_it_never_had(session: Session) -> None:
    keep(ONE).add_session(session.pk)
    keep(OTHER).add_session(make_session(session.owner).pk)
    session.soft_delete()
    assert states() == [State.TO_DELETE, State.LIVE]
    assert not CacheEvent.objects.filter(entry__fingerprint=OTHER).exclude(kind__in=("planned", "made"))


def test_a_use_is_counted_for_the_cache_that_was_named(session: Session) -> None:
    entry = keep(ONE)
    keep(OTHER)
    ENTRIES.note_use(entry.pk, make_exchange(make_run(session), cache_name=entry.name))
    assert list(ENTRIES.order_by("fingerprint").values_list("hits", flat=True)) == [1, 0]


def test_events_have_the_end_that_is_known_from_then_on() -> None:
    """A cache that had run out expired, and was not dropped."""
    entry = keep(ONE, minutes=0)
    ENTRIES.mark_for_deletion(EntryReason.REPLACED)
    told = CacheEvent.objects.order_by("pk").values_list("kind", "expires")
    assert list(told) == [("planned", None), ("made", entry.expires_at), ("expired", entry.expires_at)]


def test_what_was_lost_is_told_with_the_providers_words() -> None:
    keep(ONE).drop(EntryReason.PROVIDER, "403 Not found.")
    entry, event = ENTRIES.get(), CacheEvent.objects.get(kind=CacheEventKind.GONE)
    assert (entry.said, event.said) == ("403 Not found.", "403 Not found.")
    assert (entry.reason, event.reason) == (EntryReason.PROVIDER, EntryReason.PROVIDER)
