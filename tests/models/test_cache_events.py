"""Every change of a cache entry's state leaves its event, in the same transaction."""

import ast
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import sessions_app
from sessions_app.models import CacheEntry, CacheEvent, Session
from sessions_app.models.cache_event import CausedBy
from sessions_app.prompt.cache_life import CacheEventKind, FateKind, fate_between
from sessions_app.prompt.caching import EntryReason
from tests.factories import MODEL, make_exchange, make_run, make_session
from tests.models.test_cache import ENDPOINT, PRINT, claim, keep

Kind = CacheEventKind
ENTRIES = CacheEntry.objects


def kinds() -> list[str]:
    return list(CacheEvent.objects.order_by("pk").values_list("kind", flat=True))


def reasons() -> list[str]:
    return list(CacheEvent.objects.order_by("pk").values_list("reason", flat=True))


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def gone_twice() -> None:
    for _ in range(2):
        ENTRIES.get().drop(EntryReason.PROVIDER)


CHANGES: dict[str, tuple[Callable[[], object], list[Kind]]] = {
    "made": (lambda: None, []),
    "extended": (lambda: ENTRIES.set_expiry("cachedContents/ffffffff", timezone.now()), [Kind.EXTENDED]),
    "dropped": (lambda: ENTRIES.mark_for_deletion(EntryReason.ADMIN), [Kind.DROPPED]),
    "forgotten": (lambda: ENTRIES.forget(ENDPOINT, EntryReason.EMULATOR_RESTARTED), [Kind.DROPPED]),
    "gone": (lambda: ENTRIES.get().drop(EntryReason.PROVIDER, "403"), [Kind.GONE]),
    "not gone twice": (gone_twice, [Kind.GONE]),
    "claimed while it lives": (claim, []),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_leaves_its_event(name: str) -> None:
    keep()
    change, left = CHANGES[name]
    change()
    assert kinds() == [Kind.PLANNED, Kind.MADE, *left]
    assert CacheEvent.objects.filter(kind=Kind.MADE, name="cachedContents/ffffffff").exists()


@pytest.mark.django_db
def test_what_we_let_go_of_keeps_our_reason_when_the_provider_deletes_it() -> None:
    keep()
    ENTRIES.mark_for_deletion(EntryReason.ADMIN)
    ENTRIES.get().drop(EntryReason.PROVIDER, "403")
    assert kinds()[-2:] == [Kind.DROPPED, Kind.DELETED] and set(reasons()[-2:]) == {EntryReason.ADMIN}
    assert ENTRIES.get().reason == EntryReason.ADMIN


@pytest.mark.django_db
def test_an_expiry_that_nobody_noticed_is_written_before_what_follows() -> None:
    entry = keep(minutes=-5)
    assert claim()
    assert kinds() == [Kind.PLANNED, Kind.MADE, Kind.EXPIRED, Kind.PLANNED]
    assert CacheEvent.objects.get(kind=Kind.EXPIRED).at == entry.expires_at


@pytest.mark.django_db
def test_an_expiry_that_nobody_asked_about_is_written_once() -> None:
    entry = keep(minutes=-5)
    assert [ENTRIES.filter(pk=entry.pk).expire() for _ in range(2)] == [1, 0]
    assert kinds() == [Kind.PLANNED, Kind.MADE, Kind.EXPIRED]
    assert CacheEvent.objects.get(kind=Kind.EXPIRED).at == entry.expires_at
    fresh = ENTRIES.get()
    assert (fresh.state, fresh.reason) == (CacheEntry.State.GONE, EntryReason.EXPIRED)
    assert claim(), "the text may be cached again"


@pytest.mark.django_db
@pytest.mark.parametrize("minutes", [5, -0.2])
def test_a_cache_whose_extension_may_still_be_answered_has_not_expired(minutes: float) -> None:
    keep(minutes=minutes)
    assert ENTRIES.all().expire() == 0 and kinds() == [Kind.PLANNED, Kind.MADE]


@pytest.mark.django_db
def test_a_cache_that_is_missing_after_its_time_has_expired_and_is_not_lost() -> None:
    keep(minutes=-5).drop(EntryReason.NOT_LISTED)
    assert kinds() == [Kind.PLANNED, Kind.MADE, Kind.EXPIRED]


@pytest.mark.django_db
@pytest.mark.parametrize(("is_refused", "kind"), [(False, Kind.NOT_MADE), (True, Kind.REFUSED)])
def test_a_claim_without_a_cache_says_whether_it_was_refused(is_refused: bool, kind: Kind) -> None:
    claim()
    ENTRIES.release(PRINT, "No.", is_refused=is_refused)
    assert kinds() == [Kind.PLANNED, kind] and CacheEvent.objects.get(kind=kind).said == "No."


@pytest.mark.django_db
def test_a_refused_text_is_told_with_the_providers_words() -> None:
    claim()
    ENTRIES.refuse(PRINT, "Too small.")
    event = CacheEvent.objects.get(kind=Kind.REFUSED)
    assert (event.reason, event.said) == (EntryReason.PROVIDER, "Too small.")


def test_another_text_replaces_a_cache_and_history_rolls_over_to_one(session: Session) -> None:
    for fingerprint in ("a" * 64, "b" * 64):
        keep(fingerprint).add_session(session.pk)
    by = CausedBy(session=session.pk)
    ENTRIES.release_for_session(session.pk, EntryReason.REPLACED, but="b" * 64)
    newest = keep("c" * 64)
    newest.add_session(session.pk)
    ENTRIES.note_roll_over(newest.fingerprint, by)
    ENTRIES.release_for_session(session.pk, EntryReason.REPLACED, but=newest.fingerprint)
    told = CacheEvent.objects.filter(kind=Kind.DROPPED).order_by("pk")
    assert [(one.entry.fingerprint[0], one.reason) for one in told] == [
        ("a", EntryReason.REPLACED),
        ("b", EntryReason.ROLLED_ON),
    ]


def test_a_session_that_leaves_a_shared_cache_ends_nothing(session: Session, alice: User) -> None:
    entry = keep()
    for user in (session, make_session(alice)):
        entry.add_session(user.pk)
    session.soft_delete()
    left = CacheEvent.objects.latest("pk")
    assert (left.kind, left.reason, left.session) == (Kind.LEFT, EntryReason.SESSION_DELETED, session)
    now = timezone.now()
    fate = fate_between(CacheEvent.objects.lives(now, PRINT)[PRINT], now, now)
    assert fate is not None and fate.kind is FateKind.LIVES


def test_a_request_that_names_a_cache_costs_one_insert(session: Session) -> None:
    entry, exchange = keep(), make_exchange(make_run(session), cache_name="cachedContents/ffffffff")
    with CaptureQueriesContext(connection) as context:
        ENTRIES.note_use(entry.pk, exchange)
    assert [one["sql"].split()[0] for one in context.captured_queries] == ["UPDATE", "INSERT"]
    event = CacheEvent.objects.get(kind=Kind.NAMED)
    assert (event.exchange, event.session, event.at) == (exchange, session, exchange.started_at)
    assert CacheEntry.objects.get().hits == 1


def test_an_erased_session_leaves_the_events_without_its_name(session: Session) -> None:
    entry, exchange = keep(), make_exchange(make_run(session), cache_name="cachedContents/ffffffff")
    entry.add_session(session.pk)
    ENTRIES.note_use(entry.pk, exchange)
    session.erase()
    assert kinds() == [Kind.PLANNED, Kind.MADE, Kind.NAMED, Kind.DROPPED]
    assert not CacheEvent.objects.exclude(session=None, exchange=None).exists()


def test_what_an_erased_exchange_caused_names_none(session: Session) -> None:
    exchange = make_exchange(make_run(session))
    by = CausedBy(exchange.pk, session.pk)
    session.erase()
    assert ENTRIES.claim(PRINT, model=MODEL, route=ENDPOINT, by=by)
    assert CacheEvent.objects.get().exchange is None


@pytest.mark.django_db
def test_a_change_that_is_rolled_back_leaves_no_event() -> None:
    keep()
    with transaction.atomic():
        ENTRIES.mark_for_deletion(EntryReason.ADMIN)
        transaction.set_rollback(True)
    assert Kind.DROPPED not in kinds() and CacheEntry.objects.get().state == CacheEntry.State.LIVE


@pytest.mark.django_db
def test_an_extension_is_told_with_the_new_end() -> None:
    keep()
    until = timezone.now() + timedelta(hours=3)
    ENTRIES.set_expiry("cachedContents/ffffffff", until)
    assert CacheEvent.objects.get(kind=Kind.EXTENDED).expires == until


WRITERS = ("update", "create", "get_or_create", "update_or_create", "bulk_create", "bulk_update", "aupdate")
HOME = "cache_queries.py"


def writes_state(node: ast.AST) -> bool:
    """Whether it writes the state of a cache entry: an attribute, a saved row, an argument of a query."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr="state", value=owner)]):
            return "entry" in ast.unparse(owner)
        case ast.Call(func=ast.Attribute(attr="save", value=owner)):
            return "entry" in ast.unparse(owner)
        case ast.Call(func=ast.Attribute(attr=name)) if name in WRITERS:
            written = " ".join(map(ast.unparse, (*node.args, *(each.value for each in node.keywords))))
            return "CacheEntry.State" in written or "EntryState" in written
    return False


def state_writes(source: str) -> Iterator[int]:
    """The lines that do."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt | ast.expr))
    yield from (node.lineno for node in nodes if writes_state(node))


def test_no_other_code_changes_a_state() -> None:
    """Nor anything else by a query set of cache entries, but what has its place here."""
    root = Path(sessions_app.__file__).parent
    sources = {path.relative_to(root): path.read_text() for path in root.rglob("*.py")}
    found = [
        f"{path}:{line}"
        for path, source in sources.items()
        if path.name != HOME and "migrations" not in path.parts and "CacheEntry" in source
        for line in state_writes(source)
    ]
    assert found == []
    home = next(source for path, source in sources.items() if path.name == HOME)
    updates = home.count(".update(**changes)")
    assert updates == 2, "set_state and set_expiry, which changes no state"


@pytest.mark.parametrize(
    "line",
    [
        "CacheEntry.objects.filter(pk=1).update(state=CacheEntry.State.GONE)",
        "entry.state = State.GONE",
        "entry.save()",
        "rows.update(**{'state': CacheEntry.State.GONE})",
        "CacheEntry.objects.get_or_create(fingerprint='f', defaults={'state': CacheEntry.State.LIVE})",
    ],
)
def test_a_change_elsewhere_would_be_found(line: str) -> None:
    assert list(state_writes(line)) == [1]
