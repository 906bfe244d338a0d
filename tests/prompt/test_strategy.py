from dataclasses import replace
from decimal import Decimal
from typing import Literal

import orjson
import pytest

from sessions_app.prompt.detach import SEED
from sessions_app.prompt.pricing import Rates
from sessions_app.prompt.rollover import NEVER, Pace
from sessions_app.prompt.strategy import Situation, StrategyReason, StrategyRecord, choose_strategy
from tests.prompt.test_rollover import FLASH, LONG

HERE = Situation(mode="auto", policy="adaptive", rates=FLASH, pace=LONG, prefix=80_000, prompt=85_000)


def test_an_explicit_cache_rolls_after_the_answer() -> None:
    chosen = choose_strategy(HERE)
    assert (chosen.record.mode, chosen.before) == ("explicit", NEVER)
    assert 9_000 < chosen.after.chunk_tokens < 12_000 and chosen.after.keep_messages == 1
    assert chosen.record.reason is StrategyReason.SHARE_UNKNOWN
    assert chosen.record.tail and round(chosen.record.tail) == chosen.after.chunk_tokens


def test_nothing_rolls_into_a_cache_whose_size_no_answer_has_told_yet() -> None:
    chosen = choose_strategy(replace(HERE, prefix=None, prompt=0))
    assert (chosen.record.mode, chosen.before, chosen.after) == ("explicit", NEVER, NEVER)
    assert chosen.record.is_first and chosen.record.tail is None


def test_a_provider_that_reuses_nearly_all_needs_no_cache_of_ours() -> None:
    chosen = choose_strategy(replace(HERE, hit_share=0.97))
    assert (chosen.record.mode, chosen.after) == ("implicit", NEVER)
    assert (chosen.record.reason, chosen.record.share) == (StrategyReason.PROVIDER_CHEAPER, 0.97)
    assert chosen.record.own_usd and chosen.record.ours_usd and chosen.record.own_usd < chosen.record.ours_usd


def test_a_provider_that_often_forgets_gets_one() -> None:
    chosen = choose_strategy(replace(HERE, hit_share=0.6)).record
    assert chosen.mode == "explicit"
    assert (chosen.reason, chosen.share) == (StrategyReason.OURS_CHEAPER, 0.6)


@pytest.mark.parametrize(
    ("here", "reason"),
    [
        (replace(HERE, is_offered=False), StrategyReason.NOT_OFFERED),
        (replace(HERE, refusal="limit=0"), StrategyReason.REFUSED),
    ],
)
def test_without_explicit_caches_history_rolls_before_the_request(
    here: Situation, reason: StrategyReason
) -> None:
    chosen = choose_strategy(here)
    assert (chosen.record.mode, chosen.before.keep_messages, chosen.after) == ("implicit", 3, NEVER)
    assert (chosen.record.reason, chosen.record.refusal) == (reason, here.refusal)


def test_long_pauses_make_storage_dearer_than_sending() -> None:
    slow = Pace(LONG.growth, 0.3, LONG.dynamic, LONG.churn, LONG.ahead)
    chosen = choose_strategy(replace(HERE, pace=slow)).record
    assert (chosen.mode, chosen.reason) == ("implicit", StrategyReason.LONG_PAUSES)
    assert chosen.pause_minutes and round(chosen.pause_minutes) == 16


@pytest.mark.parametrize(
    ("new", "cached", "storage"), [(0, 0, 0), (1, 1, 0), (1, 1, 2), (1, 2, 1), (0, 0, None)]
)
def test_where_cached_tokens_cost_as_much_as_new_ones_no_pause_is_blamed(
    new: int, cached: int, storage: int | None
) -> None:
    rates = Rates(Decimal(new), Decimal(cached), Decimal(2), None if storage is None else Decimal(storage))
    chosen = choose_strategy(replace(HERE, rates=rates)).record
    assert (chosen.mode, chosen.reason) == ("implicit", StrategyReason.NO_DISCOUNT)
    assert chosen.pause_minutes is None


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_a_pinned_mode_holds_against_money(mode: Literal["explicit", "implicit"]) -> None:
    chosen = choose_strategy(replace(HERE, mode=mode, hit_share=0.99)).record
    assert (chosen.mode, chosen.reason) == (mode, StrategyReason.AS_SET)


@pytest.mark.parametrize("is_offered", [True, False])
def test_seeds_policy_is_its_four_thresholds_before_the_request(is_offered: bool) -> None:
    chosen = choose_strategy(replace(HERE, policy="seed", is_offered=is_offered))
    assert (chosen.before, chosen.after, chosen.record.policy) == (SEED, NEVER, "seed")


def test_without_a_price_the_usual_ratio_decides() -> None:
    unknown = choose_strategy(replace(HERE, rates=None, hit_share=0.97)).record
    assert (unknown.mode, unknown.own_usd, unknown.ours_usd) == ("implicit", None, None)


def test_a_choice_survives_being_stored_beside_its_mode_and_policy() -> None:
    chosen = choose_strategy(replace(HERE, hit_share=0.6)).record
    stored = orjson.loads(orjson.dumps(chosen.stored()))
    assert StrategyRecord.restored(chosen.mode, chosen.policy, stored) == chosen
    assert not {"mode", "policy"} & stored.keys()
    assert StrategyRecord.restored("explicit", "seed", {}) is None
