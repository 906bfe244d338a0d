"""The built-in tools: the clock and the calculator."""

from datetime import UTC, tzinfo
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field

from sessions_app.errors import ToolError
from sessions_app.tools.arithmetic import Number, evaluate
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import tool

SAFE_INTEGER = 2**53
"""Above it a JSON reader may round, so a larger integer is sent as text."""


def current_time(
    context: ToolContext,
    timezone: Annotated[
        str, Field(description="IANA name such as Europe/Paris; empty for the user's own")
    ] = "",
) -> dict[str, Any]:
    """Tells the current date and time."""
    name = timezone or context.timezone or "UTC"
    moment = context.now.astimezone(_zone(name))
    return {"datetime": moment.isoformat(timespec="seconds"), "weekday": f"{moment:%A}", "timezone": name}


def calculate(
    expression: Annotated[str, Field(description="Numbers with + - * / // % **, abs, round, min, max, sqrt")],
) -> dict[str, Any]:
    """Calculates an arithmetic expression."""
    return {"expression": expression, "result": _presentable(evaluate(expression))}


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError(
            f"There is no time zone “{name}”.", hint="Use an IANA name such as Asia/Tokyo."
        ) from error


def _presentable(value: Number) -> Number | str:
    """Fifteen digits of a float, so that 0.1 + 0.2 is 0.3; large whole numbers as text."""
    if isinstance(value, float):
        return float(f"{value:.15g}")
    return value if abs(value) <= SAFE_INTEGER else str(value)


BUILT_IN = (
    tool(calculate, "built-in", "Calculate"),
    tool(current_time, "built-in", "Current time"),
)
