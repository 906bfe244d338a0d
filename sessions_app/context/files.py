"""Files of the workspace as the model sees them: in pages, read again when they changed."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from sessions_app.context.facts import user_turns
from sessions_app.errors import WorkspaceError
from sessions_app.models import Reference, Session
from sessions_app.prompt.pages import page_of
from sessions_app.prompt.tokens import estimate
from sessions_app.workspace import SHOWN_LIMIT, Workspace

MEMO_LIMIT = 16_000_000
"""Characters of files that a process keeps, so that it does not read them for every request."""

Print = tuple[int, int, int, int]
"""Inode, times and size: a file that was written or replaced has another."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file in the dynamic layer. `problem` says why its content is not sent."""

    path: str
    content: str = ""
    tokens: int = 0
    page: int = 1
    pages: int = 1
    problem: str = ""

    @property
    def value(self) -> dict[str, str]:
        if self.problem:
            return {"path": self.path, "not_sent": self.problem}
        return {"path": self.path, "content": self.content}


class Memo:
    """Texts of files, the least used forgotten first. Pages and runs read it from several threads."""

    def __init__(self, limit: int = MEMO_LIMIT) -> None:
        self._limit = limit
        self._texts: OrderedDict[Path, tuple[Print, str]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def read(self, workspace: Workspace, relative: str) -> str:
        """The file's text. Raises WorkspaceError when there is none that could be sent."""
        path = workspace.resolve(relative)
        now = _print_of(path)
        with self._lock:
            known = self._texts.get(path)
            if known is not None and known[0] == now:
                self._texts.move_to_end(path)
                return known[1]
        text = workspace.read_text(relative, SHOWN_LIMIT)
        # Written while it was read: what was read may be half of it, and must not be kept.
        if now is not None and _print_of(path) == now:
            self._keep(path, now, text)
        return text

    def _keep(self, path: Path, now: Print, text: str) -> None:
        with self._lock:
            _, old = self._texts.pop(path, (None, ""))
            self._texts[path] = (now, text)
            self._size += len(text) - len(old)
            while self._size > self._limit:
                _, (_, dropped) = self._texts.popitem(last=False)
                self._size -= len(dropped)


MEMO = Memo()


def read_file(workspace: Workspace, path: str, page: int = 1, memo: Memo = MEMO) -> ReadFile:
    """The page of a file, or why it cannot be sent; never raises."""
    try:
        text = memo.read(workspace, path)
    except WorkspaceError as error:
        return ReadFile(path, problem=error.message)
    shown = page_of(text, page)
    return ReadFile(path, shown.shown, estimate(shown.shown), shown.number, shown.count)


def open_file(session: Session, workspace: Workspace, path: str, *, ttl: int | None = None) -> Reference:
    """Shows a file from the next request on, for `ttl` messages of the person or for ever.

    Raises WorkspaceError when there is no such file in the workspace. One that is there and cannot be
    sent is opened all the same: the panel says why, and it is sent once it can be.
    """
    found = workspace.resolve(path)
    if not found.is_file():
        raise WorkspaceError(f"There is no file “{path}” in the workspace.")
    born = user_turns(session) if ttl else 0
    return Reference.objects.open_in(session, workspace.relative(found), ttl=ttl, born=born)


def _print_of(path: Path) -> Print | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
