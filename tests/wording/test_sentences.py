"""How sentences are put together from figures, once for each subject."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from sessions_app.gemini.routes import route_of, route_to
from sessions_app.prompt.caching import CacheAction, CachePlan, EntryReason, PlanReason
from sessions_app.prompt.prefix_diff import BreakKind, CacheLoss
from sessions_app.prompt.pricing import Budget, BudgetScope, Money, Rates, cost
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.strategy import StrategyReason
from sessions_app.prompt.turns import IMPORTED
from sessions_app.prompt.verdict import Verdict, VerdictReason
from sessions_app.wording import (
    break_lines,
    budgets,
    cache_plans,
    costs,
    remarks,
    sentences,
    sessions,
    sources,
    strategies,
    verdicts,
)
from tests.wording.examples import BREAK, PLACE, SAME, STRATEGY, UNCOUNTED

COUNTS = Usage(prompt=11_125, cached=7_441, output=20, thoughts=409)
RATES = Rates(Decimal(3), Decimal("0.30"), Decimal(15))


def test_a_verdict_sets_two_facts_side_by_side() -> None:
    early = replace(SAME, prefix_tokens=300, broken=replace(BREAK, at=replace(PLACE, char=12)))
    verdict = Verdict(VerdictReason.LAYER_CHANGED, early, cached=0, prompt=10_000, minimum=4_096)
    ours, theirs = verdicts.two_facts(verdict)
    assert ours == (
        "Our bytes: the first 300 tokens (about) are those of exchange 7; they part at "
        "panel “todos”, line 3, after 12 characters: panel “todos” says something else."
    )
    assert theirs == "The provider: 0 of 10,000 tokens cached. The dynamic layer changed."


def test_a_verdict_on_unchanged_bytes_names_the_reader_that_changed() -> None:
    verdict = Verdict(VerdictReason.OTHER_MODEL, replace(SAME, same_model=False), cached=0, prompt=10_000)
    assert verdicts.sentence(verdict) == (
        "Our bytes: all that exchange 7 sent (about 9,000 tokens) stands first again, but another model "
        "is asked. The provider: 0 of 10,000 tokens cached. A cache belongs to one model."
    )


def test_another_key_is_not_called_another_model() -> None:
    """The same model was asked: its caches are of a key."""
    seen = replace(SAME, same_model=False, same_endpoint=False)
    ours, theirs = verdicts.two_facts(Verdict(VerdictReason.OTHER_MODEL, seen, cached=0, prompt=10_000))
    assert ours.endswith(f"{verdicts.READERS['other_endpoint']}.")
    assert theirs.endswith(f" {verdicts.VARIANTS['other_endpoint']}")


@pytest.mark.parametrize(
    ("was_prompt", "cached", "is_whole"),
    [
        (8_994, 8_994, True),
        (8_994, 8_993, False),
        # Thoughts that it counted are not sent again: what stands first is less than its prompt.
        (9_500, 9_000, True),
        (None, 9_000, True),
        (None, 8_294, False),
    ],
)
def test_the_whole_prefix_is_said_only_of_all_of_it(
    was_prompt: int | None, cached: int, is_whole: bool
) -> None:
    seen = replace(SAME, prefix_tokens=9_000, tokens=10_000, was_prompt=was_prompt)
    verdict = Verdict(VerdictReason.WHOLE_PREFIX, seen, cached=cached, prompt=10_000)
    why = verdicts.REASONS[VerdictReason.WHOLE_PREFIX] if is_whole else verdicts.VARIANTS["nearly_whole"]
    assert verdicts.two_facts(verdict).theirs.endswith(f" {why}")


def test_a_plan_does_not_say_that_a_cache_was_prolonged() -> None:
    """A request that is refused prolongs none."""
    plan = CachePlan(CacheAction.EXTEND, "c/1", PlanReason.EXPIRING, seconds_left=120)
    assert "to be prolonged" in cache_plans.action(plan.action)
    assert "to be prolonged" in cache_plans.reason(plan)


@pytest.mark.parametrize("reason", UNCOUNTED)
def test_where_nothing_was_counted_only_the_reason_is_said(reason: VerdictReason) -> None:
    assert verdicts.two_facts(Verdict(reason)) == ("", verdicts.REASONS[reason])


def test_without_figures_an_earlier_wording_is_said_and_marked() -> None:
    said = sentences.earlier_version("It was a hit.")
    assert verdicts.two_facts(None, "It was a hit.") == ("", said)
    assert cache_plans.reason(None, "It was a hit.") == strategies.sentence(None, "It was a hit.") == said
    assert verdicts.sentence(None) == cache_plans.reason(None) == strategies.sentence(None) == ""


def test_a_code_of_another_version_is_unknown_and_no_code_is_nothing() -> None:
    assert verdicts.label("moonlight") == verdicts.LABELS[Verdict(VerdictReason.UNKNOWN).code]
    assert (verdicts.label(""), verdicts.badge(""), verdicts.badge("moonlight")) == ("", "", "")
    assert cache_plans.action("") == cache_plans.ACTIONS[CacheAction.UNKNOWN]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BreakKind.APPEARED, "panel “todos” is new"),
        (BreakKind.CHANGED_AND_MOVED, "panel “todos” says something else and has another place"),
        (
            BreakKind.SIGNED_OTHERWISE,
            "panel “todos” says the same with other thought signatures, or without some",
        ),
        (BreakKind.SHORTENED, "panel “todos” and what followed are no longer sent"),
        (BreakKind.GONE, "panel “todos” is no longer there"),
        (BreakKind.MOVED, "panel “todos” has another place"),
    ],
)
def test_a_break_says_what_happened(kind: BreakKind, words: str) -> None:
    assert break_lines.change(replace(BREAK, kind=kind)) == words


@pytest.mark.parametrize(
    ("source", "number", "name", "title"),
    [
        ("template:static", 0, "the static template", "Static template"),
        ("chunk:4f", 2, "history chunk 2", "History chunk 2"),
        ("purpose", 0, "the purpose", "Purpose"),
        ("turn:4f", 3, "turn 3", "Turn 3"),
        ("turn:4f", 0, "a turn", "A turn"),
        ("panel:todos", 0, "panel “todos”", "Panel “todos”"),
        ("panel:tree", 0, "panel “workspace”", "Panel “workspace”"),
        ("panel:file_references/tree", 0, "panel “file_references/tree”", "Panel “file_references/tree”"),
    ],
)
def test_a_source_has_a_name(source: str, number: int, name: str, title: str) -> None:
    assert (sources.source_name(source, number), sources.source_title(source, number)) == (name, title)


def test_parts_of_the_wire_are_counted_from_one() -> None:
    assert (sources.part_name(0), sources.part_name(1, 3)) == ("part 1", "turn 3, part 2")


def test_a_place_is_told_once_for_each_view() -> None:
    assert break_lines.place(BREAK) == "panel “todos”, line 3, after 1,012 characters"
    assert break_lines.place_in_layer(PLACE) == "dynamic layer, after 1,040 bytes"
    assert break_lines.place_in_body(PLACE) == "request.json, after 7,036 bytes"
    in_turn = replace(PLACE, source="turn:4f", number=3, part=2, line=None)
    assert break_lines.place(replace(BREAK, at=in_turn)) == "turn 3, part 2, after 1,012 characters"


def test_a_loss_says_its_price_or_that_it_is_unknown() -> None:
    assert break_lines.loss(CacheLoss(1_500, Decimal("0.000675"))) == (
        "Of what it had cached for the exchange before, the provider no longer served 1,500 tokens: "
        "that cost $0.00068 more."
    )
    assert break_lines.loss(CacheLoss(1_500)).endswith("at an unknown price.")
    assert break_lines.loss(CacheLoss(0, Decimal(0))).endswith("than for the exchange before.")
    assert break_lines.loss(CacheLoss()).endswith("is unknown.")


def test_a_plan_says_its_reason() -> None:
    small = CachePlan(CacheAction.NONE, "", PlanReason.TOO_SMALL, tokens=900, minimum=1_024)
    assert cache_plans.reason(small) == "The static layer has about 900 tokens; a cache needs 1024."
    ending = CachePlan(CacheAction.EXTEND, "c", PlanReason.EXPIRING, seconds_left=20)
    assert " for 1 more min;" in cache_plans.reason(ending)


def test_a_cache_entry_says_why_it_is_gone_in_our_words_or_the_providers() -> None:
    assert cache_plans.entry_reason(EntryReason.PROVIDER, "Too small.") == "Too small."
    assert cache_plans.entry_reason(EntryReason.ADMIN, "") == "An admin asked for it."
    assert cache_plans.entry_reason("", "") == ""


def test_a_strategy_says_the_mode_the_reason_and_when_history_rolls() -> None:
    assert strategies.sentence(STRATEGY) == (
        "Explicit: only 60 % of the last prompts came from the provider’s own cache; a cache of ours is "
        "cheaper ($0.0900 a request against $0.0410). History rolls over at 9,500 tokens."
    )
    assert " 99 % of the last prompts" in strategies.sentence(replace(STRATEGY, share=0.997))
    assert " 29 % of the last prompts" in strategies.sentence(replace(STRATEGY, share=0.29))
    never = replace(STRATEGY, mode="implicit", reason=StrategyReason.LONG_PAUSES, tail=None)
    assert strategies.sentence(never) == (
        "Implicit: requests more than 16 min apart make keeping a cache dearer than none. "
        "Rolling history over would not pay here."
    )
    first = replace(STRATEGY, reason=StrategyReason.SHARE_UNKNOWN, tail=None, is_first=True)
    assert strategies.sentence(first).endswith("once an answer has been counted.")


def test_a_sum_says_every_product() -> None:
    money = cost(COUNTS, RATES)
    assert costs.equation(money) == (
        "3,684 new × $3.00 + 7,441 cached × $0.30 + 20 output × $15.00 + 409 thoughts × $15.00 = $0.0197"
    )
    assert " ≥ $" in costs.equation(Money(money.terms, at_least=True))
    assert " ≈ $" in costs.equation(Money(money.terms, estimated=True))
    assert costs.equation(None) == ""
    told = costs.equation(Money(money.terms, other_price=True))
    assert told == costs.equation(money).replace(" = $", ": $") + " at the standard text price"


def test_a_budget_says_how_much_is_left_and_when_it_begins_anew() -> None:
    near = Budget(BudgetScope.TODAY, Decimal(10), Decimal("8.5"), 80, date(2026, 12, 1))
    assert budgets.state(near) == "85 % of your budget for today is spent ($1.50 left)."
    assert budgets.remedy(near).startswith("It begins anew on 1 December at 00:00 UTC.")
    spent = Budget(BudgetScope.SESSION, Decimal(10), Decimal(10), 80)
    assert budgets.state(spent) == "The budget of this chat is spent: $10.00 of $10.00."
    assert budgets.remedy(spent) != budgets.remedy(near)


def test_what_is_told_later_of_a_budget_names_no_today() -> None:
    near = Budget(BudgetScope.TODAY, Decimal(10), Decimal("8.5"), 80, date(2026, 12, 1))
    shared = replace(near, scope=BudgetScope.INSTALLATION_MONTH)
    assert budgets.when_sent([near, shared]) == (
        "When its last request was sent, 85 % of your budget for that day was spent ($1.50 left). "
        "When its last request was sent, 85 % of the budget of this installation for that month was spent."
    )


def test_a_budget_of_which_something_cost_more_than_is_known() -> None:
    near = Budget(BudgetScope.SESSION, Decimal(10), Decimal("8.5"), 80, at_least=True)
    assert budgets.state(near) == (
        "≥\N{NO-BREAK SPACE}85 % of the budget of this chat is spent (≤\N{NO-BREAK SPACE}$1.50 left)."
    )
    spent = Budget(BudgetScope.SESSION, Decimal(10), Decimal(10), 80, at_least=True)
    assert budgets.left(spent) == "$0.00"


def test_a_budget_that_counts_an_estimate() -> None:
    near = Budget(BudgetScope.SESSION, Decimal(10), Decimal("8.5"), 80, estimated=True)
    assert budgets.state(near) == (
        "≈\N{NO-BREAK SPACE}85 % of the budget of this chat is spent (≈\N{NO-BREAK SPACE}$1.50 left)."
    )
    both = replace(near, at_least=True)
    assert (budgets.spent(both), budgets.left(both)) == (
        "≥\N{NO-BREAK SPACE}$8.50",
        "≤\N{NO-BREAK SPACE}$1.50",
    )


@pytest.mark.parametrize(
    ("action", "count", "text"),
    [("archive", 1, "“Two” is in the archive."), ("delete", 2, "2 chats are deleted.")],
)
def test_what_was_done_with_sessions(action: str, count: int, text: str) -> None:
    assert sessions.done(action, "Two", count) == text


ONLY = "; a signature is sent back to"

HERE, THERE = route_of("https://one.example", "key"), route_of("https://one.example", "other key")


@pytest.mark.parametrize(
    ("made_on", "sent_on", "words"),
    [
        (
            route_to(HERE, "gemini-3-flash"),
            route_to(HERE, "gemini-2.5-pro"),
            (
                "gemini-3-flash signed it, and exchange 7 was meant for gemini-2.5-pro"
                f"{ONLY} the model that made it only."
            ),
        ),
        (
            route_to(HERE, "f" * 60),
            route_to(HERE, "gemini-2.5-pro"),
            (
                "Another model signed it, and exchange 7 was meant for gemini-2.5-pro"
                f"{ONLY} the model that made it only."
            ),
        ),
        (
            route_to(HERE, "gemini-3-flash"),
            route_to(THERE, "gemini-2.5-pro"),
            (
                "It was signed for another key or address than that of exchange 7"
                f"{ONLY} where it came from only."
            ),
        ),
        (
            IMPORTED,
            route_to(HERE, "gemini-2.5-pro"),
            "Which model signed it, and with what key, is unknown, so exchange 7 went without it.",
        ),
    ],
)
def test_a_foreign_signature_says_whose_it_is(made_on: str, sent_on: str, words: str) -> None:
    assert remarks.foreign(7, made_on, sent_on) == words
