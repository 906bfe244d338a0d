"""When a provider takes requests again: RetryInfo, else the headers, else the sentence of the error.

Sources: google/rpc/error_details.proto; RFC 9110 §10.2.3 (`Retry-After`); the `x-ratelimit-*` headers of
OpenAI, GitHub and the proxies between, whose resets are durations, seconds or times.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

LONGEST = 30 * 86_400.0
"""Seconds; what a provider says beyond that is cut."""

_READ = 4_000
"""Characters of a message that are searched; its sentence stands at the beginning or follows a link."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,12})?")
_PIECE = re.compile(
    r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
_DURATION = re.compile(rf"(?:{_PIECE.pattern}[ ,]{{0,2}}){{1,5}}", re.IGNORECASE)
_SENTENCE = re.compile(
    rf"(?:retry|try again|wait|resets?) (?:(?:in|after|for|at least) ){{0,2}}({_DURATION.pattern})",
    re.IGNORECASE,
)

_EPOCH, _EPOCH_MS = 1e9, 1e12
"""Larger numbers are times, in seconds or in milliseconds since 1970."""


def retry_delay(error: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> float | None:
    """Seconds until the next request, None where nothing says so or the time is over."""
    said = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    sources = (_of_retry_info(error), _of_retry_after(said), _of_limits(said), _of_message(error))
    found = next((delay for delay in sources if delay is not None), None)
    return min(found, LONGEST) if found and found > 0 else None


def _of_retry_info(error: Mapping[str, Any]) -> float | None:
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and "retryDelay" in detail:
            return _duration(str(detail["retryDelay"]))
    return None


def _of_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds or a date, or the milliseconds of `retry-after-ms`."""
    milliseconds = headers.get("retry-after-ms", "")
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1_000
    return _until(headers.get("retry-after", ""), headers)


def _of_limits(headers: Mapping[str, str]) -> float | None:
    """The longest reset of those limits of which nothing remains."""
    return max(_resets(headers), default=None)


def _resets(headers: Mapping[str, str]) -> Iterator[float]:
    for name, value in headers.items():
        limit = re.fullmatch(r"((?:x-)?ratelimit)-reset(.*)", name)
        remaining = headers.get(f"{limit[1]}-remaining{limit[2]}", "") if limit else ""
        if not _NUMBER.fullmatch(remaining) or float(remaining):
            continue
        delay = _until(value, headers)
        if delay is not None:
            yield delay


def _of_message(error: Mapping[str, Any]) -> float | None:
    found = _SENTENCE.search(str(error.get("message") or "")[:_READ])
    return _duration(found[1]) if found else None


def _until(value: str, headers: Mapping[str, str]) -> float | None:
    """Seconds of a duration, or until a time: an epoch, a date of HTTP or of ISO 8601."""
    if _NUMBER.fullmatch(value):
        number = float(value)
        time = number / 1_000 if number >= _EPOCH_MS else number
        return time - _now(headers).timestamp() if number >= _EPOCH else number
    if (delay := _duration(value)) is not None:
        return delay
    moment = _moment(value)
    return (moment - _now(headers)).total_seconds() if moment else None


def _now(headers: Mapping[str, str]) -> datetime:
    """The provider's clock where it shows it, as a time it names is by that clock."""
    return _moment(headers.get("date", "")) or datetime.now(UTC)


def _moment(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _duration(text: str) -> float | None:
    """Seconds of `21s`, `21.016s`, `1m2.5s`, `120ms`, `2 minutes`."""
    if not _DURATION.fullmatch(text.strip()):
        return None
    return sum(float(number) * _unit(name.lower()) for number, name in _PIECE.findall(text))


def _unit(name: str) -> float:
    return _UNITS["ms" if name == "ms" or name.startswith("milli") else name[0]]
