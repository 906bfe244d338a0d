"""The result of a tool: a response for the model and the changes that the run makes."""

from dataclasses import dataclass
from typing import Any, Protocol


class Effect(Protocol):
    """A change that a tool asks for; the run makes it (`panels.base.Action`)."""

    def carry_out(self, session: Any, /) -> object: ...


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`response` is JSON for the function response; `failed` marks it as an error the model can read."""

    response: dict[str, Any]
    effects: tuple[Effect, ...] = ()
    failed: bool = False


def failure(error: str, hint: str = "") -> ToolResult:
    response = {"error": error, "hint": hint} if hint else {"error": error}
    return ToolResult(response, failed=True)
