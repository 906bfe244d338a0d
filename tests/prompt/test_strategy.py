from dataclasses import replace

import pytest

from sessions_app.prompt.detach import SEED
from sessions_app.prompt.rollover import NEVER, Pace
from sessions_app.prompt.strategy import Situation, choose
from tests.prompt.test_rollover import FLASH, LONG

HERE = Situation(
    refusal="", mode="auto", policy="adaptive", rates=FLASH, pace=LONG, prefix=80_000, prompt=85_000
)


def test_an_explicit_cache_rolls_after_the_answer() -> None:
    chosen = choose(HERE)
    assert (chosen.mode, chosen.before) == ("explicit", NEVER)
    assert 9_000 < chosen.after.chunk_tokens < 12_000 and chosen.after.keep_messages == 1


def test_a_provider_that_reuses_nearly_all_needs_no_cache_of_ours() -> None:
    chosen = choose(replace(HERE, hit_share=0.97))
    assert (chosen.mode, chosen.after) == ("implicit", NEVER)
    assert "97% of the last prompts came from the provider’s own cache" in chosen.reason


def test_a_provider_that_often_forgets_gets_one() -> None:
    chosen = choose(replace(HERE, hit_share=0.6))
    assert chosen.mode == "explicit" and "only 60% of the last prompts" in chosen.reason


def test_without_explicit_caches_history_rolls_before_the_request() -> None:
    chosen = choose(replace(HERE, refusal="there are no explicit caches for this model here."))
    assert (chosen.mode, chosen.before.keep_messages, chosen.after) == ("implicit", 3, NEVER)
    assert chosen.reason.startswith("Implicit: there are no explicit caches")


def test_long_pauses_make_storage_dearer_than_sending() -> None:
    slow = Pace(LONG.growth, 0.3, LONG.dynamic, LONG.churn, LONG.ahead)
    chosen = choose(replace(HERE, pace=slow))
    assert chosen.mode == "implicit" and "16 min apart" in chosen.reason


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_a_pinned_mode_holds_against_money(mode: str) -> None:
    chosen = choose(replace(HERE, mode=mode, hit_share=0.99))  # type: ignore[arg-type]
    assert chosen.mode == mode and "as set for this session" in chosen.reason


def test_seeds_policy_is_its_four_thresholds_before_the_request() -> None:
    for refusal in ("", "none here."):
        chosen = choose(replace(HERE, policy="seed", refusal=refusal))
        assert (chosen.before, chosen.after) == (SEED, NEVER) and "seed 4" in chosen.reason


def test_without_a_price_the_usual_ratio_decides() -> None:
    unknown = choose(replace(HERE, rates=None, hit_share=0.97))
    assert unknown.mode == "implicit" and "by the usual ratio of prices" in unknown.reason
