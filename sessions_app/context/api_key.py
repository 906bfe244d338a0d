"""The API key in use: of the environment, of this process's memory, or of the data folder.

A key that was entered on a page is in no row, no log and no export.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings

from sessions_app.errors import KeyNotChanged, SettingsError
from sessions_app.gemini.api_keys import checked_key
from sessions_app.key_codes import KeyOrigin, KeyProblem
from sessions_app.storage_errors import refusal_of

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
        self._last_read = ""

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
        return self._kept()

    def keep(self, key: str, place: KeyOrigin) -> None:
        """Replaces whatever key was entered before. Raises SettingsError where the environment decides, and
        KeyNotChanged.
        """
        if not self.is_settable:
            raise SettingsError("Only the environment sets the key of this installation.")
        checked = checked_key(key)
        with _problem_raised(KeyProblem.NOT_KEPT):
            if place is KeyOrigin.DATA_FOLDER:
                _write(_path(), checked)
            else:
                _path().unlink(missing_ok=True)
        self._last_read = ""
        self._in_process = "" if place is KeyOrigin.DATA_FOLDER else checked

    def remove(self) -> None:
        """Raises KeyNotChanged; then the key in memory stays, too."""
        with _problem_raised(KeyProblem.NOT_REMOVED):
            _path().unlink(missing_ok=True)
        self._in_process = self._last_read = ""

    def _kept(self) -> ApiKey:
        """A file that holds no possible key counts as none; of one that cannot be read people are told.

        What was read before counts on: a passing error sends no message of a chat to the emulator.
        """
        try:
            self._last_read = checked_key(_path().read_text(encoding="ascii"))
        except (FileNotFoundError, UnicodeDecodeError, SettingsError):
            self._last_read = ""
        except OSError:
            if not self._last_read:
                return ApiKey("", KeyOrigin.UNREADABLE)
        return ApiKey(self._last_read, KeyOrigin.DATA_FOLDER if self._last_read else KeyOrigin.NONE)


keys = KeyStore()


def is_one_of_several() -> bool:
    """Whether other processes serve the same installation."""
    return bool(settings.REDIS_URL)


def _path() -> Path:
    return Path(settings.PIPEWEB_DATA) / FILE_NAME


@contextmanager
def _problem_raised(problem: KeyProblem) -> Iterator[None]:
    """In place of an error of the file, unless that is the disk's: it is told on a page of its own."""
    try:
        yield
    except OSError as error:
        if refusal_of(error):
            raise
        raise KeyNotChanged(problem) from error


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
