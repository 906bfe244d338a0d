"""The address at which `up` serves a data folder, kept there for commands that print links to it."""

import re
from contextlib import suppress
from pathlib import Path

from django.conf import settings

DEFAULT = "http://127.0.0.1:8000"
FILE_NAME = "address"

_ADDRESS = re.compile(r"http://(\[[0-9a-f:.]+\]|[\w.-]+):\d{1,5}")


def keep(base: str) -> None:
    """Keeps the address of this server, which replaces that of an earlier one; nothing where it cannot."""
    with suppress(OSError):
        _file().write_text(base)


def forget(base: str) -> None:
    """Called at the end of a server; the address of another one stays."""
    if served_at() == base:
        with suppress(OSError):
            _file().unlink(missing_ok=True)


def served_at() -> str:
    """The address of the running server, or `DEFAULT` where none is known."""
    with suppress(OSError, UnicodeDecodeError):
        if _ADDRESS.fullmatch(kept := _file().read_text()):
            return kept
    return DEFAULT


def _file() -> Path:
    return Path(settings.PIPEWEB_DATA) / FILE_NAME
