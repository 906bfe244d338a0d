"""The API key in use: of the environment, of this process's memory, or of the data folder.

A key that was entered on a page is in no row, no log and no export.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings

from sessions_app.errors import SettingsError
from sessions_app.gemini.api_keys import checked_key
from sessions_app.key_codes import KeyOrigin

FILE_NAME = "gemini_key"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`text` is empty where there is no key."""

    text: str = field(repr=False)
    origin: KeyOrigin


class KeyStore:
    """One per process. The environment wins; with several processes nothing else counts."""

    def __init__(self) -> None:
        self._in_process = ""

    @property
    def is_settable(self) -> bool:
        return not settings.GEMINI_API_KEY and not is_one_of_several()

    def current(self) -> ApiKey:
        """The file is read each time, so that one that was removed counts no longer."""
        if settings.GEMINI_API_KEY:
            return ApiKey(settings.GEMINI_API_KEY, KeyOrigin.ENVIRONMENT)
        if is_one_of_several():
            return ApiKey("", KeyOrigin.NONE)
        if self._in_process:
            return ApiKey(self._in_process, KeyOrigin.PROCESS)
        kept = _read(_path())
        return ApiKey(kept, KeyOrigin.DATA_FOLDER if kept else KeyOrigin.NONE)

    def keep(self, key: str, place: KeyOrigin) -> None:
        """Replaces whatever key was entered before. Raises SettingsError where the environment decides."""
        if not self.is_settable:
            raise SettingsError("Only the environment sets the key of this installation.")
        checked = checked_key(key)
        if place is KeyOrigin.DATA_FOLDER:
            _write(_path(), checked)
            self._in_process = ""
        else:
            self.remove()
            self._in_process = checked

    def remove(self) -> None:
        self._in_process = ""
        _path().unlink(missing_ok=True)


keys = KeyStore()


def is_one_of_several() -> bool:
    """Whether other processes serve the same installation."""
    return bool(settings.REDIS_URL)


def _path() -> Path:
    return Path(settings.PIPEWEB_DATA) / FILE_NAME


def _read(path: Path) -> str:
    """A file that holds no possible key counts as none."""
    with suppress(FileNotFoundError, UnicodeDecodeError, SettingsError):
        return checked_key(path.read_text(encoding="ascii"))
    return ""


def _write(path: Path, key: str) -> None:
    """Never half a file, and never one that others can read: temporary files are made with mode 0600."""
    with NamedTemporaryFile("w", dir=path.parent, encoding="ascii", delete=False) as file:
        try:
            file.write(key)
            file.flush()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
