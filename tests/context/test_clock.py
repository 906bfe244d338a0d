"""The time a run shows the model."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.context.clock import rounded, zone
from sessions_app.models import SessionSettings

NOON = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)


def test_it_is_the_hour_by_default() -> None:
    assert rounded(NOON, SessionSettings()).isoformat() == "2026-11-21T12:00:00+00:00"


@pytest.mark.parametrize(("minutes", "shown"), [(1, "12:34"), (5, "12:30"), (60, "12:00"), (1440, "00:00")])
def test_it_is_rounded_down_to_the_persons_choice(minutes: int, shown: str) -> None:
    assert f"{rounded(NOON, SessionSettings(clock_minutes=minutes)):%H:%M}" == shown


def test_it_is_in_the_persons_time_zone() -> None:
    assert rounded(NOON, SessionSettings(time_zone="Asia/Jakarta")).isoformat() == "2026-11-21T19:00:00+07:00"


@pytest.mark.parametrize("name", ["Nowhere/Atlantis", "", "../etc/passwd", "\0"])
def test_an_unknown_time_zone_is_utc(name: str) -> None:
    assert zone(name).key == "UTC"


@given(st.integers(0, 4_000_000_000), st.integers(1, 1440))
def test_it_is_never_later_than_now_and_never_older_than_its_step(moment: int, minutes: int) -> None:
    now = datetime.fromtimestamp(moment, UTC)
    shown = rounded(now, SessionSettings(clock_minutes=minutes))
    assert timedelta(0) <= now - shown < timedelta(minutes=minutes)
