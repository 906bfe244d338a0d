"""What the audit decides of one exchange, from rows that are written by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from sessions_app.audit.cache_life import Fate
from sessions_app.audit.verdicts import Case, differ_in_settings, served_by_several

AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def exchange(**columns: Any) -> dict[str, Any]:
    plain = {
        "outcome": "complete",
        "error": {},
        "route": "a/gemini-3-flash-preview",
        "model": "gemini-3-flash-preview",
        "served_model": "",
        "fingerprint": "f",
        "cache_name": "",
        "cache_action": "",
        "plan_figures": {},
        "started_at": AT,
        "ended_at": AT + MINUTE,
    }
    return plain | columns


class Caches:
    """What had become of caches, by fingerprint; remembers what it was asked."""

    rows = SimpleNamespace()

    def __init__(self, *events: dict[str, Any], **ends: str) -> None:
        self.events, self.ends, self.asked = {"f": events}, ends, list[tuple[Any, ...]]()

    def fate(self, fingerprint: str, *asked: Any) -> Fate | None:
        self.asked.append((fingerprint, *asked))
        return Fate("c", self.ends[fingerprint], "", None) if fingerprint in self.ends else None


def case(caches: Any, **columns: Any) -> Case:
    return Case(caches, exchange(**columns))


@pytest.mark.parametrize(
    ("was", "now", "differs"),
    [
        ({}, {}, False),
        ({"temperature": 1}, {"temperature": 1}, False),
        ({"temperature": 1}, {"temperature": 2}, True),
        ({"temperature": 1}, {}, True),
        ({"temperature": None}, {}, True),
        ({}, {"continuationToken": "t"}, False),
        ({"cachedContent": "a"}, {"cachedContent": "b"}, False),
        ({"cachedContent": "a"}, {"toolConfig": {}}, False),
        ({"cachedContent": "a"}, {"toolConfig": {}, "temperature": 1}, True),
        ({}, {"toolConfig": {}}, True),
        ({"cachedContent": "a"}, {"cachedContent": "a", "toolConfig": {}}, True),
    ],
)
def test_settings_differ_beside_the_cache_and_what_it_holds(
    was: dict[str, Any], now: dict[str, Any], differs: bool
) -> None:
    assert differ_in_settings(was, now) is differ_in_settings(now, was) is differs


@pytest.mark.parametrize(
    ("one", "other", "several"),
    [
        ("gemini-2.5-flash", "gemini-2.5-pro", True),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-002", False),
        ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20", False),
        ("gemini-2.5-flash", "", False),
        ("", "", False),
    ],
)
def test_a_revision_is_no_other_model(one: str, other: str, several: bool) -> None:
    assert served_by_several(exchange(served_model=one), exchange(served_model=other)) is several


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"route": "b/gemini-3-flash-preview"}, False),
        ({"route": "a/gemini-2.5-pro"}, True),
        ({"model": "gemini-2.5-pro"}, False),
        ({"model": "gemini-flash-latest", "served_model": "gemini-3-flash-preview"}, True),
        ({"model": "gemini-flash-latest", "served_model": "gemini-2.5-flash"}, False),
    ],
)
def test_the_same_model_is_asked_at_one_endpoint_under_any_name(
    changes: dict[str, Any], is_same: bool
) -> None:
    asked = case(Caches(), served_model="gemini-3-flash-preview")
    assert asked.asks_same(exchange(**changes)) is is_same
    assert case(Caches(), model="another").asks_same(exchange()) is False


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ({"f": "expired"}, "ran_out"),
        ({"f": "dropped"}, "dropped"),
        ({"f": "gone"}, "cache_gone"),
        ({"f": "lives"}, "cache_gone"),
        ({}, "cache_gone"),
    ],
)
def test_a_request_whose_cache_is_gone_tells_what_had_become_of_it(ends: dict[str, str], reason: str) -> None:
    """Since the first event of this cache, and not of another one of the entry."""
    events = [{"name": name, "at": AT - MINUTE * ago} for name, ago in (("b", 9), ("c", 5), ("c", 2))]
    caches = Caches(*events, **ends)
    gone = {"outcome": "", "error": {"kind": "CacheGone"}, "cache_name": "c"}
    assert case(caches, **gone).reason() == reason
    assert caches.asked == [("f", AT - MINUTE * 5, AT + MINUTE, "c")]


PLANNED = {"cache_action": "create", "fingerprint": "f"}


@pytest.mark.parametrize(
    ("ends", "before", "now", "end"),
    [
        ({"f": "gone"}, {}, {}, None),
        ({"f": "gone"}, {"cache_action": "none"}, {}, None),
        ({"f": "gone"}, {"cache_action": "none", "cache_name": "c"}, {}, "gone"),
        ({"f": "gone"}, PLANNED, {}, "gone"),
        ({"f": "lives"}, PLANNED, {}, None),
        ({"f": "lives"}, PLANNED, {"plan_figures": {"reason": "waived"}}, "unused"),
        ({"f": "lives"}, PLANNED, {"plan_figures": {"reason": "not_offered"}}, "unused"),
        ({"f": "lives"}, PLANNED, {"plan_figures": {"reason": "client"}}, "unused"),
        ({"f": "lives"}, PLANNED, {"plan_figures": {"reason": "named"}}, None),
        ({}, PLANNED, {}, None),
        ({}, PLANNED | {"cache_name": "c"}, {}, "unknown"),
        ({"e": "lives"}, PLANNED | {"fingerprint": "e"}, {}, "other_bytes"),
        ({}, PLANNED | {"fingerprint": "e", "cache_name": "c"}, {}, "other_bytes"),
        ({}, PLANNED | {"fingerprint": "e"}, {}, None),
    ],
)
def test_what_had_become_of_the_cache_that_could_have_been_named(
    ends: dict[str, str], before: dict[str, Any], now: dict[str, Any], end: str | None
) -> None:
    earlier = exchange(started_at=AT - MINUTE * 3, **before)
    caches = Caches(**ends)
    fate = case(caches, **now).fate(earlier)
    assert (fate and fate.end) == end
    assert {asked[1:] for asked in caches.asked} <= {(AT - MINUTE * 3, AT)}


TOKENS = 2_000
HIT = {"cached_tokens": 900, "prompt_tokens": TOKENS}
MISS = {"cached_tokens": 0, "prompt_tokens": TOKENS}
TURN = {"source": "turn:1", "kind": "removed"}


EARLIER: dict[str, Any] = {
    "payload_purged_at": None,
    "prompt_tokens": TOKENS,
    "settings": {},
    "id": 1,
    "number": 1,
    "started_at": AT - MINUTE * 9,
    "ended_at": AT - MINUTE * 5,
}


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The reason of an answered exchange after another one; of so many tokens `prefix` stayed the same."""
    for name in ("is_cut_off", "is_unanswered"):
        monkeypatch.setattr(f"sessions_app.audit.verdicts.{name}", lambda *_: False)

    def decide(
        now: dict[str, Any],
        before: dict[str, Any] | None,
        *,
        prefix: int = TOKENS,
        minimum: int = 1_000,
        static: str = "same",
        others: Sequence[dict[str, Any]] = (),
    ) -> str:
        earlier = None if before is None else exchange(**EARLIER | before)
        ours: dict[str, Any] = {"minimum_of": minimum, "static_change": static, "compared_with": earlier}
        for name, value in ours.items():
            monkeypatch.setattr(f"sessions_app.audit.verdicts.{name}", lambda *_, value=value: value)
        caches = Caches()
        caches.rows = SimpleNamespace(
            items=lambda one: [SimpleNamespace(tokens=TOKENS, source="static")],
            settings=lambda one: one["settings"],
            exchanges=[exchange(**EARLIER | {"id": 0, "number": 0} | one) for one in others],
        )
        facts: dict[str, Any] = {"number": 2, "settings": {}, "break_line": {}, "continues_id": None}
        facts |= {"verdict_figures": {"seen": {"prefix_tokens": prefix}}} | now
        return case(caches, **facts).reason()

    return decide


@pytest.mark.parametrize(
    ("now", "before", "told", "reason"),
    [
        (HIT | {"cache_name": "c"}, {}, {}, "named"),
        (HIT, None, {}, "anothers_prefix"),
        (HIT, {"model": "another"}, {}, "anothers_prefix"),
        (HIT, {"payload_purged_at": AT}, {}, "not_compared"),
        (HIT, {}, {"prefix": 1_000}, "whole_prefix"),
        (HIT, {}, {"prefix": 1_001}, "part_of_prefix"),
        (HIT | {"break_line": TURN}, {}, {"prefix": 1_000}, "part_of_prefix"),
        (HIT | {"break_line": TURN}, {}, {"prefix": 811}, "part_of_prefix"),
        (HIT | {"break_line": TURN}, {}, {"prefix": 809}, "anothers_prefix"),
        (HIT | {"cached_tokens": 1_800}, {}, {}, "whole_prefix"),
        (HIT | {"cached_tokens": 1_799}, {}, {}, "part_of_prefix"),
        (HIT | {"prompt_tokens": None}, {}, {}, "no_usage"),
        (MISS | {"cache_name": "c"}, {}, {}, "named_not_counted"),
        (MISS | {"continues_id": 1}, {}, {}, "continued"),
        (MISS, None, {}, "nothing_before"),
        (MISS, {}, {"minimum": 0}, "never_caches"),
        (MISS | {"prompt_tokens": 999}, {"model": "another"}, {}, "too_short"),
        (MISS | {"prompt_tokens": 1_000}, {"model": "another"}, {}, "other_model"),
        (MISS, {"settings": {"temperature": 1}}, {}, "other_settings"),
        (MISS, {"prompt_tokens": 999}, {}, "earlier_too_short"),
        (MISS, {"prompt_tokens": 1_111}, {"prefix": 999}, "near_minimum"),
        (MISS, {"prompt_tokens": 1_112}, {"prefix": 999}, "unexplained"),
        (MISS, {"prompt_tokens": 1_111}, {"prefix": 1_000}, "unexplained"),
        (MISS, {"prompt_tokens": None}, {"prefix": 999}, "near_minimum"),
        (MISS, {}, {}, "unexplained"),
        (MISS, {"ended_at": AT - MINUTE * 5 - timedelta(seconds=1)}, {}, "time_passed"),
        (MISS, {"ended_at": None}, {}, "time_passed"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 1_112}, "unexplained"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 1_110}, "near_minimum"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 900}, "near_minimum"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 899}, "history_rewritten"),
        (MISS | {"break_line": TURN, "prompt_tokens": 1_050}, {}, {}, "unexplained"),
        (MISS | {"break_line": TURN, "prompt_tokens": 1_050}, {}, {"prefix": 1_999}, "near_minimum"),
        (MISS | {"break_line": TURN | {"kind": "changed"}}, {}, {"prefix": 9}, "layer_changed"),
        (MISS | {"break_line": TURN | {"kind": "signed_otherwise"}}, {}, {"prefix": 9}, "layer_changed"),
        (MISS | {"break_line": TURN | {"source": "panel:1"}}, {}, {"prefix": 9}, "layer_changed"),
        (MISS | {"break_line": TURN | {"source": "tools"}}, {}, {"prefix": 9}, "other_tools"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 9, "static": "rolled_over"}, "rolled_over"),
        (MISS | {"break_line": TURN}, {}, {"prefix": 9, "static": "unknown"}, "history_rewritten"),
    ],
)
def test_the_first_reason_that_explains_it_is_the_verdict(
    decided: Any, now: dict[str, Any], before: dict[str, Any] | None, told: dict[str, Any], reason: str
) -> None:
    assert decided(now, before, **told) == reason


def test_answers_of_two_models_explain_a_miss(decided: Any) -> None:
    served = MISS | {"served_model": "gemini-3-flash-preview"}
    assert decided(served, {"served_model": "gemini-2.5-flash"}) == "served_by_another"


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({}, "unexplained"),
        ({"ended_at": AT - MINUTE * 6}, "time_passed"),
        ({"settings": {"temperature": 1}}, "other_settings"),
        ({"model": "gemini-2.5-pro"}, "other_model"),
        ({"prompt_tokens": None}, "other_model"),
        ({"payload_purged_at": AT}, "other_model"),
        ({"number": 2}, "other_model"),
    ],
)
def test_after_another_model_the_last_request_to_this_one_explains_it(
    decided: Any, other: dict[str, Any], reason: str
) -> None:
    assert decided(MISS, {"model": "another"}, others=[other]) == reason


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({}, "unexplained"),
        ({"ended_at": AT - MINUTE * 6}, "other_tools"),
        ({"ended_at": None}, "other_tools"),
        ({"id": 1}, "other_tools"),
    ],
)
def test_a_recent_request_with_the_same_beginning_counts_before_one_that_differs(
    decided: Any, other: dict[str, Any], reason: str
) -> None:
    now = MISS | {"break_line": TURN | {"source": "tools"}}
    assert decided(now, {}, prefix=9, others=[other]) == reason
