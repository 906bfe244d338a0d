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
class EditTodo:
    position: int
    title: str


@dataclass(frozen=True, slots=True)
class RemoveTodo:
    position: int


@dataclass(frozen=True, slots=True)
class Remember:
    text: str
    importance: str


@dataclass(frozen=True, slots=True)
class Forget:
    number: int


@dataclass(frozen=True, slots=True)
class WriteNote:
    """`position` None makes a new note."""

    text: str
    position: int | None = None
    append: bool = False


@dataclass(frozen=True, slots=True)
class ClearNote:
    position: int


@dataclass(frozen=True, slots=True)
class AddLog:
    text: str


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file to show in every request; `ttl` in messages of the person, None for ever."""

    path: str
    ttl: int | None = None


@dataclass(frozen=True, slots=True)
class CloseFile:
    path: str


@dataclass(frozen=True, slots=True)
class TurnPage:
    """`panel` is the key of a panel or the path of an open file."""

    panel: str
    page: int


@dataclass(frozen=True, slots=True)
class WriteArtifact:
    """A file for the workspace; path and size are already checked, the file is not yet written."""

    path: str
    text: str


Effect = (
    AddTodo
    | CompleteTodo
    | EditTodo
    | RemoveTodo
    | Remember
    | Forget
    | WriteNote
    | ClearNote
    | AddLog
    | OpenFile
    | CloseFile
    | TurnPage
    | WriteArtifact
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`response` is JSON for the function response; `failed` marks it as an error the model can read."""

    response: dict[str, Any]
    effects: tuple[Effect, ...] = ()
    failed: bool = False


def failure(error: str, hint: str = "") -> ToolResult:
    response = {"error": error, "hint": hint} if hint else {"error": error}
    return ToolResult(response, failed=True)
