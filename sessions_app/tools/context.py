"""What a tool may look at."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TodoView:
    """One todo of the session; `position` counts from 1 and is what the model says."""

    position: int
    title: str
    done: bool


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One memory of the person; `number` is what the model says."""

    number: int
    text: str
    importance: str


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The session as it is when the calls of one step start; nothing here can be changed.

    `now` is aware and exact: the rounded clock of the dynamic layer would make `current_time`
    lie. `timezone` is the person's, as an IANA name. `references` are workspace paths of the files that
    are open, `notes` the positions of the scratchpad's notes.
    """

    now: datetime
    workspace: Workspace
    todos: tuple[TodoView, ...] = ()
    references: tuple[str, ...] = ()
    memories: tuple[MemoryView, ...] = ()
    notes: tuple[int, ...] = ()
    timezone: str = "UTC"
