"""The format of a backup: a tar file whose last member says what is in it.

`database` (an SQLite file, or a dump of pg_dump), `workspaces/…`, with `--with-secrets` also `secrets/…`, and
`manifest.json` with versions, sizes and digests, in ASCII: names of files need not be UTF-8 (`os.fsdecode`).
Everything is written and read in one pass.
"""

import gzip
import hashlib
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import BaseModel

from sessions_app.errors import BackupError
from sessions_app.storage_errors import is_full

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database"
WORKSPACES = "workspaces"
SECRETS = "secrets"

PIECE = 1024 * 1024
IN_MEMORY = 8 * PIECE
"""Bytes of a workspace file above which its copy is on the disk while it is packed."""

MANIFEST_LIMIT = 64 * PIECE

UNREADABLE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
"""What a wrong path of a backup raises; it says nothing about what is in the file."""


class Entry(BaseModel):
    size: int
    sha256: str


class Manifest(BaseModel):
    """`migrations` are those of Pipeweb that the database has; `vendor` is Django's name of its kind."""

    format: int
    made_at: datetime
    pipeweb: str
    vendor: str
    migrations: list[str]
    files: dict[str, Entry]


class Packer:
    """Adds files to a backup that is being written."""

    def __init__(self, tar: tarfile.TarFile, folder: Path) -> None:
        """Large copies lie in `folder` meanwhile, without a name."""
        self._tar = tar
        self._folder = str(folder)
        self.files: dict[str, Entry] = {}

    def add(self, name: str, path: Path) -> None:
        """A copy is packed, since the file may be changed meanwhile; one that is gone by now is left out."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY, dir=self._folder) as copy:
            try:
                file = path.open("rb")
            except FileNotFoundError:
                return
            except OSError as error:
                raise BackupError(f"{path} cannot be read ({error.strerror}).") from error
            with file:
                entry = copied(file, copy)
            self._add(name, copy, entry.size)
        self.files[name] = entry

    def add_tree(self, name: str, root: Path) -> None:
        """Regular files only, hidden ones too; links are not followed."""
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink():
                self.add(f"{name}/{path.relative_to(root).as_posix()}", path)

    def finish(self, manifest: Manifest) -> None:
        body = json.dumps(manifest.model_dump(mode="json"), indent=1).encode("ascii")
        with tempfile.TemporaryFile() as file:
            file.write(body)
            self._add(MANIFEST, file, len(body))

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        file.seek(0)
        self._tar.addfile(member, file)


def copied(source: IO[bytes], target: IO[bytes]) -> Entry:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        target.write(piece)
        digest.update(piece)
        size += len(piece)
    return Entry(size=size, sha256=digest.hexdigest())


@contextmanager
def room_in(folder: Path) -> Iterator[None]:
    """Raises BackupError in place of an error that says that the disk of `folder` is full."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise BackupError(
            f"The disk of {folder} is full; nothing was changed.", hint="Make room there, then start again."
        ) from error


@contextmanager
def written(path: Path) -> Iterator[Packer]:
    """The file appears under its name when it is whole, for its owner only. Raises BackupError."""
    if path.exists():
        raise BackupError(f"{path} exists.", hint="Name a new file.")
    part = path.with_name(f".{path.name}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise BackupError(f"{part} cannot be made ({error.strerror}).") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            with gzip.GzipFile("", "wb", 1, file) as packed, tarfile.open(mode="w|", fileobj=packed) as tar:
                yield Packer(tar, path.parent)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def unpack(path: Path, folder: Path) -> Manifest:
    """Unpacks the files and compares each with the manifest. Raises BackupError for anything that differs."""
    try:
        manifest, found = _members(path, folder)
    except UNREADABLE as error:
        raise BackupError(f"{path} cannot be read ({error.strerror}).") from error
    except (tarfile.TarError, EOFError, OSError, zlib.error, ValueError) as error:
        if is_full(error):
            raise
        raise _damaged(path, f"it cannot be read ({type(error).__name__})") from error
    packed = manifest.files
    found = {name if name in packed else _replaced(name): entry for name, entry in found.items()}
    if packed != found:
        wrong = min(name for name in {*found, *packed} if found.get(name) != packed.get(name))
        raise _damaged(path, f"{wrong!r} is not what was packed")
    return manifest


def _members(path: Path, folder: Path) -> tuple[Manifest, dict[str, Entry]]:
    """The manifest, which has to be the last, and what was unpacked."""
    found: dict[str, Entry] = {}
    manifest = None
    with tarfile.open(path, "r|gz") as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            if file is None or manifest is not None or member.name in found:
                raise _damaged(path, f"{member.name!r} has no place in it")
            if member.name == MANIFEST:
                manifest = Manifest.model_validate(json.loads(file.read(MANIFEST_LIMIT)))
            else:
                found[member.name] = _unpacked(path, folder, member.name, file)
    if manifest is None:
        raise _damaged(path, "its end is missing")
    return manifest, found


def _replaced(name: str) -> str:
    """A name that is not UTF-8, as manifests had it until November 2026: U+FFFD in place of its bytes."""
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _unpacked(path: Path, folder: Path, name: str, file: IO[bytes]) -> Entry:
    relative = PurePosixPath(name)
    is_inside = not relative.is_absolute() and ".." not in relative.parts
    if not is_inside or relative.parts[:1] not in ((DATABASE,), (WORKSPACES,), (SECRETS,)):
        raise _damaged(path, f"{name!r} has no place in it")
    target = folder / relative
    target.parent.mkdir(0o700, parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as unpacked:
        return copied(file, unpacked)


def _damaged(path: Path, why: str) -> BackupError:
    return BackupError(f"{path} is damaged: {why}.", hint="Nothing was changed. Take another backup.")
