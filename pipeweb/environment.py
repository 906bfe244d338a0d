"""Typed reading of environment variables.

Every error is a `SettingsError` that names the variable and what it may hold, never the value of a secret.
"""

import os
import re
import secrets
import ssl
from ast import literal_eval
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from sessions_app.errors import SettingsError

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off"}
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA cache_size=-4000;"
    ),
}
"""Without WAL and IMMEDIATE four writers get "database is locked" (measured: stack D).

The cache is small because every thread has a connection with a cache of its own.
"""

POSTGRES = "django.db.backends.postgresql"
SQLITE = "django.db.backends.sqlite3"
ENGINES = {"sqlite": SQLITE, "postgres": POSTGRES, "postgresql": POSTGRES}


HOST = re.compile(r"\*|\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\]")
"""An entry of ALLOWED_HOSTS: a name as browsers send it, without scheme and port."""

SECRET_LENGTH, SECRET_CHARACTERS = 32, 5
"""Characters, and different ones among them, of a secret that is given."""

INSECURE = "django-insecure-"
"""With it begins the key of a project that `startproject` made, which its repository holds."""

ENOUGH = "50 random characters will do."

MODEL = re.compile(r"((models|tunedModels)/)?[A-Za-z0-9][A-Za-z0-9._-]*")
MODEL_LIMIT = 80
"""Characters of a model's name that the row of an exchange holds."""


class Environment:
    """The variables of one process. An empty variable counts as unset."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = {name: value.strip() for name, value in variables.items() if value.strip()}

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, default)

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "on" if default else "off").lower()
        if value not in YES | NO:
            raise SettingsError(f"{name} is {value!r}; it can be on or off.")
        return value in YES

    def number(self, name: str, default: float) -> float:
        """A finite number that is not negative."""
        value = self.text(name, str(default))
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            raise SettingsError(f"{name} is {value!r}; it must be a number of 0 or more.")
        return float(value)

    def names(self, name: str, default: Collection[str] = ()) -> list[str]:
        """A comma-separated list, blanks dropped."""
        found = [entry.strip() for entry in self.text(name).split(",")]
        return [entry for entry in found if entry] or list(default)

    def hosts(self, name: str, default: Collection[str]) -> list[str]:
        """A comma-separated list of names that a Host header may have."""
        found = self.names(name, default)
        for value in found:
            if not HOST.fullmatch(value):
                raise SettingsError(
                    f"{name} holds {value!r}; a host is a name without scheme and port: chat.example.org."
                )
        return found

    def model(self, name: str, default: str) -> str:
        """The name of a model, known or not, that can stand in a path and in a row."""
        value = self.text(name, default)
        if len(value) > MODEL_LIMIT or not MODEL.fullmatch(value):
            raise SettingsError(f"{name} is no name of a model; one looks like {default}.")
        return value

    def choice(self, name: str, allowed: Collection[str], default: str) -> str:
        value = self.text(name, default)
        if value not in allowed:
            raise SettingsError(f"{name} is {value!r}; it can be {', '.join(allowed)}.")
        return value

    def url(self, name: str, schemes: Collection[str], *, longest: int | None = None) -> str:
        """An absolute URL of one of the schemes with at most `longest` characters, or nothing."""
        value = self.text(name)
        if value and not is_url(value, schemes):
            raise SettingsError(f"{name} must be a URL that starts with {' or '.join(schemes)}://.")
        if longest is not None and len(value) > longest:
            raise SettingsError(f"{name} has {len(value)} characters; it can have {longest}.")
        return value

    def base_url(self, name: str, *, longest: int) -> str:
        """The URL before the paths of an API, or nothing. No error repeats it: a query may hold a key."""
        value = self.url(name, ("http", "https"), longest=longest)
        if "?" in value or "#" in value:
            raise SettingsError(f"{name} has a query or a fragment; paths are added to its end.")
        return value

    def redis(self, name: str) -> str:
        """The URL of a Redis, with the number of a database or none. It may hold a password."""
        value = self.url(name, ("redis", "rediss"))
        if not re.fullmatch(r"(/\d*)?", urlsplit(value).path):
            raise SettingsError(f"{name} must end with the number of a database: redis://host:port/number.")
        return value

    def in_either_case(self, name: str) -> str:
        """A text whose variable other programs read in small letters too."""
        return self.text(name) or self.text(name.lower())

    def proxy(self, name: str) -> str:
        """The URL of a proxy, or nothing. The name in small letters and `host:port` count, as for curl.

        The value may hold a password, so no error repeats it.
        """
        value = self.in_either_case(name)
        if value and "://" not in value:
            value = f"http://{value}"
        if value and not is_url(value, ("http", "https")):
            raise SettingsError(f"{name} must be the URL of an HTTP proxy: http://host:port.")
        return value

    def origins(self, name: str) -> list[str]:
        """A comma-separated list of `https://host` or `https://host:port`."""
        found = [value.rstrip("/") for value in self.names(name)]
        for value in found:
            if not is_url(value, ("http", "https")) or value.count("/") > 2:
                raise SettingsError(f"{name} holds {value!r}; an origin looks like https://chat.example.org.")
        return found

    def folder(self, name: str, default: Path) -> Path:
        """A folder that exists and takes files; made when missing."""
        path = Path(self.text(name, str(default))).expanduser().absolute()
        try:
            path.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"{name}: the folder {path} cannot be made ({error.strerror}).") from error
        if not os.access(path, os.W_OK | os.X_OK):
            raise SettingsError(f"{name}: the folder {path} cannot be written to.")
        return path

    def existing_folder(self, name: str) -> Path | None:
        """A folder to read from; None when the variable is not set."""
        value = self.text(name)
        if not value:
            return None
        path = Path(value).expanduser().absolute()
        if not path.is_dir():
            raise SettingsError(f"{name}: there is no folder {path}.")
        return path

    def existing_file(self, name: str) -> Path | None:
        """A file to read; None when the variable is not set."""
        value = self.text(name)
        if not value:
            return None
        path = Path(value).expanduser().absolute()
        if not path.is_file():
            raise SettingsError(f"{name}: there is no file {path}.")
        return path

    def certificates(self, name: str) -> Path | None:
        """A file of certificates in PEM form; None when the variable is not set."""
        path = self.existing_file(name)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path) if path else None
        except OSError as error:
            raise SettingsError(
                f"{name}: {path} has no certificates in PEM form that can be read."
            ) from error
        return path

    def database(self, name: str, default: Path) -> dict[str, Any]:
        """One entry of DATABASES. A request has a thread of its own, so its connection ends with it.

        Those of background tasks stay open, and are asked before each piece of work whether the server still
        has them (`sessions_app.database`).
        """
        value = self.text(name, f"sqlite:///{default}")
        config = {"CONN_HEALTH_CHECKS": True} | parse_database(name, value)
        config["CONN_MAX_AGE"] = 0
        if config["ENGINE"] == SQLITE:
            config["OPTIONS"] = SQLITE_OPTIONS | config["OPTIONS"]
        return config

    def refuse_unknown(self, prefix: str, known: Collection[str]) -> None:
        """Raises SettingsError for a misspelt variable, which would otherwise be ignored."""
        for name in sorted(self.variables):
            if name.startswith(prefix) and name not in known:
                raise SettingsError(f"{name} is not a setting.", hint=f"Known: {', '.join(sorted(known))}.")


def is_url(value: str, schemes: Collection[str]) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def parse_database(name: str, value: str) -> dict[str, Any]:
    """The parts of a database URL as an entry of DATABASES.

    In its query, names in capitals are settings of Django (CONN_HEALTH_CHECKS), the others OPTIONS.
    Raises SettingsError. The value may hold a password, so no error repeats it.
    """
    try:
        parts = urlsplit(value.replace("#", "%23"))  # a password may hold one, a database has no fragment
        host, port = _address(parts)
    except ValueError as error:
        raise SettingsError(f"{name} is not a database URL that can be read.") from error
    if parts.scheme not in ENGINES:
        raise SettingsError(f"{name} must start with sqlite:/// or postgres://.")
    database = unquote(parts.path.removeprefix("/"))
    if not database or database == ":memory:":
        raise SettingsError(f"{name} must name a database, for example sqlite:////srv/pipeweb.sqlite3.")
    query = {key: _literal(text) for key, text in parse_qsl(parts.query)}
    return {
        "ENGINE": ENGINES[parts.scheme],
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port,
        "OPTIONS": {key: text for key, text in query.items() if not key.isupper()},
        **{key: text for key, text in query.items() if key.isupper()},
    }


def _address(parts: SplitResult) -> tuple[str, str | int]:
    """Host and port; several of each, comma-separated, for servers that stand in for one another."""
    address = parts.netloc.rpartition("@")[2]
    if "," not in address:
        return unquote(parts.hostname or ""), parts.port or ""
    pairs = [entry.partition(":") for entry in address.split(",")]
    return ",".join(host for host, _, _ in pairs), ",".join(port for _, _, port in pairs)


def _literal(text: str) -> Any:
    """A number or a constant of Python as such, anything else as text."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_secret(name: str, value: str) -> None:
    """Raises SettingsError for a secret that can be guessed: what is signed with it would be anybody's."""
    if len(value) < SECRET_LENGTH or len(set(value)) < SECRET_CHARACTERS or value.startswith(INSECURE):
        needed = f"{SECRET_LENGTH} characters, {SECRET_CHARACTERS} of them different"
        raise SettingsError(f"{name} can be guessed: it needs {needed}.", hint=ENOUGH)


def kept_secret(folder: Path) -> str:
    """The secret of a local installation: created once, readable by its owner only."""
    path = folder / "secret_key"
    try:
        if not path.exists():
            make_secret(path)
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        found = f"{path} cannot be read or made ({type(error).__name__})."
        raise SettingsError(found, hint="Make it a file that this user can read.") from error
    if not secret:
        raise SettingsError(f"{path} is empty.", hint="Delete it; the next start makes another.")
    return secret


def make_secret(path: Path) -> None:
    with NamedTemporaryFile("w", dir=path.parent, encoding="ascii") as file:
        file.write(secrets.token_urlsafe(48))
        file.flush()
        # Linking is atomic: of two first starts, both read the secret of the first.
        with suppress(FileExistsError):
            os.link(file.name, path)
