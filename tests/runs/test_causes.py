"""Scripted sessions: what a verdict says of a miss is what happened, and the emulator's journal agrees."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import CacheEntry, CacheEvent
from sessions_app.prompt.cache_life import CacheEventKind, FateKind
from sessions_app.prompt.caching import EntryReason, PlanReason, VerdictCode
from sessions_app.prompt.rollover import thresholds_for
from sessions_app.prompt.static_change import RolledHistory, StaticChange
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.runs.cache_janitor import apply_requested_changes
from tests.runs.scripted_session import LONG, MODEL, SHORT, ScriptedSession

OTHER_MODEL = "gemini-2.5-flash"
TALK = "What do you make of it? " * 60
Kind = CacheEventKind


@pytest.fixture
def begin(transactional_db: None, alice: User) -> Iterator[Any]:
    started: list[ScriptedSession] = []

    def start(background: str = SHORT, **settings: Any) -> ScriptedSession:
        started.append(ScriptedSession(alice, background, **settings))
        return started[-1]

    yield start
    for one in started:
        one.process.end()


def kinds() -> list[str]:
    return list(CacheEvent.objects.values_list("kind", flat=True))


@pytest.mark.parametrize("background", [SHORT, LONG], ids=["short", "long"])
def test_an_idle_cache_ran_out_and_no_minimum_explains_it(begin: Any, background: str) -> None:
    played = begin(background)
    assert [played.say().code, played.say().code] == [VerdictCode.FIRST, VerdictCode.HIT]
    played.wait(60)
    played.withhold()
    verdict = played.say()
    assert (verdict.reason, verdict.code) == (VerdictReason.RAN_OUT, VerdictCode.CACHE_EXPIRED)
    assert verdict.fate is not None and verdict.fate.kind is FateKind.EXPIRED
    assert 30 * 60 < verdict.fate.seconds < 60 * 60
    assert played.newest().cache_plan.reason is PlanReason.EXPIRED
    played.agree()


def test_a_cache_that_was_made_and_never_named_ran_out_as_well(begin: Any) -> None:
    played = begin()
    played.say()
    played.wait(60)
    assert played.say().reason is VerdictReason.RAN_OUT
    assert kinds()[:4] == [Kind.PLANNED, Kind.MADE, Kind.EXPIRED, Kind.PLANNED]
    played.agree()


def test_what_the_provider_reused_by_itself_leaves_the_fate_of_our_cache(begin: Any) -> None:
    played = begin(LONG)
    for _ in range(2):
        played.say()
    CacheEntry.objects.mark_for_deletion(EntryReason.ADMIN)
    verdict = played.say()
    assert verdict.code in (VerdictCode.HIT, VerdictCode.PARTIAL) and verdict.cached
    assert verdict.fate is not None and verdict.fate.reason is EntryReason.ADMIN
    played.agree()


@pytest.mark.parametrize("background", [SHORT, LONG], ids=["short", "long"])
def test_an_edited_text_is_the_reason_whatever_the_minimum(begin: Any, background: str) -> None:
    played = begin(background)
    for _ in range(2):
        played.say()
    played.change(background="Rather this. " + background)
    verdict = played.say()
    assert (verdict.reason, verdict.cached) == (VerdictReason.LAYER_CHANGED, 0)
    assert verdict.seen is not None and verdict.seen.static is StaticChange.TEXT
    played.say()
    dropped = CacheEvent.objects.get(kind=Kind.DROPPED)
    assert dropped.reason == EntryReason.REPLACED
    played.agree()


def test_other_tools_are_the_reason(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    played.change(settings={"tools": ["add_todo"]})
    assert played.say().reason is VerdictReason.OTHER_TOOLS
    played.agree()


def test_a_refused_cache_leaves_the_providers_own_rules(begin: Any) -> None:
    played = begin()
    played.provider.refuses = True
    played.say()
    assert kinds() == [Kind.PLANNED, Kind.REFUSED]
    verdict = played.say()
    assert (verdict.reason, verdict.fate) == (VerdictReason.TOO_SHORT, None)
    assert played.newest().cache_plan.reason is PlanReason.REFUSED
    played.agree()


def test_a_cache_that_the_provider_lost_is_its_loss_on_both_requests(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    name = CacheEntry.objects.get().name
    played.process.call(played.process.runner.gateway.delete_cache(name))
    verdict = played.say()
    refused = played.newest().resend_of
    assert refused is not None and refused.found_verdict is not None
    assert refused.found_verdict.reason is VerdictReason.CACHE_GONE
    assert (verdict.reason, verdict.code) == (VerdictReason.CACHE_LOST, VerdictCode.CACHE_LOST)
    assert CacheEvent.objects.get(kind=Kind.GONE).exchange == refused
    played.agree()


def test_a_waived_cache_is_our_doing(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    played.change(settings={"cache_mode": "implicit"})
    verdict = played.say()
    assert (verdict.reason, verdict.code) == (VerdictReason.DROPPED, VerdictCode.OUR_DROP)
    assert verdict.fate is not None
    assert (verdict.fate.kind, verdict.fate.plan) == (FateKind.UNUSED, PlanReason.WAIVED)
    assert CacheEvent.objects.get(kind=Kind.DROPPED).reason == EntryReason.WAIVED
    played.agree()


@pytest.mark.parametrize("reason", [EntryReason.ADMIN, EntryReason.EMULATOR_RESTARTED])
def test_what_we_let_go_of_is_our_doing(begin: Any, reason: EntryReason) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    if reason is EntryReason.ADMIN:
        CacheEntry.objects.mark_for_deletion(reason)
    else:
        CacheEntry.objects.forget(played.newest().route.partition("/")[0], reason)
    verdict = played.say()
    assert verdict.code is VerdictCode.OUR_DROP
    assert verdict.fate is not None and verdict.fate.reason is reason
    plan = played.newest().cache_plan
    is_left = reason is EntryReason.ADMIN
    assert plan is not None and plan.reason is (PlanReason.DELETING if is_left else PlanReason.AGAIN)
    played.agree()


def delete_what_was_left(played: Any) -> None:
    """As the janitor does within seconds."""
    played.process.call(apply_requested_changes(played.process.runner.gateway))


def test_back_to_a_model_the_cache_that_we_replaced_is_the_reason(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    played.change(model=OTHER_MODEL)
    assert played.say().reason is VerdictReason.OTHER_MODEL
    delete_what_was_left(played)
    played.change(model=MODEL)
    verdict = played.say()
    assert verdict.code is VerdictCode.OUR_DROP
    assert verdict.fate is not None and verdict.fate.reason is EntryReason.REPLACED
    played.agree()


def test_back_to_a_model_long_after_another_its_own_last_request_is_compared(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    played.change(model=OTHER_MODEL)
    for _ in range(2):
        played.say()
    delete_what_was_left(played)
    played.change(model=MODEL)
    verdict = played.say()
    assert verdict.code is VerdictCode.OUR_DROP and verdict.again is not None
    assert verdict.again.number == 2
    played.agree()


def test_back_to_a_model_soon_its_cache_is_kept_and_named(begin: Any) -> None:
    played = begin()
    for _ in range(2):
        played.say()
    played.change(model=OTHER_MODEL)
    played.say()
    played.change(model=MODEL)
    assert played.say().reason is VerdictReason.NAMED
    assert played.newest().cache_plan.is_kept
    assert kinds().count(Kind.KEPT) == 1 and kinds().count(Kind.MADE) == 2
    delete_what_was_left(played)
    assert played.say().reason is VerdictReason.NAMED
    played.agree()


def test_back_to_a_model_within_minutes_a_withheld_hit_is_the_providers_miss(begin: Any) -> None:
    played = begin(LONG, cache_mode="implicit")
    played.say()
    played.change(model=OTHER_MODEL)
    assert played.say().reason is VerdictReason.OTHER_MODEL
    played.change(model=MODEL)
    played.withhold()
    verdict = played.say()
    assert (verdict.reason, verdict.code) == (VerdictReason.UNEXPLAINED, VerdictCode.PROVIDER_MISS)
    assert verdict.again is not None and verdict.again.number == 1
    assert verdict.seen is not None and verdict.seen.number == 2
    played.agree()


def test_back_to_a_model_within_minutes_its_own_last_request_is_reused(begin: Any) -> None:
    played = begin(LONG, cache_mode="implicit")
    played.say()
    played.change(model=OTHER_MODEL)
    played.say()
    played.change(model=MODEL)
    assert played.say().reason is VerdictReason.ANOTHERS_PREFIX
    played.agree()


@pytest.mark.parametrize("withheld", [True, False])
def test_a_change_taken_back_is_compared_with_the_request_that_it_brings_back(
    begin: Any, withheld: bool
) -> None:
    played = begin(LONG, cache_mode="implicit", tools=["add_todo"])
    played.say()
    played.change(settings={"tools": []})
    assert played.say().reason is VerdictReason.OTHER_TOOLS
    played.change(settings={"tools": ["add_todo"]})
    played.withhold(withheld)
    verdict = played.say()
    assert verdict.reason is (VerdictReason.UNEXPLAINED if withheld else VerdictReason.ANOTHERS_PREFIX)
    assert (verdict.again is not None and verdict.again.number == 1) is withheld
    played.agree()


def test_what_was_not_recorded_is_unknown(begin: Any) -> None:
    """As in a row of an earlier version: the cache is gone, and nothing tells why."""
    played = begin()
    for _ in range(2):
        played.say()
    CacheEvent.objects.all().delete()
    CacheEntry.objects.update(state="gone")
    verdict = played.say()
    assert (verdict.reason, verdict.code) == (VerdictReason.NOT_RECORDED, VerdictCode.UNKNOWN)


@pytest.fixture
def rolls_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.prompt.strategy.explicit_tail", lambda *_: 600.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.implicit_tail", lambda *_: 600.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.SEED", thresholds_for(400, 3))


@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize(
    "settings", [{"cache_policy": "seed"}, {"cache_mode": "implicit"}], ids=["seed", "implicit"]
)
def test_history_that_rolls_before_the_request_is_no_edit(begin: Any, settings: dict[str, str]) -> None:
    played = begin(**settings)
    verdicts = [played.say(more=TALK) for _ in range(4)]
    rolled = [one for one in verdicts if one.seen is not None and one.seen.rolled]
    assert rolled and all(one.seen.static is StaticChange.ROLLED_OVER for one in rolled if one.seen)
    assert rolled[0].seen is not None and rolled[0].seen.rolled is not None
    assert (rolled[0].seen.rolled.first_turn, rolled[0].seen.rolled.first_chunk) == (1, 1)
    assert rolled[0].code is VerdictCode.OUR_ROLLOVER
    assert VerdictCode.LAYER_CHANGED not in {one.code for one in verdicts}
    played.agree()


@pytest.mark.usefixtures("rolls_early")
def test_a_roll_over_after_a_run_of_tools_costs_no_hit_and_is_told_as_one(begin: Any) -> None:
    played = begin(tools=["add_todo"], panels={})
    played.say(more=TALK)
    for _ in range(3):
        played.say(rounds=2, more=TALK)
    exchanges = list(played.session.exchanges.order_by("number"))
    assert all(one.cache_name for one in exchanges[1:])
    seen = [one.found_verdict.seen for one in exchanges[1:] if one.found_verdict]
    rolled = [one.rolled for one in seen if one is not None and one.rolled is not None]
    assert rolled[0].first_turn == rolled[0].first_chunk == 1
    assert isinstance(rolled[0], RolledHistory)
    steps = [one.step for one, what in zip(exchanges[1:], seen, strict=True) if what and what.rolled]
    assert set(steps) == {1}
    ends = CacheEvent.objects.filter(kind=Kind.DROPPED).values_list("reason", flat=True)
    assert set(ends) == {EntryReason.ROLLED_ON}
    played.agree()
