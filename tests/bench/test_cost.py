"""The cost bench: the same words every time, tokens as the emulator counted them, aims."""

from argparse import ArgumentParser
from decimal import Decimal

import pytest

from sessions_app.errors import PipewebError
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.tokens import estimate
from tests.bench import cost
from tests.bench.cost import EXPLICIT, IMPLICIT, NAIVE, RATES, SAME, MethodCost, aims, methods_for, replay
from tests.bench.cost_replay import (
    ANSWER_TOKENS,
    CALL_TOKENS,
    RESULT_TOKENS,
    TASK_TOKENS,
    VOLATILE_TOKENS,
    Tally,
    conversation,
    volatile,
)

FLASH, ARGON = "gemini-2.5-flash", "gemini-4-argon"


def test_every_word_of_the_script_has_the_tokens_it_says() -> None:
    turns = list(conversation(6))
    assert {estimate(turn.task) for turn in turns} == {TASK_TOKENS}
    assert {estimate(turn.answer) for turn in turns} == {ANSWER_TOKENS}
    called = [turn for turn in turns if turn.subject]
    assert [(estimate(turn.subject), estimate(turn.result)) for turn in called] == [
        (CALL_TOKENS, RESULT_TOKENS)
    ] * 2
    assert estimate(volatile(1)) == VOLATILE_TOKENS and volatile(1) != volatile(2)


def test_the_script_is_the_same_every_time() -> None:
    assert list(conversation(5)) == list(conversation(5))


def test_what_changes_first_leaves_nothing_to_reuse() -> None:
    tally = replay(FLASH, "implicit, volatile data first", 6)
    assert (tally.requests, tally.cached, tally.created) == (8, 0, 0)


def test_what_changes_last_leaves_the_static_layer_to_reuse() -> None:
    tally = replay(FLASH, "implicit, as the layers stand", 6)
    assert tally.cached > 7 * 21_000


def test_a_cache_is_used_from_the_second_turn_on_and_stored_until_its_end() -> None:
    tally = replay(FLASH, "explicit, static layer only", 6)
    assert tally.caches == 1 and 21_000 < tally.created < 23_000
    assert tally.cached == 7 * tally.created
    # Five minutes from the first answer, prolonged in the third, left alone after the fifth.
    assert tally.stored == pytest.approx(tally.created * 8 / 60)


def test_a_roll_over_sends_nothing_inline() -> None:
    tally = replay(FLASH, "explicit, rolled at 2k", 16)
    first = 22_200
    assert tally.caches > 2 and tally.prompt - tally.cached < first + 20 * 4_000


def test_history_that_rolled_early_is_reused_where_the_provider_caches_itself() -> None:
    still, rolled = (replay(ARGON, name, 12) for name in ("implicit, as the layers stand", IMPLICIT))
    assert rolled.cached > still.cached + 10_000


def test_the_money_is_tokens_times_prices() -> None:
    tally = Tally(requests=1, prompt=3_000_000, cached=1_000_000, created=500_000, stored=2_000_000)
    row = MethodCost.of("m", "w", tally, Rates(Decimal(2), Decimal("0.5"), Decimal(9), Decimal(3)))
    assert (row.usd, row.making, row.storage) == (2 * 2 + 0.5 + 1 + 6, 1, 6)
    assert row.line(naive=23).split()[1:5] == ["11.500", "50.0", "%", "33"]


def row(model: str, way: str, usd: float) -> MethodCost:
    return MethodCost(model, way, usd, 0, 0, Tally())


def test_the_aims_compare_with_the_naive_way_and_the_best_threshold() -> None:
    rows = [
        row(FLASH, NAIVE, 100),
        row(FLASH, "explicit, rolled at 4k", 24),
        row(FLASH, "explicit, rolled at 8k", 20),
        row(FLASH, EXPLICIT, 21),
        row(ARGON, NAIVE, 100),
        row(ARGON, IMPLICIT, 20.5),
    ]
    assert [(aim.verdict, aim.value) for aim in aims(rows)] == [
        ("met", 21.0),
        ("NOT MET", 105.0),
        ("NOT MET", 20.5),
    ]


def test_what_did_not_run_is_not_measured() -> None:
    assert {aim.verdict for aim in aims([row(FLASH, NAIVE, 100)])} == {"not measured"}


def test_a_short_bench_tells_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    cost.run({"models": (ARGON,), "ways": "adaptive", "turns": 4}, said.append)
    table = [line.split() for line in said if line.startswith(("  naive", "  implicit"))]
    assert [cells[-1] for cells in table] == ["5", "5"] and "100.0" in table[0]


def test_a_model_without_a_price_is_refused() -> None:
    with pytest.raises(PipewebError, match="gemini-9"):
        cost.run({"models": ("gemini-9",)}, print)


def test_the_options_are_read() -> None:
    parser = ArgumentParser()
    cost.add_arguments(parser)
    assert parser.parse_args(["--models", "a,b"]).models == ("a", "b")


def test_every_method_has_a_name_of_its_own() -> None:
    for model in RATES:
        names = [method.name for method in methods_for(model)]
        assert len(set(names)) == len(names) and names[0] == NAIVE
        assert SAME[NAIVE] in names
