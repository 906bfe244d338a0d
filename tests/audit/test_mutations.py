"""The audit of sessions that the product made with a rule broken, or of which a stored fact was changed."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference, Figure
from sessions_app.audit.verdicts import CODES as AUDITED_CODES
from sessions_app.models import CacheEntry, CacheEvent, Exchange
from sessions_app.prompt import logical_prompt, prompt_comparison, verdict_rules
from sessions_app.prompt.break_culprit import Culprit
from sessions_app.prompt.prefix_diff import BreakKind, CacheLoss
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.static_change import StaticChange
from sessions_app.prompt.verdict import CODES, Verdict, VerdictReason
from sessions_app.runs import accounting, causes
from tests.audit.rules import rules_of
from tests.runs.scripted_session import LONG, MODEL, ScriptedSession

Begin = Callable[..., ScriptedSession]


@pytest.fixture
def begin(transactional_db: None, alice: User) -> Iterator[Begin]:
    started: list[ScriptedSession] = []

    def start(**settings: Any) -> ScriptedSession:
        started.append(ScriptedSession(alice, LONG, **settings))
        return started[-1]

    yield start
    for one in started:
        one.process.end()


def audited(played: ScriptedSession) -> list[Difference]:
    return list(audit_session(played.session.pk, "played"))


def figures(played: ScriptedSession) -> set[StrEnum]:
    return {one.figure for one in audited(played)}


@pytest.fixture
def broken_prompt(begin: Begin) -> ScriptedSession:
    """An explicit cache that is named, then an edit of the text that it holds."""
    played = begin()
    for _ in range(2):
        played.say()
    played.change(background="Rather this. " + LONG)
    played.say()
    assert audited(played) == []
    return played


def store(exchange: Exchange, **columns: Any) -> None:
    Exchange.objects.filter(pk=exchange.pk).update(**columns)


@pytest.mark.parametrize("reason", list(VerdictReason))
def test_no_other_reason_passes_for_any_exchange(
    broken_prompt: ScriptedSession, reason: VerdictReason
) -> None:
    for exchange in broken_prompt.session.exchanges.all():
        kept = exchange.verdict, exchange.verdict_figures
        if reason.value != kept[1]["reason"]:
            store(exchange, verdict=CODES[reason].value, verdict_figures=kept[1] | {"reason": reason.value})
            assert (exchange.number, Figure.VERDICT) in {
                (one.exchange, one.figure) for one in audited(broken_prompt)
            }
            store(exchange, verdict=kept[0], verdict_figures=kept[1])


def test_each_reason_has_its_code_in_the_audit_as_well() -> None:
    ours = {reason.value: code.value for reason, code in CODES.items() if reason is not VerdictReason.UNKNOWN}
    assert ours == AUDITED_CODES


def test_a_moved_break_and_an_unchanged_culprit_are_noticed(broken_prompt: ScriptedSession) -> None:
    exchange = broken_prompt.newest()
    line = exchange.break_line
    for name, value in {"item": line["at"]["item"] + 1, "char": line["at"]["char"] + 1}.items():
        store(exchange, break_line=line | {"at": line["at"] | {name: value}})
        assert Figure.BREAK_PLACE in figures(broken_prompt)
    store(exchange, break_line=line | {"at": line["at"] | {"layer_byte": line["at"]["layer_byte"] + 1}})
    assert figures(broken_prompt) == {Figure.BREAK_BYTES}
    store(exchange, break_line=line | {"source": "tools"})
    assert Figure.CULPRIT in figures(broken_prompt)
    store(exchange, break_line={})
    assert Figure.BREAK_PLACE in figures(broken_prompt)


def test_a_prefix_beyond_the_break_is_noticed(broken_prompt: ScriptedSession) -> None:
    exchange = broken_prompt.newest()
    seen = exchange.verdict_figures["seen"]
    longer = seen | {"prefix_tokens": seen["tokens"] + 1}
    store(exchange, verdict_figures=exchange.verdict_figures | {"seen": longer})
    assert Figure.PREFIX_TOKENS in figures(broken_prompt)


def test_a_request_without_its_event_is_noticed(broken_prompt: ScriptedSession) -> None:
    named = CacheEvent.objects.filter(kind="named")
    assert named.exists()
    named.delete()
    assert Figure.NAMED_EVENTS in figures(broken_prompt)


def test_requests_of_versions_without_events_need_none(broken_prompt: ScriptedSession) -> None:
    """Migration 0027 told the making and the end of each cache, not who named it."""
    CacheEvent.objects.exclude(kind__in=["made", "dropped"]).delete()
    CacheEvent.objects.update(exchange=None, session=None)
    assert not figures(broken_prompt) & {Figure.NAMED_EVENTS, Figure.CACHE_LIFE}


def test_a_request_after_the_first_event_of_a_told_cache_needs_one(broken_prompt: ScriptedSession) -> None:
    made = CacheEvent.objects.filter(kind="made").earliest("at")
    CacheEvent.objects.filter(pk=made.pk).update(exchange=None, session=None)
    CacheEvent.objects.filter(kind__in=["planned", "named"], entry=made.entry_id).delete()
    first = Exchange.objects.order_by("pk")[0]
    CacheEvent.objects.create(
        kind="extended",
        entry_id=made.entry_id,
        name=made.name,
        at=made.at,
        exchange=first,
        session=first.session,
    )
    assert Figure.NAMED_EVENTS in figures(broken_prompt)


@pytest.mark.parametrize("kind", ["made", "named", "deleted"])
def test_an_event_after_the_end_of_a_cache_is_noticed(broken_prompt: ScriptedSession, kind: str) -> None:
    end = CacheEvent.objects.filter(kind="made").latest("at")
    late = {"entry_id": end.entry_id, "name": end.name, "at": end.at + timedelta(minutes=1)}
    CacheEvent.objects.create(kind="gone", **late)
    later = late | {"at": end.at + timedelta(minutes=2)}
    CacheEvent.objects.create(kind=kind, **later)
    found = figures(broken_prompt)
    assert (Figure.CACHE_LIFE in found) is (kind != "deleted")


def expires(played: ScriptedSession) -> None:
    for _ in range(2):
        played.say()
    played.wait(60)
    played.withhold()
    played.say()


def changes_background(played: ScriptedSession) -> None:
    for _ in range(2):
        played.say()
    played.change(background="Rather this. " + LONG)
    played.say()


def misses(played: ScriptedSession) -> None:
    played.say()
    played.withhold()
    played.say()


def rests(played: ScriptedSession) -> None:
    played.say()
    played.wait(60)
    played.withhold()
    played.say()


def goes_on(played: ScriptedSession) -> None:
    for _ in range(2):
        played.say()


def comes_back(played: ScriptedSession) -> None:
    """To a model that was asked before another one."""
    played.say()
    played.change(model="gemini-2.5-flash")
    played.say()
    played.change(model=MODEL)
    played.withhold()
    played.say()


def loses_its_cache(played: ScriptedSession) -> None:
    goes_on(played)
    name = CacheEntry.objects.get().name
    played.process.call(played.process.runner.gateway.delete_cache(name))
    played.say()


IMPLICIT = {"cache_mode": "implicit"}
WRONG = VerdictReason.NOT_RECORDED


def wrong(*_: Any, **__: Any) -> VerdictReason:
    return WRONG


def wrong_verdict(*_: Any, **__: Any) -> Verdict:
    return Verdict(WRONG)


Mutation = tuple[Callable[[ScriptedSession], None], dict[str, str], Any]

MUTATIONS: dict[str, Mutation] = {
    "verdict_of": (goes_on, IMPLICIT, wrong_verdict),
    "asked_again": (comes_back, IMPLICIT, lambda found, *_: found),
    "lost_by": (loses_its_cache, {}, wrong_verdict),
    "_hit": (goes_on, IMPLICIT, wrong),
    "_miss": (misses, IMPLICIT, wrong),
    "_ended": (expires, {}, wrong),
    "_without_cache": (expires, {}, lambda *_: VerdictReason.UNEXPLAINED),
    "_OTHER_STATIC": (changes_background, {}, dict.fromkeys(StaticChange, WRONG)),
    "_ENDED": (expires, {}, {}),
    "_own_change": (changes_background, IMPLICIT, lambda *_: None),
    "_other_cause": (misses, IMPLICIT, lambda *_: VerdictReason.TIME_PASSED),
    "_is_perhaps_too_short": (misses, IMPLICIT, lambda *_: True),
    "_changed": (changes_background, IMPLICIT, wrong),
    "_is_whole": (changes_background, IMPLICIT, lambda *_: True),
    "_perhaps_unchanged": (changes_background, IMPLICIT, lambda *_: 10**9),
    "_surely_unchanged": (changes_background, IMPLICIT, lambda *_: 10**9),
    "IMPLICIT_LIFE": (rests, IMPLICIT, timedelta(days=9)),
    "WHOLE_SHARE": (goes_on, IMPLICIT, 9.0),
}
"""By rule (its name in `verdict_rules`): what reaches it, the settings, and a wrong rule in its place."""


def test_every_rule_has_a_mutation() -> None:
    assert set(MUTATIONS) == rules_of(verdict_rules)


@pytest.mark.parametrize("rule", MUTATIONS)
def test_a_broken_rule_is_noticed(begin: Begin, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    play, settings, broken = MUTATIONS[rule]
    monkeypatch.setattr(verdict_rules, rule, broken)
    # `causes` holds some by their names.
    if hasattr(causes, rule):
        monkeypatch.setattr(causes, rule, broken)
    played = begin(**settings)
    play(played)
    assert Figure.VERDICT in figures(played)


def trigger_blamed(_: object, now: Sequence[PromptItem], __: object) -> Culprit:
    return Culprit(BreakKind.CHANGED, len(now) - 1, is_before=False)


BREAKS: dict[Figure, tuple[Any, str, Any]] = {
    Figure.LOST_TOKENS: (accounting, "cache_loss", lambda *_: CacheLoss(7)),
    Figure.CULPRIT: (prompt_comparison, "culprit_of", trigger_blamed),
    Figure.BREAK_PLACE: (logical_prompt, "common_length", lambda *_: 1),
}
"""By figure the function that decides it, and a wrong one in its place."""


@pytest.mark.parametrize("figure", BREAKS)
def test_a_broken_rule_of_breaks_and_losses_is_noticed(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    monkeypatch.setattr(*BREAKS[figure])
    played = begin()
    changes_background(played)
    assert figure in figures(played)


@pytest.mark.parametrize("play", [expires, changes_background, misses, rests, goes_on, comes_back])
@pytest.mark.parametrize("settings", [{}, IMPLICIT], ids=["explicit", "implicit"])
def test_without_a_broken_rule_there_is_no_difference(begin: Begin, play: Any, settings: Any) -> None:
    played = begin(**settings)
    play(played)
    assert audited(played) == []
