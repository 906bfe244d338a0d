"""What could have been reused at most, beyond what was lost."""

from dataclasses import replace
from decimal import Decimal

import pytest

from sessions_app.prompt.missed_reuse import missed_reuse
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine, CacheLoss
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.prompt.verdict_rules import IMPLICIT_LIFE

RATES = Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3), None)
BREAK = BreakLine(BreakKind.CHANGED, "static", "system", 0, None, "", "", "")
SEEN = Comparison(1, 7, 5_000, was_prompt=5_000, idle_seconds=20, broken=BREAK)
CLOCK = Verdict(VerdictReason.LAYER_CHANGED, SEEN, cached=0, prompt=5_400, minimum=4_096)
CAUSES = ("system_text", "tools", "context_first", "order", "signature", "history")
TEXT = SavingCause.SYSTEM_TEXT


def test_all_that_the_request_before_had_could_have_come_from_a_cache() -> None:
    assert missed_reuse(CLOCK, TEXT, 0, RATES) == CacheLoss(5_000, Decimal("0.00225000"))


def test_what_was_cached_or_lost_is_not_counted_again() -> None:
    assert missed_reuse(replace(CLOCK, cached=1_000), TEXT, 600, RATES).tokens == 3_400


def test_a_shorter_request_has_no_more_than_its_own() -> None:
    assert missed_reuse(replace(CLOCK, prompt=4_800), TEXT, 0, None) == CacheLoss(4_800)


def test_what_stood_beside_a_named_cache_is_new_in_every_request() -> None:
    assert missed_reuse(CLOCK, TEXT, 0, RATES, was_named=True).tokens == 0


def test_a_provider_keeps_a_prompt_of_its_minimum_for_the_whole_time() -> None:
    last = replace(CLOCK, seen=replace(SEEN, idle_seconds=IMPLICIT_LIFE.total_seconds()), minimum=5_000)
    assert missed_reuse(last, TEXT, 0, RATES).tokens == 5_000


def test_what_was_reused_as_a_whole_leaves_nothing() -> None:
    assert missed_reuse(replace(CLOCK, cached=5_200), TEXT, 0, RATES) == CacheLoss(0, Decimal(0))


@pytest.mark.parametrize(
    "verdict",
    [
        None,
        replace(CLOCK, seen=None),
        replace(CLOCK, seen=replace(SEEN, was_prompt=None)),
        replace(CLOCK, seen=replace(SEEN, broken=None)),
        replace(CLOCK, minimum=0),
        replace(CLOCK, minimum=5_001),
        replace(CLOCK, seen=replace(SEEN, idle_seconds=IMPLICIT_LIFE.total_seconds() + 1)),
    ],
)
def test_nothing_is_claimed_of_what_no_provider_would_have_kept(verdict: Verdict | None) -> None:
    assert missed_reuse(verdict, TEXT, 0, RATES).tokens == 0


@pytest.mark.parametrize("cause", SavingCause)
def test_it_is_of_causes_behind_which_the_same_is_sent_again(cause: SavingCause) -> None:
    assert bool(missed_reuse(CLOCK, cause, 0, RATES).tokens) == (cause in CAUSES)


@pytest.mark.parametrize("kind", BreakKind)
def test_a_history_that_somebody_asked_otherwise_is_not_sent_again(kind: BreakKind) -> None:
    """A window that slides drops what is old; a document in front of the history is another each time."""
    turned = replace(CLOCK, seen=replace(SEEN, broken=replace(BREAK, kind=kind)))
    assert bool(missed_reuse(turned, SavingCause.HISTORY, 0, RATES).tokens) == (
        kind not in ("replaced", "shortened", "unknown")
    )
