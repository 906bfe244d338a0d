"""The clock of the dynamic layer is true of every moment in every time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.clock import clock_text, rounded_down

ZONES = ("UTC", "Europe/Lisbon", "Asia/Kathmandu", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia")
NOON = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)


def told(text: str) -> tuple[datetime, timedelta]:
    """The time and the step that the text names."""
    moment, _, rest = text.partition(" (when this answer was begun, rounded down to ")
    minutes = 1 if rest == "the minute)" else int(rest.removesuffix(" minutes)"))
    return datetime.fromisoformat(moment), timedelta(minutes=minutes)


@given(st.integers(0, 4_000_000_000), st.sampled_from(ZONES), st.integers(1, 1440))
def test_it_names_a_time_that_exists_at_most_its_step_ago(moment: int, zone: str, minutes: int) -> None:
    now = datetime.fromtimestamp(moment, UTC)
    shown, step = told(clock_text(rounded_down(now, ZoneInfo(zone), minutes), minutes))
    assert step == timedelta(minutes=minutes)
    assert timedelta(0) <= now - shown < step
    assert shown.utcoffset() == shown.astimezone(ZoneInfo(zone)).utcoffset()


@pytest.mark.parametrize("clock", ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-03-29T01:30Z"])
@pytest.mark.parametrize("minutes", [60, 90, 120, 1440])
def test_it_is_true_where_an_hour_comes_twice_or_not_at_all(clock: str, minutes: int) -> None:
    now = datetime.fromisoformat(clock)
    shown, step = told(clock_text(rounded_down(now, ZoneInfo("Europe/Paris"), minutes), minutes))
    assert timedelta(0) <= now - shown < step
    assert shown.utcoffset() == shown.astimezone(ZoneInfo("Europe/Paris")).utcoffset()


@pytest.mark.parametrize(("minutes", "shown"), [(1, "12:34"), (5, "12:30"), (60, "12:00"), (1440, "00:00")])
def test_it_counts_from_midnight(minutes: int, shown: str) -> None:
    assert f"{rounded_down(NOON, UTC, minutes):%H:%M}" == shown
