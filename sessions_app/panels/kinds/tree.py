"""The workspace panel: names and sizes of all files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import FileChange, Session
from sessions_app.panels.base import PanelInputs, PanelKind, PanelValue
from sessions_app.panels.file_edits import DeleteFile, EditFile, MoveFile, UndoChange
from sessions_app.panels.rows import PanelRow
from sessions_app.tools.workspace_reading import READING
from sessions_app.workspace import Workspace

if TYPE_CHECKING:
    from sessions_app.panels.base import ReadPanel

LISTED = 200
"""Files, and deleted ones, that the page lists."""

DEPTH = 6
ENTRIES = 500
FOLDER = 2_000
"""Names that are read of one folder, so that a huge folder does not stop a request."""


class WorkspaceTree(PanelKind[PanelRow]):
    position = 70
    key = "tree"
    title = "Workspace"
    description = "Names and sizes of all your files. Without files nothing is sent."
    default_on = True
    actions = (EditFile, MoveFile, DeleteFile, UndoChange)
    tool_group = "files"
    reading_tools = READING

    def value(self, inputs: PanelInputs) -> PanelValue:
        return PanelValue(tree_of(inputs.workspace))

    def template_context(self, session: Session, read: "ReadPanel") -> dict[str, Any]:
        """`files` are the first of the workspace with their bytes; `trash` is what tools deleted here."""
        workspace = workspace_of(session.owner_id)
        paths = workspace.list(LISTED + 1)
        deleted = session.file_changes.filter(kind=FileChange.Kind.DELETED, undone_at=None)
        return {
            "files": [(path, workspace.size_of(path)) for path in paths[:LISTED]],
            "has_more": len(paths) > LISTED,
            "trash": deleted.order_by("-pk")[:LISTED],
        }


def tree_of(workspace: Workspace, depth: int = DEPTH, entries: int = ENTRIES) -> str:
    """The folders and files, indented, one to a line; empty for an empty workspace.

    Hidden names and symlinks are left out. A line marks what `depth` or `entries` cut off.
    """
    lines: list[str] = []
    for line in _lines(workspace.root, depth, ""):
        if len(lines) == entries:
            return "\n".join([*lines, f"… only the first {entries} entries are listed"])
        lines.append(line)
    return "\n".join(lines)


def _lines(folder: Path, depth: int, indent: str) -> Iterator[str]:
    for entry in _entries(folder):
        if entry.is_file(follow_symlinks=False):
            yield f"{indent}{entry.name}  {_size(entry):,} B"
        elif entry.is_dir(follow_symlinks=False):
            yield f"{indent}{entry.name}/"
            if depth > 1:
                yield from _lines(Path(entry.path), depth - 1, indent + "  ")
            elif _entries(Path(entry.path)):
                yield f"{indent}  …"


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    """The visible names of a folder, sorted; empty when it cannot be read."""
    found = []
    try:
        with os.scandir(folder) as names:
            for entry, _ in zip(names, range(FOLDER), strict=False):
                if not entry.name.startswith(".") and entry.name.isprintable():
                    found.append(entry)
    except OSError:
        return []
    return sorted(found, key=lambda entry: entry.name)


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0
