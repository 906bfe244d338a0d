"""What the rules of retention take away, and how: session by session, so that nobody waits for long."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from sessions_app.models import Exchange, RetentionReport, RetentionRules, Run, Session
from sessions_app.models.payload_purge import payload_sizes, purge_payloads, session_sizes
from sessions_app.retention_codes import RetentionRule
from sessions_app.runs.background import isolated

MEGABYTE = 1_000_000

IN_USE = timedelta(days=1)
"""Nothing is taken of a session that was used within this time, unless it is in the trash. No rule has a
shorter age.
"""


@dataclass(frozen=True, slots=True)
class Due:
    """One session that a rule takes, or its payloads. `size` is in bytes before packing."""

    session: int
    rule: RetentionRule
    size: int


def due_now() -> list[Due]:
    """What the rules in force would take: each session once, erased rather than purged.

    The number of queries does not depend on how many sessions there are.
    """
    rules, now = RetentionRules.current(), timezone.now()
    idle = _idle_sessions()
    taken: dict[int, RetentionRule] = {}
    for rule, sessions in _by_age(rules, idle, now):
        for pk in sessions.values_list("pk", flat=True):
            taken.setdefault(pk, rule)
    _take_by_size(rules, RetentionRule.SESSION_MB, idle, taken, now)
    with_payload = idle.filter(Exists(_kept_payloads()))
    oldest_first = with_payload.exclude(pk__in=taken)
    age = rules.age_of(RetentionRule.PAYLOAD_DAYS)
    if age is not None:
        for pk in oldest_first.filter(updated_at__lt=now - age).values_list("pk", flat=True):
            taken.setdefault(pk, RetentionRule.PAYLOAD_DAYS)
    _take_by_size(rules, RetentionRule.PAYLOAD_MB, with_payload, taken, now)
    return list(_measured(taken))


def _idle_sessions() -> QuerySet[Session]:
    """Oldest first, without those in which something is under way."""
    active = Run.objects.filter(session=OuterRef("pk"), status__in=Run.ACTIVE)
    return Session.objects.filter(~Exists(active), is_importing=False).order_by("updated_at", "pk")


def _kept_payloads() -> QuerySet[Exchange]:
    return Exchange.objects.filter(session=OuterRef("pk"), payload_purged_at=None).order_by()


def _by_age(
    rules: RetentionRules, idle: QuerySet[Session], now: datetime
) -> Iterator[tuple[RetentionRule, QuerySet[Session]]]:
    if (age := rules.age_of(RetentionRule.TRASH_DAYS)) is not None:
        yield RetentionRule.TRASH_DAYS, idle.filter(deleted_at__lte=now - age)
    if (age := rules.age_of(RetentionRule.SESSION_DAYS)) is not None:
        yield RetentionRule.SESSION_DAYS, idle.filter(updated_at__lt=now - age)


def _take_by_size(
    rules: RetentionRules,
    rule: RetentionRule,
    sessions: QuerySet[Session],
    taken: dict[int, RetentionRule],
    now: datetime,
) -> None:
    """Takes the sessions used longest ago until the rest is within the bound."""
    megabytes: int | None = getattr(rules, rule)
    if megabytes is None:
        return
    sizes = (session_sizes if rule.is_erasure else payload_sizes)(Session.objects.order_by())
    kept = sum(size for pk, size in sizes.items() if pk not in taken)
    for pk, used_at in sessions.values_list("pk", "updated_at"):
        if kept <= megabytes * MEGABYTE or used_at > now - IN_USE:
            return
        if pk not in taken and sizes.get(pk):
            taken[pk], kept = rule, kept - sizes[pk]


def _measured(taken: dict[int, RetentionRule]) -> Iterator[Due]:
    """In portions, since a statement can name so many keys only."""
    keys = list(taken)
    for start in range(0, len(keys), 500):
        portion = keys[start : start + 500]
        whole, payload = session_sizes(portion), payload_sizes(portion)
        for pk in portion:
            sizes = whole if taken[pk].is_erasure else payload
            yield Due(pk, taken[pk], sizes.get(pk, 0))


def carry_out(due: Due) -> Counter[str]:
    """Takes away what is due, in one transaction; returns by column of the report what that was.

    Nothing where the session is gone or in use again.
    """
    found: Counter[str] = Counter()
    session = _idle_sessions().filter(pk=due.session).first()
    if session is None or not _is_still_due(session, due.rule):
        return found
    if due.rule.is_erasure:
        session.erase()
        column = "erased_from_trash" if due.rule is RetentionRule.TRASH_DAYS else "erased_sessions"
        return Counter({column: 1, "bytes": due.size})
    purged = purge_payloads(session.pk)
    return Counter({"purged_sessions": 1, "purged_exchanges": purged, "bytes": due.size}) if purged else found


def _is_still_due(session: Session, rule: RetentionRule) -> bool:
    """Whether the session was neither restored nor used since it was listed: a round may take long."""
    if rule is RetentionRule.TRASH_DAYS:
        return session.deleted_at is not None
    return session.updated_at <= timezone.now() - IN_USE


def report(found: Iterable[Counter[str]]) -> RetentionReport | None:
    """Writes down what a round took away; None where that was nothing."""
    total: Counter[str] = Counter()
    for one in found:
        total.update(one)
    return RetentionReport.objects.create(**total) if total else None


def apply_rules(due: Collection[Due]) -> RetentionReport | None:
    """One after another; a session that cannot be taken away is logged and keeps no other."""
    found = []
    for one in due:
        with isolated("retention_failed", session=one.session):
            found.append(carry_out(one))
    return report(found)
