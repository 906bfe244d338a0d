"""Zip archives of a workspace: packed for a download, and unpacked without trusting a word of them."""

import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import IO

from sessions_app.errors import WorkspaceError
from sessions_app.workspace import UPLOAD_LIMIT, Workspace

ENTRIES = 2_000
"""Files of one archive."""

DIRECTORY = ENTRIES * 1_000
"""Bytes of the list of its files, which zipfile reads whole, whatever number of files it declares."""

UNPACKED = 100_000_000
"""Bytes of all its files, counted while they are read: what an archive declares may be a lie."""

CHUNK = 65_536

NAME_BYTES = 255
"""The most bytes of one part of a path, as file systems allow."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those that every program writes. LZMA takes the memory that its header names before a byte is read."""

DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, RuntimeError)
"""What zipfile raises for bytes that are not as the archive says."""

PACKED = 500_000_000
"""Bytes of the files that go into one download."""


class _Bounded:
    """A file of which no more than DIRECTORY bytes are read at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Raises WorkspaceError."""
        if size > DIRECTORY:
            raise WorkspaceError(f"The archive has more than {ENTRIES:,} files.")
        return self._file.read(size)


def is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


def check_archive(workspace: Workspace, body: IO[bytes]) -> list[zipfile.ZipInfo]:
    """The files of an archive, none of which has been read.

    Raises WorkspaceError, with the name, for an archive that holds anything else or too much, or a file that
    would leave the workspace or replace another.
    """
    try:
        with zipfile.ZipFile(_Bounded(body)) as archive:
            entries = archive.infolist()
    except (*DAMAGED, OSError) as error:
        raise WorkspaceError("This is no zip archive that can be read.") from error
    files = [entry for entry in entries if not entry.is_dir()]
    if len(entries) > ENTRIES:
        raise WorkspaceError(f"The archive has more than {ENTRIES:,} files.")
    if sum(entry.file_size for entry in files) > UNPACKED:
        raise WorkspaceError(f"The archive unpacks to more than {UNPACKED:,} bytes.")
    names = set[str]()
    for entry in files:
        _check_entry(workspace, entry, names)
    if clash := names & {str(folder) for name in names for folder in PurePosixPath(name).parents}:
        raise WorkspaceError(f"“{min(clash)}” is a file and a folder in the archive.")
    return files


def unpack(workspace: Workspace, body: IO[bytes], entries: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Writes the files that `check_archive` found: all of them, or none. Raises WorkspaceError."""
    written: list[str] = []
    left = UNPACKED
    try:
        with zipfile.ZipFile(body) as archive:
            for entry in entries:
                data = b"".join(_read(archive, entry, min(UPLOAD_LIMIT, left)))
                left -= len(data)
                written.append(workspace.relative(workspace.create(entry.filename, data)))
    except BaseException as error:
        for path in written:
            workspace.remove(path)
        if isinstance(error, DAMAGED):
            raise WorkspaceError("The archive is damaged.", hint="Pack it again.") from error
        raise
    return written


def pack(workspace: Workspace, paths: Sequence[str]) -> IO[bytes]:
    """A zip archive of these files. Raises WorkspaceError where they are too large together."""
    if sum(workspace.size_of(path) for path in paths) > PACKED:
        raise WorkspaceError(f"The files have more than {PACKED:,} bytes. Download them one by one.")
    body = TemporaryFile()  # noqa: SIM115 (who sends it closes it)
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(workspace.resolve(path), path)
    body.seek(0)
    return body


def _check_entry(workspace: Workspace, entry: zipfile.ZipInfo, names: set[str]) -> None:
    name = entry.filename
    path = workspace.writable(name, "")
    _check_name(entry)
    _check_content(entry)
    if name in names or path.exists():
        raise WorkspaceError(f"There is a file “{name}” already.", hint="Rename one of them.")
    names.add(name)


def _check_name(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    parts = name.split("/")
    # What the archive says, before zipfile cuts it at a NUL.
    has_sign = "\\" in entry.orig_filename or "\0" in entry.orig_filename or ":" in parts[0]
    if has_sign or any(not part.strip(" .") or len(part.encode()) > NAME_BYTES for part in parts):
        raise WorkspaceError(f"“{name}” is a name that no file of the workspace may have.")
    if any(part.startswith(".") for part in parts):
        raise WorkspaceError(f"“{name}” is hidden; hidden files are not taken.", hint="Pack it without them.")


def _check_content(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    if entry.flag_bits & 0x1:
        raise WorkspaceError(f"“{name}” is encrypted.")
    if entry.compress_type not in METHODS:
        raise WorkspaceError(
            f"“{name}” is packed in a way that is not read here.", hint="Pack it as an ordinary zip archive."
        )
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise WorkspaceError(f"“{name}” is a link or no regular file.")
    if entry.file_size > UPLOAD_LIMIT:
        raise WorkspaceError(f"“{name}” is larger than {UPLOAD_LIMIT:,} bytes.")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
    """The bytes of a file. Raises WorkspaceError beyond `limit`, whatever size it declared."""
    read = 0
    with archive.open(entry) as file:
        while data := file.read(CHUNK):
            read += len(data)
            if read > limit:
                raise WorkspaceError(f"“{entry.filename}” is larger than it says.")
            yield data
