"""What had become of a cache by a moment, from its events and the clock."""

from datetime import datetime, timedelta

import pytest

from sessions_app.prompt.cache_life import (
    CacheEventKind,
    CacheFate,
    CacheMoment,
    FateKind,
    fate_between,
    unused,
)
from sessions_app.prompt.caching import EXPIRY_MARGIN, EntryReason, PlanReason
from tests.prompt.examples import NOW

Kind = CacheEventKind


def at(minute: float) -> datetime:
    return NOW + timedelta(minutes=minute)


def moment(kind: Kind, minute: float, *, name: str = "c/1", until: float | None = None) -> CacheMoment:
    reason = EntryReason.ADMIN if kind is Kind.DROPPED else ""
    return CacheMoment(kind, at(minute), name, None if until is None else at(until), reason)


MADE = moment(Kind.MADE, 1, until=20)


@pytest.mark.parametrize(
    ("later", "kind", "minutes"),
    [
        ([], FateKind.EXPIRED, 10),
        ([moment(Kind.NAMED, 5)], FateKind.EXPIRED, 10),
        ([moment(Kind.EXTENDED, 5, until=40)], FateKind.LIVES, 0),
        ([moment(Kind.DROPPED, 10)], FateKind.DROPPED, 20),
        ([moment(Kind.DROPPED, 10), moment(Kind.DELETED, 12)], FateKind.DROPPED, 20),
        ([moment(Kind.DROPPED, 10), moment(Kind.NAMED, 11)], FateKind.DROPPED, 19),
        ([moment(Kind.DROPPED, 25)], FateKind.EXPIRED, 10),
        ([moment(Kind.GONE, 10)], FateKind.GONE, 20),
        ([moment(Kind.GONE, 25)], FateKind.EXPIRED, 10),
        ([moment(Kind.EXTENDED, 5, until=40), moment(Kind.DROPPED, 31)], FateKind.LIVES, 0),
        ([moment(Kind.DROPPED, 10), moment(Kind.MADE, 15, name="c/2", until=60)], FateKind.LIVES, 0),
        ([moment(Kind.EXTENDED, 5, until=40), moment(Kind.DROPPED, 30)], FateKind.DROPPED, 0),
        ([moment(Kind.DROPPED, 10), moment(Kind.KEPT, 11, until=40)], FateKind.LIVES, 0),
        ([moment(Kind.DROPPED, 10), moment(Kind.KEPT, 11, until=20)], FateKind.EXPIRED, 10),
        ([moment(Kind.EXPIRED, 10), moment(Kind.NAMED, 12)], FateKind.LIVES, 0),
        ([moment(Kind.NAMED, 5, name="c/2")], FateKind.LIVES, 0),
        ([moment(Kind.LEFT, 10), moment(Kind.ROLLED_OVER, 11)], FateKind.EXPIRED, 10),
    ],
)
def test_the_first_end_is_what_became_of_it(later: list[CacheMoment], kind: FateKind, minutes: int) -> None:
    fate = fate_between([MADE, *later], at(0), at(30))
    assert fate is not None and (fate.kind, fate.seconds) == (kind, minutes * 60)


def test_a_cache_that_ended_before_the_request_before_explains_nothing() -> None:
    events = [MADE, moment(Kind.DROPPED, 10)]
    assert fate_between(events, at(11), at(30)) is None
    assert fate_between(events, at(10), at(30)) is not None


def test_what_was_only_planned_or_refused_never_lived() -> None:
    events = [moment(Kind.PLANNED, 1), moment(Kind.REFUSED, 2), moment(Kind.PLANNED, 3)]
    assert fate_between(events, at(0), at(30)) is None


def test_a_cache_that_runs_out_within_the_margin_counts_as_expired() -> None:
    expires = at(30) + EXPIRY_MARGIN
    fate = fate_between([CacheMoment(Kind.MADE, at(1), "c/1", expires)], at(0), at(30))
    assert fate is not None and fate.kind is FateKind.EXPIRED and fate.seconds < 0


def test_a_cache_that_lived_beside_another_plan_keeps_its_name_and_the_reason_of_that() -> None:
    lives = CacheFate(FateKind.LIVES, "c/1")
    assert unused(lives, PlanReason.WAIVED) == CacheFate(FateKind.UNUSED, "c/1", plan=PlanReason.WAIVED)


def test_whoever_named_a_cache_proves_that_it_lived() -> None:
    fate = fate_between([moment(Kind.NAMED, 5), moment(Kind.DROPPED, 9)], at(5), at(30))
    assert fate is not None and (fate.kind, fate.reason) == (FateKind.DROPPED, EntryReason.ADMIN)
