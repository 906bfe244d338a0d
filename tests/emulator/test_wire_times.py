from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.cache_store import CacheUpdate
from sessions_app.emulator.wire_model import validate
from tests.emulator.asking import create
from tests.emulator.helpers import send

DURATION = "type.googleapis.com/google.protobuf.Duration"
TIMESTAMP = "type.googleapis.com/google.protobuf.Timestamp"


def test_a_duration_is_a_count_of_seconds_and_a_time_has_an_offset() -> None:
    assert validate(CacheUpdate, {"ttl": "1.5s"}).ttl == timedelta(seconds=1.5)
    found = validate(CacheUpdate, {"expireTime": "2027-01-02T03:04:05.5+01:00"}).expire_time
    assert found == datetime(2027, 1, 2, 2, 4, 5, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("field", "value", "kind", "reason"),
    [
        ("ttl", "1h", DURATION, "Illegal duration format; duration must end with 's'"),
        ("ttl", "soons", DURATION, "Invalid duration format, failed to parse seconds"),
        ("ttl", 600, DURATION, "Invalid data type for duration, value is 600"),
        ("ttl", "999999999999s", DURATION, "Duration value exceeds limits"),
        ("expireTime", "tomorrow", TIMESTAMP, "Invalid time format: tomorrow"),
        ("expireTime", "2027-01-02T03:04:05", TIMESTAMP, "Invalid time format: 2027-01-02T03:04:05"),
    ],
)
def test_what_is_neither_is_refused_with_the_name_of_its_field(
    emulator: Emulator, field: str, value: Any, kind: str, reason: str
) -> None:
    status, body = send(emulator, "PATCH", create(emulator), {field: value})
    error = orjson.loads(body)["error"]
    where = "cached_content.ttl" if field == "ttl" else "cached_content.expire_time"
    words = f"Invalid value at '{where}' ({kind}), Field '{field}', {reason}"
    assert (status, error["message"]) == (400, words)
    assert error["details"][0]["fieldViolations"] == [{"field": where, "description": error["message"]}]


def test_the_longest_duration_ends_with_the_calendar(emulator: Emulator) -> None:
    _, body = send(emulator, "PATCH", create(emulator), {"ttl": "315576000000s"})
    assert orjson.loads(body)["expireTime"].startswith("9999-12-31")
