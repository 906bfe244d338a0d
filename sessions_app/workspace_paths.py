"""Paths and names of files in a workspace, as text: what may be one, and which match a pattern."""

import re
import unicodedata
from fnmatch import fnmatchcase
from functools import cache
from pathlib import PurePosixPath

from sessions_app.errors import WorkspaceError

NAME_LIMIT = 120
"""Bytes of an uploaded file's name, well below the 255 that file systems allow."""

UNSAFE_IN_NAMES = re.compile(r"[^\w .()+-]")


def check_path(relative: str) -> None:
    """Raises WorkspaceError for what cannot be a path inside of a workspace."""
    if not relative or "\0" in relative or not relative.isprintable():
        raise WorkspaceError("The path is empty or has characters that no file name has.")
    path = PurePosixPath(relative)
    if path.is_absolute() or "\\" in relative:
        raise WorkspaceError(f"“{relative}” is not a relative path.", hint="Write it like notes/plan.md.")
    if ".." in path.parts:
        raise WorkspaceError(f"“{relative}” leads out of the workspace.")


def safe_name(name: str) -> str:
    """The last part of a name from a browser, fit for any file system; never empty or hidden."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    clean = UNSAFE_IN_NAMES.sub("_", last).strip(" .")
    stem, dot, suffix = clean.rpartition(".")
    if not stem:
        stem, dot, suffix = clean, "", ""
    tail = (dot + suffix).encode()[:20].decode(errors="ignore")
    head = stem.encode()[: NAME_LIMIT - len(tail.encode())].decode(errors="ignore")
    return (head + tail).strip(" .") or "file"


def matches_pattern(path: str, pattern: str) -> bool:
    """Part by part, `**` for any number of folders; takes polynomial time."""
    names, wanted = path.split("/"), pattern.split("/")

    @cache
    def matches(name: int, part: int) -> bool:
        if part == len(wanted):
            return name == len(names)
        if wanted[part] == "**":
            return matches(name, part + 1) or (name < len(names) and matches(name + 1, part))
        return name < len(names) and fnmatchcase(names[name], wanted[part]) and matches(name + 1, part + 1)

    return matches(0, 0)
