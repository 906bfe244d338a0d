"""The files panel: workspace files that are sent with every request, in pages, and their actions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import Field

from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import ToolError, WorkspaceError
from sessions_app.models import Note, Notification, Reference, Session, Turn
from sessions_app.models.panel_items import NOTE_LIMIT, PATH_LIMIT
from sessions_app.panels.base import Action, PanelInputs, PanelKind, PanelValue, existing
from sessions_app.panels.context_actions import check_note, cost_of, note_sources
from sessions_app.panels.file_pages import ReadFile, open_file
from sessions_app.panels.file_pages import read_file as read_page
from sessions_app.panels.rows import Moment, PanelRow, Rows
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import tool
from sessions_app.workspace import SHOWN_LIMIT

if TYPE_CHECKING:
    from sessions_app.panels.base import ReadPanel

FILES_IN_HINT = 20

OFFERED = 200
"""Files of a workspace that the drawer lists for opening."""

LONGEST_TTL = 1_000
"""Messages that a file may be open for, where it is not for ever."""

WorkspacePath = Annotated[str, Field(max_length=PATH_LIMIT)]
FilePath = Annotated[WorkspacePath, Field(description="Path inside the workspace, for example notes/plan.md")]


class FileRow(PanelRow):
    """`ttl` counts messages of the person after the first `born`; None is for ever."""

    id: int = 0
    path: str
    enabled: bool = True
    pinned: bool = False
    ttl: int | None = None
    born: int = 0
    page: int = 1
    added_at: Moment = Field(default_factory=timezone.now)


PANEL_OFF = "The panel file_references is off in this session: the file is not shown. read_file reads it."
"""What `open_file` answers while its panel is not sent."""


class OpenFile(Action):
    """Shows a workspace file in every request, always up to date; a long one in pages."""

    tool_title = "Open a file"
    path: WorkspacePath
    messages: Annotated[
        int, Field(description="User messages it stays for; 0: until closed", ge=0, le=LONGEST_TTL)
    ] = 0

    def answer(self, context: ToolContext) -> dict[str, Any]:
        try:
            context.workspace.read_text(self.path, SHOWN_LIMIT)
            relative = context.workspace.relative(context.workspace.resolve(self.path))
        except WorkspaceError as error:
            raise ToolError(error.message, hint=error.hint or _known_files(context)) from error
        if FileReferences.key in context.off:
            return {"opened": relative, "note": PANEL_OFF}
        return {"opened": relative, "see": f"{FileReferences.key}, from now on"}

    def carry_out(self, session: Session) -> str:
        workspace = workspace_of(session.owner_id)
        path = open_file(session, workspace, self.path, ttl=self.messages or None).path
        return f"{path} is open for the model."


class FileAction(Action):
    """An action on one file of the session."""

    path: str

    def stored(self, session: Session) -> Any:
        rows = session.references.filter(path=self.path)
        return existing(rows, f"“{self.path}” is not in this session any more.")


class CloseFile(FileAction):
    """Closes an open file; keeps what you learned from it as a note."""

    tool_title = "Close a file"
    reads_gauge = True
    note: Annotated[str, Field(description="What you learned from it", max_length=NOTE_LIMIT)] = ""

    def answer(self, context: ToolContext) -> dict[str, Any]:
        paths = [file.path for file in FileReferences.of(context)]
        if self.path not in paths:
            names = ", ".join(paths[:FILES_IN_HINT])
            hint = f"Open files: {names}." if names else "No file is open."
            raise ToolError(f"“{self.path}” is not open.", hint=hint)
        check_note(context, self.note)
        gone, changed = {f"panel:{FileReferences.key}/{self.path}"}, note_sources(self.note)
        return {"closed": self.path} | cost_of(context.gauge, gone, changed)

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        self.stored(session).switch(on=False)
        if self.note.strip():
            Note.objects.add_to(session, self.note, self.path)
        return f"{self.path} is off."


class ReopenFile(FileAction):
    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        """Restarts its TTL: one that is over would close it with the next message."""
        files = self.stored(session)
        files.switch(on=True)
        # Another page may have taken it out since.
        files.update(born=Turn.objects.count_messages(session.head_id))
        return f"{self.path} is on."


class NextPage(Action):
    """Shows another page of a long panel or file in place of this one; keep what you need."""

    tool_title = "Turn a page"
    panel: Annotated[str, Field(description="Its key, or the path of an open file")]
    page: Annotated[int, Field(ge=1, le=1_000_000)]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        # How many pages there are is known when the panel is read.
        return {"panel": self.panel, "asked_for": self.page, "see": "its first line, which names its page"}

    def carry_out(self, session: Session) -> str:
        """A panel by its key, else an open file by its path."""
        # The registry imports this file.
        from sessions_app.panels import kind_named

        if kind_named(self.panel):
            session.panel_states.set_page(session, self.panel, self.page)
            return "The model reads this page now."
        if not session.references.filter(path=self.panel, enabled=True).set_page(self.page):
            raise ToolError(
                f"There is no panel and no open file “{self.panel}”.",
                hint="Open a file before turning it.",
            )
        return f"{self.panel}: page {self.page}."


class PinFile(FileAction):
    on: bool = False

    def carry_out(self, session: Session) -> str:
        self.stored(session).pin(on=self.on)
        return f"{self.path} {'stays until you remove it' if self.on else 'is pinned no more'}."


class KeepFile(FileAction):
    """`messages` None keeps it open for ever."""

    messages: Annotated[int | None, Field(ge=1, le=LONGEST_TTL)] = None

    def carry_out(self, session: Session) -> str:
        files, born = self.stored(session), Turn.objects.count_messages(session.head_id)
        files.set_ttl(self.messages, born=born)
        how_long = f"for {_counted(self.messages)}" if self.messages else "for ever"
        if files.filter(pinned=True).exists():
            return f"{self.path} is pinned and stays; without the pin it would stay {how_long}."
        return f"{self.path} stays {how_long}."


class RemoveFile(FileAction):
    """Takes it out of the session; it stays in the workspace."""

    def carry_out(self, session: Session) -> str:
        self.stored(session).delete()
        return f"{self.path} is taken out; it stays in your workspace."


def read_file(context: ToolContext, path: FilePath) -> dict[str, Any]:
    """Reads a text file of the user's workspace."""
    try:
        return {"path": path, "text": context.workspace.read_text(path)}
    except WorkspaceError as error:
        raise ToolError(error.message, hint=error.hint or _known_files(context)) from error


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of the session; `read` is None while it is off, `left` counts messages until it closes."""

    reference: Reference
    read: ReadFile | None
    left: int | None


class FileReferences(PanelKind[FileRow]):
    position = 10
    key = "file_references"
    title = "Files"
    description = "Files that are open for the model."
    default_on = True
    model = Reference
    row = FileRow
    is_transferred = True
    transfer_reason = (
        "The conversation is about them. Only names travel: the panel says where a workspace lacks a file."
    )
    actions = (OpenFile, CloseFile, ReopenFile, NextPage, PinFile, KeepFile, RemoveFile)
    tool_group = "files"
    ttl_choices = (1, 3, 10, 30)
    reading_tools = (tool(read_file, "files", "Read a file"),)

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        return Reference.objects.filter(session=session, enabled=True)

    def value(self, inputs: PanelInputs) -> PanelValue:
        rows = sorted(self.of(inputs), key=lambda row: (row.added_at, row.path))
        return value_of_files([read_page(inputs.workspace, row.path, row.page) for row in rows])

    def template_context(self, session: Session, read: "ReadPanel") -> dict[str, Any]:
        references = list(session.references.all())
        contents = {file.path: file for file in read.files}
        expiring = any(one.ttl and not one.pinned for one in references)
        messages = Turn.objects.count_messages(session.head_id) if expiring else 0
        taken = {one.path for one in references}
        return {
            "files": [
                ListedFile(
                    one, contents.get(one.path) if one.enabled else None, _messages_left(one, messages)
                )
                for one in references
            ],
            "offered": [path for path in workspace_of(session.owner_id).list(OFFERED) if path not in taken],
        }

    def expire(self, session: Session, rows: Rows) -> bool:
        """Switches off the files whose TTL is over."""
        expiring: Sequence[FileRow] = [row for row in rows.get(self.key, ()) if row.ttl and not row.pinned]
        messages = Turn.objects.count_messages(session.head_id) if expiring else 0
        expired = [row for row in expiring if row.ttl and messages - row.born > row.ttl]
        if expired:
            Reference.objects.filter(pk__in=[row.id for row in expired]).update(enabled=False)
        for row in expired:
            Notification.objects.add(
                session.pk,
                Notification.Kind.CUSTOM,
                f"“{row.path}” was closed after {_counted(row.ttl or 0)}.",
                source=f"file:{row.id}",
                # Needs no answer: an open notification would start a run.
                status=Notification.Status.SEEN,
            )
        return bool(expired)


def value_of_files(files: Sequence[ReadFile]) -> PanelValue:
    missing = [file.problem for file in files if file.problem]
    problem = missing[0] if len(missing) == 1 else f"{len(missing)} files are not sent." if missing else ""
    return PanelValue(problem=problem, files=tuple(files))


def _counted(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages} messages"


def _messages_left(reference: Reference, messages: int) -> int | None:
    """Messages before the one that closes it."""
    if reference.ttl is None or reference.pinned:
        return None
    return max(0, reference.ttl - (messages - reference.born))


def _known_files(context: ToolContext) -> str:
    names = [file.path for file in FileReferences.of(context)] or context.workspace.list(FILES_IN_HINT)
    return f"Files: {', '.join(names[:FILES_IN_HINT])}." if names else "The workspace is empty."
