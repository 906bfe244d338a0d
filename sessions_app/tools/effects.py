"""What a tool gives back: a response for the model and effects for the run to apply."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AddTodo:
    title: str


@dataclass(frozen=True, slots=True)
class CompleteTodo:
    position: int


@dataclass(frozen=True, slots=True)
class WriteArtifact:
    """A file for the workspace; path and size are already checked, the file is not yet written."""

    path: str
    text: str


Effect = AddTodo | CompleteTodo | WriteArtifact


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`response` is JSON for the function response; `failed` marks it as an error the model can read."""

    response: dict[str, Any]
    effects: tuple[Effect, ...] = ()
    failed: bool = False


def failure(error: str, hint: str = "") -> ToolResult:
    response = {"error": error, "hint": hint} if hint else {"error": error}
    return ToolResult(response, failed=True)
