"""The kinds of panels, in the product's order.

On by default is what an ordinary person put there or the model wrote for them: it is small, it
matters, and without content nothing is sent. Off by default is what costs tokens in every request
without having been asked for, or changes so often that it breaks the cached prefix behind it.
"""

from dataclasses import dataclass
from typing import Literal

Source = Literal["rows", "files", "workspace", "program", "session"]
"""Where the content comes from: a person's and the model's rows, files, the folder itself, a program
outside, or facts of the session and the installation."""


@dataclass(frozen=True, slots=True)
class PanelKind:
    """One kind of panel. `key` is its name in the dynamic layer and in `SessionSettings.panels`.

    `why` is a line for the person who switches it: what it shows and, where it is off, why.
    """

    key: str
    title: str
    source: Source
    why: str
    default_on: bool = False
    is_editable: bool = False


def _own(key: str, title: str, source: Source, why: str) -> PanelKind:
    """What a person fills and edits beside the chat."""
    return PanelKind(key, title, source, why, default_on=True, is_editable=True)


def _made(key: str, title: str, source: Source, why: str) -> PanelKind:
    """What comes about without a person."""
    return PanelKind(key, title, source, why, default_on=True)


KINDS: tuple[PanelKind, ...] = (
    _own("file_references", "Files", "files", "Files that are open for the model."),
    _made("artifacts", "Artifacts", "files", "Files that the model wrote."),
    _own("todos", "Todos", "rows", "What is to be done in this session."),
    PanelKind("library", "Library", "session", "Names all that the library offers; few chats need it."),
    PanelKind(
        "statistics", "Statistics", "session", "Tokens and cost so far; new in every request, never cached."
    ),
    PanelKind("tools", "Tools", "session", "Which tools are on and off; the model knows those that are on."),
    PanelKind("tree", "Workspace", "workspace", "Names and sizes of all your files, needed here or not."),
    _own("memories", "Memories", "rows", "What to know in every session of yours."),
    _made("notifications", "Notifications", "rows", "What happened that the model should know."),
    _own("logs", "Log", "rows", "What was done and decided, line by line."),
    _own("scratchpad", "Scratchpad", "rows", "Notes that you and the model keep."),
    PanelKind(
        "git_status", "Git status", "program", "Changed files of the workspace’s repository, if it is one."
    ),
    PanelKind("git_log", "Git log", "program", "Last commits of the workspace’s repository, if it is one."),
    PanelKind("github", "GitHub", "program", "Open issues and pull requests, by this machine’s “gh” login."),
    PanelKind(
        "console", "Console", "program", "Output of commands that an administrator allowed: it runs programs."
    ),
    PanelKind("history", "History", "session", "Names the parts of the history that were put away."),
    _made("skills", "Skills", "session", "Know-how from the library, in full; you choose which."),
)

KEYS = tuple(kind.key for kind in KINDS)

PROGRAM_KINDS = frozenset(kind.key for kind in KINDS if kind.source == "program")


def is_on(kind: PanelKind, chosen: dict[str, bool]) -> bool:
    """Whether a session shows it: as the person chose, else as it is at first."""
    return chosen.get(kind.key, kind.default_on)
