"""Which processes of this machine are alive: each holds a lock that the kernel lets go when it dies."""

import fcntl
import os
import uuid
from pathlib import Path


class Presence:
    """This process's lock file in `folder`; its `key` is written on every run the process works on."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.key = uuid.uuid4().hex
        # Named last: a file with a name and without a lock is a dead process.
        unnamed = folder / f"{self.key}.new"
        self._file = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unnamed.rename(self._path(self.key))

    def dead(self) -> set[str]:
        """Keys of processes of this machine that are certainly gone.

        A process of another machine has no file here and is judged by its lease instead.
        """
        keys = {path.stem for path in self._folder.glob("*.lock")} - {self.key}
        return {key for key in keys if self._is_free(key)}

    def forget(self, key: str) -> None:
        """Removes the file of a dead process, once its runs have been ended."""
        self._path(key).unlink(missing_ok=True)

    def leave(self) -> None:
        self.forget(self.key)
        os.close(self._file)

    def _is_free(self, key: str) -> bool:
        try:
            file = os.open(self._path(key), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(file)
        return True

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.lock"
