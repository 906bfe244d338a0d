"""Cache entries: claims, sessions that use them, refusals."""

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app.models import CacheEntry, CacheRefusal, Session
from sessions_app.models.cache import deployment
from sessions_app.models.cache_event import CausedBy
from sessions_app.models.cache_states import LEASE
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import CacheFacts, EntryReason, PlanReason, plan_cache
from tests.beside import beside
from tests.factories import MODEL, make_session

ENDPOINT = "0123456789abcdef"
ROUTE = f"{ENDPOINT}/{MODEL}"
PRINT = "f" * 64
State = CacheEntry.State


def claim(fingerprint: str = PRINT) -> bool:
    return CacheEntry.objects.claim(fingerprint, model=MODEL, route=ROUTE)


def keep(fingerprint: str = PRINT, *, minutes: float = 60) -> CacheEntry:
    assert claim(fingerprint)
    expires = timezone.now() + timedelta(minutes=minutes)
    name = f"cachedContents/{fingerprint[:8]}"
    assert CacheEntry.objects.remember(fingerprint, name=name, tokens=2_000, expires=expires)
    return CacheEntry.objects.get(fingerprint=fingerprint)


def facts(fingerprint: str = PRINT, minimum: int | None = 1_024) -> CacheFacts:
    return CacheEntry.facts(fingerprint, route=ROUTE, model=MODEL, minimum=minimum)


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


@pytest.mark.usefixtures("db")
def test_only_the_first_of_two_claims_succeeds() -> None:
    assert (claim(), claim()) == (True, False)
    assert facts().pending


@pytest.mark.usefixtures("db")
def test_a_claim_expires() -> None:
    claim()
    CacheEntry.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert not facts().pending and claim()
    entry = CacheEntry.objects.get()
    assert entry.leased_until is not None and entry.leased_until > timezone.now() + LEASE / 2


@pytest.mark.django_db(transaction=True)
def test_threads_that_claim_together_make_one_cache() -> None:
    won: list[bool] = []
    start = threading.Barrier(4)

    def race() -> None:
        start.wait()
        won.append(claim())
        connection.close()

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False, False, False, True]


@pytest.mark.usefixtures("db")
def test_only_an_expired_cache_is_claimed_again() -> None:
    keep()
    assert not claim()
    CacheEntry.objects.update(expires_at=timezone.now() + timedelta(seconds=5))
    assert claim()


@pytest.mark.usefixtures("db")
def test_a_lost_claim_cannot_name_a_cache() -> None:
    keep()
    assert not CacheEntry.objects.remember(PRINT, name="cachedContents/b", tokens=1, expires=timezone.now())


@pytest.mark.usefixtures("db")
def test_a_refusal_holds_for_longer_each_time() -> None:
    pauses = []
    for _ in range(3):
        assert claim()
        CacheEntry.objects.refuse(PRINT, "No.")
        entry = CacheEntry.objects.get()
        assert facts().refusal == "No." and not claim() and entry.retry_at
        pauses.append(round((entry.retry_at - timezone.now()).total_seconds() / 60))
        CacheEntry.objects.update(retry_at=timezone.now())
    assert pauses == [10, 20, 40]


@pytest.mark.usefixtures("db")
def test_a_provider_that_was_down_may_be_asked_at_once() -> None:
    claim()
    CacheEntry.objects.release(PRINT, "503")
    assert not facts().refusal and claim()


@pytest.mark.usefixtures("db")
def test_the_dead_name_of_a_cache_is_never_planned_with() -> None:
    keep().drop(EntryReason.PROVIDER, "403")
    assert facts().name == ""


@pytest.mark.usefixtures("db")
def test_a_minimum_from_the_provider_holds_for_the_model() -> None:
    CacheRefusal.objects.set_minimum(ROUTE, MODEL, 4_096, "Too small.")
    assert facts().minimum == 4_096 and facts(minimum=None).minimum is None


@pytest.mark.usefixtures("db")
def test_a_refusal_holds_until_the_model_creates_a_cache() -> None:
    CacheRefusal.objects.refuse(ROUTE, MODEL, "limit=0")
    CacheRefusal.objects.refuse(ROUTE, MODEL, "limit=0")
    assert (facts().refusal, CacheRefusal.objects.get().failures) == ("limit=0", 2)
    CacheRefusal.objects.reset_failures(ROUTE, MODEL)
    assert facts().refusal == ""


@pytest.mark.usefixtures("db")
def test_a_refusal_holds_as_long_as_the_provider_says() -> None:
    CacheRefusal.objects.refuse(ROUTE, MODEL, "quota", seconds=7_200)
    until = CacheRefusal.objects.get().refused_until
    assert until is not None and until - timezone.now() > timedelta(minutes=119)


@pytest.mark.usefixtures("db")
def test_a_refusal_on_one_route_does_not_hold_on_another() -> None:
    CacheRefusal.objects.refuse("elsewhere", MODEL, "limit=0")
    assert facts().refusal == ""


def test_a_cache_lives_as_long_as_one_session_uses_it(session: Session, alice: User) -> None:
    other, entry = make_session(alice), keep()
    for user in (session, other, session):
        entry.add_session(user.pk)
    session.soft_delete()
    assert CacheEntry.objects.get().state == State.LIVE
    other.erase()
    entry.refresh_from_db()
    assert (entry.state, entry.reason) == (State.TO_DELETE, EntryReason.SESSION_ERASED)


def test_a_session_that_rolls_over_releases_only_its_old_caches(session: Session) -> None:
    old, new = keep("a" * 64), keep("b" * 64)
    for entry in (old, new):
        entry.add_session(session.pk)
    assert CacheEntry.objects.release_for_session(session.pk, EntryReason.ROLLED_ON, but=new.fingerprint) == 1
    assert [entry.state for entry in CacheEntry.objects.order_by("fingerprint")] == [
        State.TO_DELETE,
        State.LIVE,
    ]


@pytest.mark.usefixtures("db")
def test_storage_is_counted_from_its_making_to_its_end() -> None:
    entry, now = keep(), timezone.now()
    entry.made_at = now - timedelta(hours=2)
    assert entry.stored_hours(now) == pytest.approx(2)
    entry.expires_at = now - timedelta(hours=1)
    assert entry.stored_hours(now) == pytest.approx(1)
    entry.made_at = None
    assert entry.stored_hours(now) == 0


@pytest.mark.usefixtures("db")
def test_a_cache_that_was_not_made_again_is_stored_by_nobody() -> None:
    """What the row still says of the one before ended when that ended, not when the claim did."""
    entry = keep()
    CacheEntry.objects.update(made_at=timezone.now() - timedelta(hours=2))
    assert CacheEntry.objects.drop(EntryReason.PROVIDER) == 1 and claim()
    entry.refresh_from_db()
    assert entry.stored_hours(timezone.now()) == 0
    CacheEntry.objects.release(PRINT, "The model is overloaded.")
    entry.refresh_from_db()
    assert (entry.state, entry.stored_hours(timezone.now())) == (State.GONE, 0)


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("reason", [EntryReason.PROVIDER, EntryReason.EXPIRED])
def test_only_a_cache_that_ran_out_has_expired(reason: EntryReason) -> None:
    """One that was lost or dropped did not, also when its time would be over by now."""
    keep(minutes=60)
    CacheEntry.objects.drop(reason)
    CacheEntry.objects.update(expires_at=timezone.now() - timedelta(minutes=5))
    is_expired = reason is EntryReason.EXPIRED
    plan = plan_cache(9_999, facts(), timezone.now())
    assert plan.reason is (PlanReason.EXPIRED if is_expired else PlanReason.AGAIN)


@pytest.mark.usefixtures("db")
def test_forgetting_an_endpoint_marks_its_caches_as_gone() -> None:
    keep()
    CacheEntry.objects.forget(ENDPOINT, EntryReason.EMULATOR_RESTARTED)
    assert CacheEntry.objects.get().state == State.GONE


@pytest.mark.usefixtures("db")
def test_what_an_admin_deletes_is_named_no_more_and_what_we_let_go_of_is() -> None:
    entry = keep()

    def found(*held: str) -> CacheFacts:
        return CacheEntry.facts(PRINT, route=ROUTE, model=MODEL, minimum=1_024, held=held)

    CacheEntry.objects.mark_for_deletion(EntryReason.REPLACED)
    assert (found(entry.name).name, found(entry.name).is_dropped) == (entry.name, False)
    assert (found().name, found().is_dropped) == (entry.name, True)
    CacheEntry.objects.update(reason=EntryReason.ADMIN)
    assert found(entry.name).name == found().name == ""
    assert found(entry.name).is_deleting and not found(entry.name).pending


@pytest.mark.usefixtures("db")
def test_the_janitor_is_given_our_caches_of_its_endpoint_and_no_programs() -> None:
    for letter in "abcdef":
        keep(letter * 64)

    def entries(letters: str) -> "QuerySet[CacheEntry]":
        return CacheEntry.objects.filter(fingerprint__in=[letter * 64 for letter in letters])

    entries("ab").update(state=State.TO_DELETE)
    entries("cde").update(wanted_until=timezone.now())
    entries("bd").update(is_programs=True)
    entries("e").update(route=f"fedcba9876543210/{MODEL}")
    found = CacheEntry.objects.pending_actions(ENDPOINT)
    assert {entry.fingerprint[0] for entry in found} == {"a", "c"}


def test_the_deployment_mark_depends_on_the_secret_key(settings: object) -> None:
    before = deployment()
    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]
    assert deployment() != before and len(before) == 12


@pytest.mark.django_db(transaction=True)
def test_a_cache_that_its_last_sessions_leave_at_once_is_deleted(alice: User) -> None:
    one, other = make_session(alice), make_session(alice)
    entry = keep()
    for session in (one, other):
        entry.add_session(session.pk)
    leave = CacheEntry.objects.release_for_session
    with beside() as begin:
        with transaction.atomic():
            leave(one.pk, EntryReason.SESSION_DELETED)
            second = begin(lambda: leave(other.pk, EntryReason.SESSION_DELETED))
        assert second.result(60) == 1
    entry.refresh_from_db()
    assert entry.state == State.TO_DELETE


@pytest.mark.usefixtures("db")
def test_a_refusal_after_the_claim_was_lost_changes_nothing() -> None:
    entry = keep()
    CacheEntry.objects.refuse(PRINT, "No.")
    entry.refresh_from_db()
    assert entry.state == State.LIVE and entry.name


@pytest.mark.django_db(transaction=True)
def test_two_refusals_of_a_model_at_once_both_count_and_keep_its_minimum() -> None:
    refusals = CacheRefusal.objects
    refusals.refuse(ROUTE, MODEL, "No.")
    with beside() as begin:
        with transaction.atomic():
            refusals.set_minimum(ROUTE, MODEL, 4_096, "Too small.")
            refusals.refuse(ROUTE, MODEL, "No.")
            second = begin(lambda: refusals.refuse(ROUTE, MODEL, "No."))
        second.result(60)
    known = refusals.get()
    assert (known.failures, known.minimum) == (3, 4_096)


@pytest.mark.django_db(transaction=True)
def test_no_history_rolls_over_from_a_cache_that_ends_at_the_same_moment(session: Session) -> None:
    entry = keep()
    entry.add_session(session.pk)
    with beside() as begin:
        with transaction.atomic():
            entry.drop(EntryReason.PROVIDER)
            second = begin(lambda: CacheEntry.objects.note_roll_over("e" * 64, CausedBy(session=session.pk)))
        second.result(60)
    assert not entry.events.filter(kind=CacheEventKind.ROLLED_OVER).exists()
