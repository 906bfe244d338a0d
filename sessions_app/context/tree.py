"""What lies in the workspace, as the model sees it: names and sizes."""

import os
from collections.abc import Iterator
from pathlib import Path

from sessions_app.workspace import Workspace

DEPTH = 6
ENTRIES = 500
FOLDER = 2_000
"""Names of one folder that are looked at: a folder of a million must not stop a request."""


def tree_of(workspace: Workspace, depth: int = DEPTH, entries: int = ENTRIES) -> str:
    """Folders and files, indented, a name to a line; empty when there is nothing.

    Hidden names and symlinks are left out; what lies deeper or comes later is said to be missing.
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
    """The visible names of a folder, sorted; none of one that cannot be read."""
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
