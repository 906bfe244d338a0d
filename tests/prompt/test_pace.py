from datetime import datetime, timedelta

import pytest

from sessions_app.prompt.pace import FEW, Seen, hit_share, pace_of
from tests.prompt.examples import NOW, ROUTE


def seen(
    minute: float,
    history: int,
    *,
    prefix: int = 1_000,
    dynamic: int = 100,
    cached: int = 0,
    name: str = "",
    route: str = ROUTE,
) -> Seen:
    layers = {"static": prefix, "dynamic": dynamic, "buffered": history - prefix, "trigger": 0}
    return Seen(at(minute), route, history + dynamic, cached, name, layers)


def at(minute: float) -> datetime:
    return NOW + timedelta(minutes=minute)


def test_growth_and_pause_are_means_of_what_was_seen() -> None:
    pace = pace_of([seen(0, 1_000), seen(1, 1_400), seen(3, 2_000)], count=3, longest=1)
    assert pace.growth == 500 and pace.hours == pytest.approx(1.5 / 60)


def test_a_history_that_shrank_says_nothing_about_growth() -> None:
    assert pace_of([seen(0, 5_000), seen(1, 1_000), seen(2, 1_300)], 3, 1).growth == 300


def test_a_night_counts_as_the_longest_life_of_a_cache() -> None:
    assert pace_of([seen(0, 1_000), seen(600, 1_400)], 2, longest=0.3).hours == pytest.approx(0.3)


def test_as_much_is_expected_as_there_was() -> None:
    assert [pace_of([], count, 1).ahead for count in (0, 3, 80)] == [FEW, FEW, 80]


@pytest.mark.parametrize(
    ("later", "churn"),
    [
        (seen(1, 1_400, cached=1_350), 0.0),
        (seen(1, 1_400, dynamic=120, cached=1_350), 1.0),
        (seen(1, 1_400, cached=900), 1.0),
        (seen(60, 1_400, cached=1_350), 1.0),
    ],
    ids=["reused", "another size", "reused as far as the panels", "another hour"],
)
def test_a_change_before_the_buffer_is_seen(later: Seen, churn: float) -> None:
    assert pace_of([seen(0, 1_300), later], 2, 1).churn == churn


def test_a_roll_over_is_no_change_of_the_panels() -> None:
    rolled = seen(1, 1_400, prefix=1_200, cached=1_000)
    assert pace_of([seen(0, 1_300), rolled], 2, 1).churn == 0


def test_the_hit_share_is_of_the_previous_prompt() -> None:
    inline = [seen(0, 900)] + [seen(minute, 900, cached=800) for minute in (1, 2, 3)]
    assert hit_share(inline, ROUTE) == pytest.approx(0.8)


def test_few_requests_say_nothing_about_the_provider() -> None:
    assert hit_share([seen(0, 900), seen(1, 900, cached=800), seen(2, 900)], ROUTE) is None


def test_requests_that_named_a_cache_or_went_elsewhere_say_nothing_about_the_provider() -> None:
    named = [seen(minute, 900, cached=800, name="cachedContents/a") for minute in range(6)]
    elsewhere = [seen(minute, 900, cached=800, route="route-b") for minute in range(6)]
    assert hit_share(named, ROUTE) is hit_share(elsewhere, ROUTE) is None
