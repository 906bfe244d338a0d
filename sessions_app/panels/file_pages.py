"""Reads workspace files in pages, from a cache of unchanged files."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from sessions_app.errors import WorkspaceError
from sessions_app.models import Reference, Session, Turn
from sessions_app.prompt.panels import page_of
from sessions_app.prompt.tokens import estimate
from sessions_app.workspace import SHOWN_LIMIT, Workspace

FILE_CACHE_LIMIT = 16_000_000
"""Characters of files that a process caches."""

FileStamp = tuple[int, int, int, int]
"""Inode, modification times and size; changes when a file is written or replaced."""


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
    def value(self) -> str | dict[str, str]:
        """What is sent; its path is in the key of its panel."""
        return {"not_sent": self.problem} if self.problem else self.content


class FileReading(NamedTuple):
    """What reading a file led to: its text, or why it has none that can be sent."""

    text: str = ""
    problem: str = ""

    @property
    def size(self) -> int:
        return len(self.text) + len(self.problem)


class FileCache:
    """Thread-safe LRU cache of what files were read as."""

    def __init__(self, limit: int = FILE_CACHE_LIMIT) -> None:
        self._limit = limit
        self._entries: OrderedDict[Path, tuple[FileStamp, FileReading]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def read(self, workspace: Workspace, relative: str) -> str:
        """The text of a file. Raises WorkspaceError when it cannot be sent."""
        path = workspace.resolve(relative)
        now = _stamp_of(path)
        known = self._known(path, now)
        if known is None:
            known = _read(workspace, relative)
            # A file that changed while it was read may have been read in part, so it is not cached.
            if now is not None and _stamp_of(path) == now:
                self._add(path, now, known)
        if known.problem:
            raise WorkspaceError(known.problem)
        return known.text

    def check(self, workspace: Workspace, relative: str) -> None:
        """Raises WorkspaceError for a file that is known to be one that cannot be sent; reads no text.

        Whether it is text is known of one that was read since it changed.
        """
        path = workspace.resolve(relative)
        known = self._known(path, now := _stamp_of(path))
        if known is None and (now is None or path.is_dir() or now[-1] > SHOWN_LIMIT):
            self.read(workspace, relative)
        if known is not None and known.problem:
            raise WorkspaceError(known.problem)

    def _known(self, path: Path, now: FileStamp | None) -> FileReading | None:
        with self._lock:
            stamp, known = self._entries.get(path, (None, None))
            if known is None or stamp != now:
                return None
            self._entries.move_to_end(path)
            return known

    def _add(self, path: Path, now: FileStamp, read: FileReading) -> None:
        with self._lock:
            _, old = self._entries.pop(path, (None, FileReading()))
            self._entries[path] = (now, read)
            self._size += read.size - old.size
            while self._size > self._limit:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._size -= dropped.size


FILE_CACHE = FileCache()


def read_file(workspace: Workspace, path: str, page: int = 1, cache: FileCache = FILE_CACHE) -> ReadFile:
    """A page of a file, or the reason why it cannot be sent; raises nothing."""
    try:
        text = cache.read(workspace, path)
    except WorkspaceError as error:
        return ReadFile(path, problem=error.message)
    shown = page_of(text, page)
    return ReadFile(path, shown.shown, estimate(shown.shown), shown.number, shown.count)


def problem_of(workspace: Workspace, path: str, cache: FileCache = FILE_CACHE) -> str:
    """Why a file is not sent, as far as that is known without reading it (`FileCache.check`); else empty."""
    try:
        cache.check(workspace, path)
    except WorkspaceError as error:
        return error.message
    return ""


def open_file(session: Session, workspace: Workspace, path: str, *, ttl: int | None = None) -> Reference:
    """Opens a file for `ttl` messages of the person, or for ever, from the next request on.

    Raises WorkspaceError when there is no such file. A file that cannot be sent is opened too: the panel says
    why, and it is sent as soon as it can be.
    """
    found = workspace.existing_file(path)
    born = Turn.objects.count_messages(session.head_id) if ttl else 0
    return Reference.objects.open_in(session, workspace.relative(found), ttl=ttl, born=born)


def _read(workspace: Workspace, relative: str) -> FileReading:
    """Raises WorkspaceError where the file system refuses, which the next try may not meet."""
    try:
        return FileReading(workspace.read_text(relative, SHOWN_LIMIT))
    except WorkspaceError as error:
        if isinstance(error.__cause__, OSError):
            raise
        return FileReading(problem=error.message)


def _stamp_of(path: Path) -> FileStamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
