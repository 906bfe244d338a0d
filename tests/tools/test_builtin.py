"""The clock and arithmetic."""

from typing import Any

import pytest

from sessions_app.panels import TOOLBOX
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context)


async def test_the_time_is_told_in_the_persons_zone(context: ToolContext) -> None:
    result = await call(context, "current_time")
    assert result.response == {
        "datetime": "2026-01-02T16:04:05+01:00",
        "weekday": "Friday",
        "timezone": "Europe/Paris",
    }


async def test_the_time_is_told_in_another_zone(context: ToolContext) -> None:
    result = await call(context, "current_time", timezone="UTC")
    assert result.response["datetime"] == "2026-01-02T15:04:05+00:00"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc", "Europe", "\0", "posix/../.."])
async def test_an_unknown_zone_is_an_error_to_read(context: ToolContext, zone: str) -> None:
    result = await call(context, "current_time", timezone=zone)
    assert result.failed and result.response.keys() >= {"error"}


@pytest.mark.parametrize(
    ("expression", "value"), [("0.1 + 0.2", 0.3), ("2 ** 64", "18446744073709551616"), ("6 / 2", 3.0)]
)
async def test_results_are_fit_for_json(context: ToolContext, expression: str, value: object) -> None:
    assert (await call(context, "calculate", expression=expression)).response["result"] == value
