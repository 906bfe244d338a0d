"""Files that only their owner reads: what `up` writes, and what earlier versions wrote wider."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o077
"""The umask, and the bits that are taken away."""


def make_private(paths: Iterable[Path]) -> None:
    """Takes other people's rights from these files and folders and from all within them.

    Only from what belongs to this user; links are not followed.
    """
    for path in paths:
        _narrow(str(path), None)
        if path.is_symlink() or not path.is_dir():
            continue
        for _, folders, files, descriptor in os.fwalk(path, follow_symlinks=False):
            for name in (*folders, *files):
                _narrow(name, descriptor)


def _narrow(name: str, folder: int | None) -> None:
    # A file that is gone by now, a link, or somebody else's.
    with suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        is_ours = found.st_uid == os.geteuid() and (
            stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        )
        if not is_ours or not found.st_mode & PRIVATE:
            return
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & ~PRIVATE)
        finally:
            os.close(descriptor)
