"""A person's folder, in which references are read and artifacts are written.

Paths are relative, with forward slashes, and resolved before use: neither `..` nor a symlink leads out.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from sessions_app.errors import StorageFull, WorkspaceError
from sessions_app.workspace_paths import check_path, matches_pattern, safe_name

READ_LIMIT = 200_000
"""Bytes of a file that a tool may read at once."""

SHOWN_LIMIT = 5_000_000
"""Bytes of a file that may be shown in pages."""

WRITE_LIMIT = 1_000_000
"""Bytes of an artifact."""

UPLOAD_LIMIT = 5_000_000
"""Bytes of an uploaded file."""

TEMPORARY_PREFIX = ".part-"
FULL_DISK = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One folder tree, created at the first write."""

    root: Path

    def resolve(self, relative: str) -> Path:
        """The absolute path of `relative`, which need not exist.

        Raises WorkspaceError for an absolute path, `..`, NUL, a symlink that leads out, and
        for anything that is neither a file nor a folder (a device, a pipe, a socket).
        """
        check_path(relative)
        root = self.root.resolve()
        try:
            path = (root / relative).resolve()
            mode = _mode_of(path)
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkspaceError(f"“{relative}” cannot be used as a path.") from error
        if not path.is_relative_to(root):
            raise WorkspaceError(f"“{relative}” leads out of the workspace.")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise WorkspaceError(f"“{relative}” is not a regular file.")
        return path

    def relative(self, path: Path) -> str:
        """The inverse of `resolve`."""
        return path.relative_to(self.root.resolve()).as_posix()

    def existing_file(self, relative: str) -> Path:
        """Like `resolve`. Raises WorkspaceError also where there is no file."""
        path = self.resolve(relative)
        if not path.is_file():
            raise WorkspaceError(f"There is no file “{relative}” in the workspace.")
        return path

    def read_text(self, relative: str, limit: int = READ_LIMIT) -> str:
        """The text of a file of at most `limit` bytes of UTF-8.

        Raises WorkspaceError when it is missing, a folder, binary, or too large.
        """
        data = _read_bytes(self.resolve(relative), relative, limit)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise WorkspaceError(f"“{relative}” is not UTF-8 text.") from error
        if "\0" in text:
            raise WorkspaceError(f"“{relative}” is a binary file, not text.")
        return text

    def writable(self, relative: str, text: str, limit: int = WRITE_LIMIT) -> Path:
        """The path of a file that `text` can be written to. Raises WorkspaceError."""
        path = self.resolve(relative)
        if path.is_dir():
            raise WorkspaceError(f"“{relative}” is a folder.", hint="Name a file inside it.")
        if any(parent.is_file() for parent in path.parents):
            raise WorkspaceError(f"“{relative}” goes through a file as if it were a folder.")
        size = len(text.encode(errors="replace"))
        if size > limit:
            raise WorkspaceError(f"The text has {size:,} bytes; a file may have {limit:,}.")
        return path

    def free_path(self, relative: str) -> Path:
        """Like `writable`. Raises WorkspaceError also where there is something already."""
        path = self.writable(relative, "")
        if path.exists():
            raise WorkspaceError(f"There is a file “{relative}” already.", hint="Choose another name.")
        return path

    def write_text(self, relative: str, text: str, limit: int = WRITE_LIMIT) -> Path:
        """Creates or replaces a file atomically; missing folders are created. Raises WorkspaceError."""
        path = self.writable(relative, text, limit)
        with _os_errors_as(relative):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = _write_temporary(path.parent, [text.encode(errors="replace")], limit)
            part.replace(path)
        return path

    def store_upload(self, name: str, chunks: Iterable[bytes], limit: int = UPLOAD_LIMIT) -> Path:
        """Stores an uploaded file under a safe name, with `-2`, `-3` … if it is taken.

        Raises WorkspaceError when it has more than `limit` bytes.
        """
        safe = safe_name(name)
        with _os_errors_as(safe):
            root = self.root.resolve()
            root.mkdir(parents=True, exist_ok=True)
            part = _write_temporary(root, chunks, limit)
            path = _reserve(root, safe)
            part.replace(path)
        return path

    def size(self) -> int:
        """Bytes of all files, hidden ones too; symlinks are not followed."""
        total = 0
        for folder, _, files in os.walk(self.root.resolve()):
            for name in files:
                with suppress(FileNotFoundError):  # removed meanwhile
                    total += Path(folder, name).lstat().st_size
        return total

    def size_of(self, relative: str) -> int:
        """Bytes of a file; 0 for one that is gone."""
        with suppress(OSError):
            return self.resolve(relative).stat().st_size
        return 0

    def read_bytes(self, relative: str, limit: int = UPLOAD_LIMIT) -> bytes:
        """The bytes of a file. Raises WorkspaceError when it is missing, a folder, or too large."""
        return _read_bytes(self.resolve(relative), relative, limit)

    def write_bytes(self, relative: str, data: bytes) -> Path:
        """The same as `write_text` for bytes, of at most UPLOAD_LIMIT."""
        path = self.writable(relative, "")
        with _os_errors_as(relative):
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_temporary(path.parent, [data], max(UPLOAD_LIMIT, WRITE_LIMIT)).replace(path)
        return path

    def create(self, relative: str, data: bytes) -> Path:
        """Writes a file at a path that is free. Raises WorkspaceError."""
        self.free_path(relative)
        return self.write_bytes(relative, data)

    def move(self, relative: str, to: str) -> Path:
        """Renames a file to a path that is free; missing folders are created. Raises WorkspaceError."""
        path, target = self.existing_file(relative), self.free_path(to)
        with _os_errors_as(to):
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        return target

    def remove(self, relative: str) -> None:
        """Deletes a file. Raises WorkspaceError."""
        path = self.existing_file(relative)
        with _os_errors_as(relative):
            path.unlink()

    def glob(self, pattern: str, limit: int) -> "list[str]":
        """Paths of the visible files that match, sorted, among the first `limit` files; all for “”.

        `*` and `?` stay within a name, `**` crosses folders. A pattern without a slash is a file name in any
        folder. Raises WorkspaceError for a pattern that is no path.
        """
        files = sorted(islice(_visible_files(self.root.resolve()), limit))
        if not pattern:
            return files
        check_path(pattern)
        wanted = pattern if "/" in pattern else f"**/{pattern}"
        return [path for path in files if matches_pattern(path, wanted)]

    def list(self, limit: int = 1_000) -> tuple[str, ...]:
        """The first `limit` files, as sorted relative paths; hidden names and symlinks are left out."""
        return tuple(sorted(islice(_visible_files(self.root.resolve()), limit)))


@contextmanager
def _os_errors_as(relative: str) -> Iterator[None]:
    """Converts an OSError into a WorkspaceError about this path, or into StorageFull."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL_DISK:
            raise StorageFull from error
        reason = error.strerror or "the file system refused"
        raise WorkspaceError(f"“{relative}” cannot be written: {reason}.") from error


def _mode_of(path: Path) -> int:
    """The mode of what stands there; that of a file where nothing does.

    Raises OSError, also for a circle of symlinks, which Python 3.13 resolves without an error.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return stat.S_IFREG


def _read_bytes(path: Path, relative: str, limit: int) -> bytes:
    if path.is_dir():
        raise WorkspaceError(f"“{relative}” is a folder.", hint="Name a file inside it.")
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError as error:
        raise WorkspaceError(f"There is no file “{relative}” in the workspace.") from error
    except OSError as error:
        raise WorkspaceError(f"“{relative}” cannot be read.") from error
    if len(data) > limit:
        raise WorkspaceError(f"“{relative}” is larger than {limit:,} bytes.")
    return data


def _write_temporary(folder: Path, chunks: Iterable[bytes], limit: int) -> Path:
    handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=folder)
    part = Path(name)
    written = 0
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                written += len(chunk)
                if written > limit:
                    raise WorkspaceError(f"The file is larger than {limit:,} bytes.")
                file.write(chunk)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _reserve(folder: Path, name: str) -> Path:
    """Creates an empty file under the first free name."""
    path = folder / name
    for number in count(2):
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
        else:
            break
    return path


def _visible_files(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()
