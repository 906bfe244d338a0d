"""When to come again: RetryInfo, then headers, then the sentence."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.gemini.retry_delays import LONGEST, retry_delay

NOW = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
DATE = {"date": format_datetime(NOW, usegmt=True)}


def info(delay: Any) -> dict[str, Any]:
    return {"details": [{"@type": "x"}, {"retryDelay": delay}]}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (info("21s"), 21.0),
        (info("21.016s") | {"message": "Please retry in 9s."}, 21.016),
        (info("soon"), None),
        (info("0s"), None),
        ({"message": "…\nPlease retry in 48.939935699s."}, 48.939935699),
        ({"message": "Rate limit reached. Please try again in 52.04s."}, 52.04),
        ({"message": "Please try again in 6m0.5s. Visit https://x"}, 360.5),
        ({"message": "Please try again in 820ms."}, 0.82),
        ({"message": "Retry after 2 minutes"}, 120.0),
        ({"message": "Please wait for 1 hour, 5 minutes before"}, 3_900.0),
        ({"message": "Overloaded (reset after 30s)"}, 30.0),
        ({"message": "Please wait 5 messages, then try again in a few minutes."}, None),
        ({"message": "Resource exhausted.", "details": "odd"}, None),
        ({}, None),
    ],
)
def test_what_a_body_says(error: dict[str, Any], seconds: float | None) -> None:
    assert retry_delay(error) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "59"}, 59.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"Retry-After": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "0"}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"}, 30.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 45)}, 45.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp() * 1000) + 4_500)}, 4.5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2026-11-22T08:01:00Z"}, 60.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "7"}, 7.0),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "30"}, None),
        ({"x-ratelimit-reset": "30"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "12",
                "x-ratelimit-reset-requests": "3m",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            360.0,
        ),
        ({"Retry-After": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"}, 5.0),
    ],
)
def test_what_the_headers_say(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_delay({}, headers | DATE) == seconds


def test_retry_info_wins_over_the_header_and_the_header_over_the_text() -> None:
    text = {"message": "Please try again in 52.04s."}
    assert retry_delay(info("21s") | text, {"retry-after": "59"}) == 21.0
    assert retry_delay(text, {"retry-after": "59"}) == 59.0
    assert retry_delay(info("soon") | text, {}) == 52.04


def test_a_date_counts_by_our_clock_where_the_provider_shows_none() -> None:
    soon = retry_delay({}, {"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=60))})
    assert soon is not None and 50 < soon <= 61


odd = st.one_of(
    st.text(max_size=60),
    st.from_regex(r"\A[0-9.: -]{0,40}(s|ms|m|GMT|Z)?\Z"),
    st.integers().map(str),
    st.floats().map(str),
    st.datetimes().map(str),
)


@given(
    st.dictionaries(st.sampled_from(["retry-after", "date", "x-ratelimit-reset", "retry-after-ms"]), odd), odd
)
def test_no_value_breaks_it_or_gives_a_delay_that_cannot_be_shown(headers: dict[str, str], said: str) -> None:
    for error in (info(said), {"message": f"Please retry in {said}"}):
        delay = retry_delay(error, headers | {"x-ratelimit-remaining": "0"})
        assert delay is None or 0 < delay <= LONGEST


def test_a_delay_without_end_is_cut() -> None:
    assert retry_delay(info("999999999999s")) == LONGEST
    assert retry_delay(info("9" * 400 + "s")) is None
