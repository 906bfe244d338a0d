"""Actions that change files of the workspace: write, edit, move, delete, and undo."""

from secrets import token_hex
from typing import Annotated, Any

from django.db import transaction
from django.utils import timezone
from pydantic import Field, PrivateAttr

from sessions_app.context.storage import check_storage
from sessions_app.context.workspaces import workspace_of
from sessions_app.errors import NotKept, RowGone, ToolError, WorkspaceError
from sessions_app.models import Artifact, FileChange, Notification, PersonalUsage, Session
from sessions_app.models.blob import digest
from sessions_app.models.panel_items import PATH_LIMIT
from sessions_app.panels.base import Action
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.workspace_reading import hash_of_lines
from sessions_app.workspace import WRITE_LIMIT, Workspace

FilePath = Annotated[str, Field(max_length=PATH_LIMIT, description="Path inside the workspace")]


BYTE_ORDER_MARK = "\ufeff"


class FileChangeAction(Action):
    """An action that leaves a FileChange, whose key its response names."""

    _key: str = PrivateAttr(default_factory=lambda: token_hex(4))


class WriteArtifact(FileChangeAction):
    """Writes a text file into the user's workspace as an artifact; an existing file is replaced."""

    tool_title = "Write an artifact"
    path: Annotated[
        str, Field(max_length=PATH_LIMIT, description="Path inside the workspace, for example notes/plan.md")
    ]
    text: Annotated[str, Field(description="The whole content of the file")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        path = self._relative(context.workspace)
        found = {"written": path, "characters": len(self.text)}
        return found if self._replaced(context.workspace, path) is None else found | {"change": self._key}

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        workspace = workspace_of(session.owner_id)
        path = self._relative(workspace)
        check_storage(session.owner_id, len(self._body))
        before = self._replaced(workspace, path)
        if before is not None:
            kind = FileChange.Kind.EDITED
            FileChange.objects.record(session, self._key, kind, path, before=before, after=self._body)
        workspace.write_text(path, self.text)
        defaults = {"changed_at": timezone.now()}
        Artifact.objects.update_or_create(session=session, path=path, defaults=defaults)
        return f"{path} is written."

    @property
    def _body(self) -> bytes:
        return self.text.encode(errors="replace")

    def _relative(self, workspace: Workspace) -> str:
        return workspace.relative(workspace.writable(self.path, self.text))

    def _replaced(self, workspace: Workspace, path: str) -> bytes | None:
        """The file as it is where it would change; None for a new one. Raises WorkspaceError if it is too
        large to be kept."""
        if not workspace.resolve(path).is_file():
            return None
        before = workspace.read_bytes(path)
        return None if before == self._body else before


class EditFile(FileChangeAction):
    """Replaces a part of a text file: `old`, which must occur once, or the lines first to last, whose hash
    read_range tells."""

    tool_title = "Edit a file"
    path: FilePath
    new: Annotated[str, Field(description="What stands there instead")]
    old: Annotated[str, Field(description="The exact text to replace")] = ""
    first: Annotated[int, Field(ge=0)] = 0
    last: Annotated[int, Field(ge=0)] = 0
    hash: Annotated[str, Field(description="Of these lines, from read_range")] = ""

    def answer(self, context: ToolContext) -> dict[str, Any]:
        before = _text(context.workspace, self.path)
        after = self._edited(before)
        path = context.workspace.relative(context.workspace.writable(self.path, after))
        lines = len(after.splitlines()) - len(before.splitlines())
        return {"edited": path, "change": self._key, "lines_added": lines}

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        PersonalUsage.objects.hold(session.owner_id)
        workspace = workspace_of(session.owner_id)
        before = _text(workspace, self.path)
        after = self._edited(before)
        path = workspace.relative(workspace.writable(self.path, after))
        check_storage(session.owner_id, max(0, len(after.encode()) - len(before.encode())))
        FileChange.objects.record(
            session,
            self._key,
            FileChange.Kind.EDITED,
            path,
            before=before.encode(),
            after=after.encode(),
        )
        workspace.write_bytes(path, after.encode())
        return f"{path} is edited."

    def _edited(self, text: str) -> str:
        """The text after the edit. Raises ToolError where it does not fit."""
        if bool(self.old) == bool(self.first):
            raise ToolError("Name either the old text, or first, last and hash of the lines.")
        # No tool shows the byte order mark, so no line and no text that is named has it.
        mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        text = text.removeprefix(mark)
        new = _line_ends_of(text, self.new)
        if self.first:
            return mark + self._with_lines(text, new)
        old = _line_ends_of(text, self.old)
        self._check_occurs_once(text, old)
        return mark + text.replace(old, new)

    def _check_occurs_once(self, text: str, old: str) -> None:
        """Occurrences may overlap."""
        at = text.find(old)
        if at < 0:
            raise ToolError(f"The old text is not in “{self.path}”.", hint="Read the file again.")
        if text.find(old, at + 1) >= 0:
            raise ToolError(
                f"The old text occurs more than once in “{self.path}”.",
                hint="Give more of the text around it.",
            )

    def _with_lines(self, text: str, new: str) -> str:
        lines = text.splitlines(keepends=True)
        if not self.first <= self.last <= len(lines):
            raise ToolError(f"“{self.path}” has {len(lines):,} lines.")
        found = lines[self.first - 1 : self.last]
        if hash_of_lines(found) != self.hash:
            raise ToolError("These lines have another hash.", hint="Read them again with read_range.")
        if new and found[-1].endswith("\n") and not new.endswith("\n"):
            new += _line_ends_of(text, "\n")
        return "".join([*lines[: self.first - 1], new, *lines[self.last :]])


class MoveFile(FileChangeAction):
    """Moves or renames a file of the workspace; the new path must be free."""

    tool_title = "Move a file"
    is_standard_tool = False
    path: FilePath
    to: FilePath

    def answer(self, context: ToolContext) -> dict[str, Any]:
        workspace = context.workspace
        workspace.existing_file(self.path)
        target = workspace.free_path(self.to)
        return {"moved": self.path, "to": workspace.relative(target), "change": self._key}

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        PersonalUsage.objects.hold(session.owner_id)
        workspace = workspace_of(session.owner_id)
        path = workspace.relative(workspace.resolve(self.path))
        to = workspace.relative(workspace.writable(self.to, ""))
        kind = FileChange.Kind.MOVED
        FileChange.objects.record(session, self._key, kind, path, before=None, moved_to=to)
        rename_rows(session, path, to)
        workspace.move(path, to)
        return f"{path} is now {to}."


class DeleteFile(FileChangeAction):
    """Deletes a file of the workspace; the user can take it back."""

    tool_title = "Delete a file"
    is_standard_tool = False
    path: FilePath

    def answer(self, context: ToolContext) -> dict[str, Any]:
        path = context.workspace.relative(context.workspace.existing_file(self.path))
        context.workspace.read_bytes(path)
        return {"deleted": path, "change": self._key}

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        PersonalUsage.objects.hold(session.owner_id)
        workspace = workspace_of(session.owner_id)
        path = workspace.relative(workspace.resolve(self.path))
        before = workspace.read_bytes(path)
        FileChange.objects.record(session, self._key, FileChange.Kind.DELETED, path, before=before)
        session.references.filter(path=path).switch(on=False)
        workspace.remove(path)
        return f"{path} is deleted."


class UndoChange(Action):
    """Puts a file back as it was before a change, unless it was changed since."""

    change: str

    @transaction.atomic
    def carry_out(self, session: Session) -> str:
        PersonalUsage.objects.hold(session.owner_id)
        rows = session.file_changes.select_for_update(of=("self",)).select_related("before")
        change = rows.filter(key=self.change).first()
        if change is None:
            raise RowGone("This change is not in this session any more.")
        if change.undone_at is not None:
            raise NotKept("This change is undone already.")
        _put_back(session, workspace_of(session.owner_id), change)
        session.file_changes.filter(pk=change.pk).update(undone_at=timezone.now())
        Notification.objects.add(
            session.pk,
            Notification.Kind.CUSTOM,
            f"The user undid your change of “{change.path}” ({change.key}).",
            source=f"change:{change.key}",
            status=Notification.Status.SEEN,
        )
        return f"{change.path} is as it was."


CHANGING_TOOLS = frozenset(action.action_name() for action in (WriteArtifact, EditFile, MoveFile, DeleteFile))


def _put_back(session: Session, workspace: Workspace, change: FileChange) -> None:
    if change.kind == FileChange.Kind.MOVED:
        workspace.move(change.moved_to, change.path)
        rename_rows(session, change.moved_to, change.path)
        return
    path = workspace.resolve(change.path)
    now = digest(workspace.read_bytes(change.path)) if path.is_file() else ""
    if now != change.after_sha256:
        raise NotKept(f"“{change.path}” was changed since. It stays as it is.")
    assert change.before is not None
    body = change.before.bytes
    check_storage(session.owner_id, len(body))
    workspace.write_bytes(change.path, body)


def rename_rows(session: Session, path: str, to: str) -> None:
    """Open files and artifacts of the session follow a file to its new path."""
    for rows in (session.references, session.artifacts):
        rows.filter(path=to).delete()
        rows.filter(path=path).update(path=to)


def _text(workspace: Workspace, path: str) -> str:
    try:
        return workspace.read_bytes(path, WRITE_LIMIT).decode()
    except UnicodeDecodeError as error:
        raise WorkspaceError(f"“{path}” is not UTF-8 text.") from error


def _line_ends_of(text: str, part: str) -> str:
    """The part with the line ends of the text: the model writes LF."""
    return part.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else part
