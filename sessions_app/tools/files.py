"""Tools for the files of the workspace: read one, write one, keep one open."""

from typing import Annotated, Any

from pydantic import Field

from sessions_app.errors import ToolError, WorkspaceError
from sessions_app.tools.context import ToolContext
from sessions_app.tools.effects import CloseFile, OpenFile, ToolResult, TurnPage, WriteArtifact
from sessions_app.tools.toolbox import tool
from sessions_app.workspace import SHOWN_LIMIT

FILES_IN_HINT = 20

FilePath = Annotated[str, Field(description="Path inside the workspace, for example notes/plan.md")]


def read_file(context: ToolContext, path: FilePath) -> dict[str, Any]:
    """Reads a text file of the user's workspace."""
    try:
        return {"path": path, "text": context.workspace.read_text(path)}
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint or _known_files(context)) from error


def write_artifact(
    context: ToolContext,
    path: FilePath,
    text: Annotated[str, Field(description="The whole content of the file")],
) -> ToolResult:
    """Writes a text file into the user's workspace as an artifact; an existing file is replaced."""
    target = context.workspace.writable(path, text)
    relative = context.workspace.relative(target)
    return ToolResult({"written": relative, "characters": len(text)}, (WriteArtifact(relative, text),))


def open_file(
    context: ToolContext,
    path: str,
    messages: Annotated[int, Field(description="User messages it stays for; 0: until closed", ge=0)] = 0,
) -> ToolResult:
    """Shows a workspace file in every request, always up to date; a long one in pages."""
    try:
        context.workspace.read_text(path, SHOWN_LIMIT)
        relative = context.workspace.relative(context.workspace.resolve(path))
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint or _known_files(context)) from error
    return ToolResult(
        {"opened": relative, "see": "file_references, from now on"}, (OpenFile(relative, messages or None),)
    )


def close_file(context: ToolContext, path: str) -> ToolResult:
    """Closes an open file."""
    if path not in context.references:
        raise ToolError(f"“{path}” is not open.", hint=_open_files(context))
    return ToolResult({"closed": path}, (CloseFile(path),))


def next_page(
    panel: Annotated[str, Field(description="Its key, or the path of an open file")],
    page: Annotated[int, Field(ge=1)],
) -> ToolResult:
    """Shows another page of a long panel or file in place of this one; keep what you need."""
    return ToolResult({"panel": panel, "page": page}, (TurnPage(panel, page),))


def _known_files(context: ToolContext) -> str:
    names = context.references or context.workspace.list(FILES_IN_HINT)
    return f"Files: {', '.join(names[:FILES_IN_HINT])}." if names else "The workspace is empty."


def _open_files(context: ToolContext) -> str:
    names = context.references[:FILES_IN_HINT]
    return f"Open files: {', '.join(names)}." if names else "No file is open."


FILES = (
    tool(close_file, "files", "Close a file"),
    tool(next_page, "files", "Turn a page"),
    tool(open_file, "files", "Open a file"),
    tool(read_file, "files", "Read a file"),
    tool(write_artifact, "files", "Write an artifact"),
)
