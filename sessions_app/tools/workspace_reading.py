"""Tools that look for files of the workspace and read parts of them."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from sessions_app.errors import ToolError, WorkspaceError
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import tool
from sessions_app.workspace import SHOWN_LIMIT, Workspace

if TYPE_CHECKING:
    import regex

WALKED = 20_000
"""Files of a workspace that are looked at."""

LISTED = 500

MATCHES = 100

LINE_WIDTH = 400
"""Characters of a line in a result."""

RANGE_LINES = 2_000
RANGE_SIZE = 100_000
"""Characters that `read_range` returns."""

SEARCH_SECONDS = 2.0
"""The longest search for one pattern in one file; a pattern can take exponential time."""

SEARCH_BYTES = 50_000_000
"""The most bytes of all files that one search reads."""

Glob = Annotated[
    str, Field(description="Like **/*.py or notes/*.md; without / it is a file name in any folder")
]


def list_files(context: ToolContext, files: Glob = "") -> dict[str, Any]:
    """Lists files of the user's workspace with their sizes in bytes."""
    found = _matching(context.workspace, files)
    listed = [{"path": path, "bytes": context.workspace.size_of(path)} for path in found[:LISTED]]
    return {"files": listed} | _cut(len(found), LISTED, "files")


def search_files(
    context: ToolContext,
    pattern: Annotated[str, Field(description="A regular expression", min_length=1, max_length=500)],
    files: Glob = "",
    ignore_case: bool = False,
    context_lines: Annotated[int, Field(description="Lines before and after each match", ge=0, le=10)] = 0,
) -> dict[str, Any]:
    """Searches the lines of workspace files; returns matches with their line numbers."""
    import regex

    try:
        wanted = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise ToolError(f"This is not a regular expression: {error}.") from error
    paths = _matching(context.workspace, files)
    matches, seen, searched = list[dict[str, Any]](), 0, 0
    for path in paths:
        if seen > SEARCH_BYTES or len(matches) >= MATCHES:
            break
        text = _text_of(context.workspace, path)
        seen, searched = seen + len(text), searched + 1
        try:
            matches.extend(_matches(path, text, wanted, context_lines, MATCHES - len(matches)))
        except TimeoutError as error:
            raise ToolError(
                f"The pattern takes more than {SEARCH_SECONDS:g} seconds in “{path}”.",
                hint="Write a simpler one, without repeats inside repeats.",
            ) from error
    answer: dict[str, Any] = {"matches": matches}
    if searched < len(paths):
        answer["note"] = f"Searched {searched:,} of {len(paths):,} files. Narrow the pattern or the files."
    return answer


def read_range(
    context: ToolContext,
    path: Annotated[str, Field(description="Path inside the workspace")],
    first: Annotated[int, Field(description="The first line, from 1", ge=1)] = 1,
    last: Annotated[int, Field(description="The last line; 0: to the end", ge=0)] = 0,
) -> dict[str, Any]:
    """Reads lines of a text file. With the hash of these lines edit_file can replace them."""
    try:
        lines = context.workspace.read_text(path, SHOWN_LIMIT).splitlines(keepends=True)
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint) from error
    if first > max(1, len(lines)):
        raise ToolError(f"“{path}” has {len(lines):,} lines.")
    chosen = list(_within(lines[first - 1 : last or None]))
    end = first + len(chosen) - 1
    answer = {"path": path, "first": first, "last": end, "lines": len(lines), "hash": hash_of_lines(chosen)}
    return answer | {"text": "".join(chosen)}


def hash_of_lines(lines: Iterable[str]) -> str:
    """Eight characters by which an edit knows the lines that it was written for."""
    return sha256("".join(lines).encode(errors="replace")).hexdigest()[:8]


def _matching(workspace: Workspace, pattern: str) -> list[str]:
    try:
        return workspace.glob(pattern, WALKED)
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint) from error


def _text_of(workspace: Workspace, path: str) -> str:
    """Empty for a file that is no text, too large, or gone meanwhile."""
    try:
        return workspace.read_text(path, SHOWN_LIMIT)
    except WorkspaceError:
        return ""


def _matches(
    path: str, text: str, wanted: "regex.Pattern[str]", around: int, limit: int
) -> Iterator[dict[str, Any]]:
    """Raises TimeoutError."""
    lines = text.splitlines()
    found = 0
    for number, line in enumerate(lines):
        if found == limit:
            return
        if wanted.search(line, timeout=SEARCH_SECONDS, concurrent=True) is None:
            continue
        found += 1
        match: dict[str, Any] = {"path": path, "line": number + 1, "text": line[:LINE_WIDTH]}
        if around:
            match["before"] = [one[:LINE_WIDTH] for one in lines[max(0, number - around) : number]]
            match["after"] = [one[:LINE_WIDTH] for one in lines[number + 1 : number + 1 + around]]
        yield match


def _within(lines: list[str]) -> Iterator[str]:
    """The first lines that fit, at least one."""
    size = 0
    for number, line in enumerate(lines[:RANGE_LINES]):
        size += len(line)
        if number and size > RANGE_SIZE:
            return
        yield line


def _cut(count: int, limit: int, what: str) -> dict[str, str]:
    return {"note": f"The first {limit:,} of {count:,} {what}. Narrow the pattern."} if count > limit else {}


READING = (
    tool(list_files, "files", "List files"),
    tool(search_files, "files", "Search in files"),
    tool(read_range, "files", "Read lines"),
)
