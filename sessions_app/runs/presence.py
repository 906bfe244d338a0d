"""Which processes are alive: each holds a lock that the kernel lets go when the process dies."""

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
        self._file = os.open(self._path(self.key), os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def is_dead(self, key: str) -> bool:
        """True only for a process of this machine that is certainly gone.

        A process of another machine has no file here and is judged by its lease instead.
        """
        if key == self.key or not key:
            return False
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

    def forget(self, key: str) -> None:
        """Removes the file of a dead process whose runs have been ended."""
        self._path(key).unlink(missing_ok=True)

    def leave(self) -> None:
        self.forget(self.key)
        os.close(self._file)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.lock"
