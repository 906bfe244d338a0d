"""The times that a rendition tells."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sessions_app.prompt.renditions.times import MESSAGES_TOLD, KnownTimes, age

EVENING = datetime(2026, 11, 20, 19, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (EVENING, "at 2026-11-20T18:30:00Z"),
        (datetime(2020, 1, 1, tzinfo=UTC), "at 2020-01-01T00:00:00Z"),
        (datetime(2019, 12, 31, tzinfo=UTC), "(timestamp unknown)"),
        (None, "(timestamp unknown)"),
    ],
)
def test_a_time_is_utc_and_one_before_2020_is_unknown(changed: datetime | None, words: str) -> None:
    times = KnownTimes({"todos": changed} if changed else {})
    assert times.generated_at("todos") == f"Panel automatically generated {words}"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (0, "just now"),
        (1, "1 second ago"),
        (59, "59 seconds ago"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (3_600, "1 hour ago"),
        (200_000, "55 hours ago"),
    ],
)
def test_an_age_is_in_whole_units(seconds: int, words: str) -> None:
    assert age(EVENING, EVENING + timedelta(seconds=seconds)) == words


def test_the_last_25_messages_are_told() -> None:
    said = [("user", EVENING + timedelta(seconds=second)) for second in range(30)]
    lines = list(KnownTimes(messages=said).lines(""))
    assert len(lines) == 1 + MESSAGES_TOLD and lines[1] == "  - user: 2026-11-20T18:30:05Z"
