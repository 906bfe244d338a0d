"""What each kind of panel says: rows, files and facts become the value that is sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sessions_app.context.clock import zone
from sessions_app.context.facts import history_of, statistics_of
from sessions_app.context.files import ReadFile, read_file
from sessions_app.context.readings import EVERY
from sessions_app.context.rows import Row, Rows
from sessions_app.context.tree import tree_of
from sessions_app.models import Session, SessionSettings
from sessions_app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Sources:
    """What the contents are made from. `tools` says of every tool whether the session has it on."""

    session: Session
    options: SessionSettings
    workspace: Workspace
    now: datetime
    rows: Rows
    tools: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Found:
    """The value of a panel, empty when it has nothing to say; `problem` is what a person should know."""

    value: Any = None
    problem: str = ""
    files: tuple[ReadFile, ...] | None = None
    """Of panels that are made of files; these are paged file by file."""


def read_content(key: str, sources: Sources) -> Found:
    return READERS[key](sources)


def _references(sources: Sources) -> Found:
    rows = sorted(sources.rows["file_references"], key=lambda row: (row.stamp, row.text))
    return _of_files([read_file(sources.workspace, row.text, row.c) for row in rows])


def _artifacts(sources: Sources) -> Found:
    opened = {row.text for row in sources.rows["file_references"]}
    rows = sorted(sources.rows["artifacts"], key=lambda row: (row.stamp, row.text))
    return _of_files([_artifact(row.text, opened, sources.workspace) for row in rows])


def _artifact(path: str, opened: set[str], workspace: Workspace) -> ReadFile:
    """The first page; a file that is open as a reference too is sent once, there."""
    if path in opened:
        return ReadFile(path, problem="Its content stands under file_references.")
    return read_file(workspace, path)


def _of_files(files: Sequence[ReadFile]) -> Found:
    missing = [file.problem for file in files if file.problem]
    problem = missing[0] if len(missing) == 1 else f"{len(missing)} files are not sent." if missing else ""
    return Found([file.value for file in files], problem, tuple(files))


def _todos(sources: Sources) -> Found:
    rows = sources.rows["todos"]
    return Found([{"position": row.number, "title": row.text, "done": row.flag} for row in rows])


def _memories(sources: Sources) -> Found:
    rows = sources.rows["memories"]
    return Found([{"id": row.number, "text": row.text, "importance": row.extra} for row in rows])


def _notifications(sources: Sources) -> Found:
    rows = sources.rows["notifications"]
    return Found([{"id": f"N{row.number}", "kind": row.extra, "text": row.text} for row in rows])


def _logs(sources: Sources) -> Found:
    local = zone(sources.options.time_zone)
    rows = sources.rows["logs"]
    return Found(
        [{"at": row.stamp.astimezone(local).isoformat(timespec="seconds"), "text": row.text} for row in rows]
    )


def _scratchpad(sources: Sources) -> Found:
    return Found([_note(row) for row in sources.rows["scratchpad"]])


def _note(row: Row) -> dict[str, Any]:
    title = {"title": row.extra} if row.extra else {}
    return {"position": row.number, **title, "text": row.text}


def _skills(sources: Sources) -> Found:
    chosen = sources.options.skills
    rows = sorted(sources.rows["skills"], key=lambda row: row.text)
    return Found(
        [
            {"name": row.text, "summary": row.more, "body": row.extra}
            for row in rows
            if chosen is None or row.text in chosen
        ]
    )


def _library(sources: Sources) -> Found:
    names: dict[str, list[str]] = {}
    for row in sorted(sources.rows["library"], key=lambda row: (row.extra, row.text)):
        names.setdefault(f"{row.extra}s", []).append(f"{row.text}: {row.more}" if row.more else row.text)
    return Found(names)


def _tools(sources: Sources) -> Found:
    on = [name for name, is_on in sources.tools.items() if is_on]
    off = [name for name, is_on in sources.tools.items() if not is_on]
    return Found({"on": on, "off": off} if on or off else None)


def _tree(sources: Sources) -> Found:
    return Found(tree_of(sources.workspace))


def _history(sources: Sources) -> Found:
    return Found(history_of(sources.session))


def _statistics(sources: Sources) -> Found:
    return Found(statistics_of(sources.session))


def _program(key: str) -> Callable[[Sources], Found]:
    def read(sources: Sources) -> Found:
        if not (rows := sources.rows[key]):
            return Found(problem="Not read yet; it is when the next message is sent.")
        (row,) = rows
        if row.flag:
            return Found(problem=row.extra)
        return Found(_output(row, sources.now))

    return read


def _console(sources: Sources) -> Found:
    outputs = [{"command": row.text, **_output(row, sources.now)} for row in sources.rows["console"]]
    return Found(outputs, "" if outputs else "No command has been read yet, or none is allowed.")


def _output(row: Row, now: datetime) -> dict[str, Any]:
    """What a program printed. Its time is told only when it is old: it would change at every reading."""
    is_old = now - row.stamp > timedelta(seconds=2 * (row.a or EVERY))
    return {
        "output": row.extra,
        **({"failed": True} if row.flag else {}),
        **({"as_of": row.stamp.isoformat(timespec="seconds")} if is_old else {}),
    }


READERS: Mapping[str, Callable[[Sources], Found]] = {
    "file_references": _references,
    "artifacts": _artifacts,
    "todos": _todos,
    "library": _library,
    "statistics": _statistics,
    "tools": _tools,
    "tree": _tree,
    "memories": _memories,
    "notifications": _notifications,
    "logs": _logs,
    "scratchpad": _scratchpad,
    "git_status": _program("git_status"),
    "git_log": _program("git_log"),
    "github": _program("github"),
    "console": _console,
    "history": _history,
    "skills": _skills,
}
