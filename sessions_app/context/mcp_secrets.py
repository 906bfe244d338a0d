"""The environment variables and headers of MCP servers: one file for each server in the data folder.

They are in no row, log, export or page; of a value a page shows the last characters at most.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from uuid import UUID

import orjson
from django.conf import settings

from sessions_app.errors import McpServerFailed
from sessions_app.mcp_codes import ServerProblem
from sessions_app.models.mcp_server import McpServer

FOLDER = "mcp_secrets"
"""In the data folder."""

SHOWN = 4
"""Characters of a long value that a page shows; of a shorter one none."""

_LONG = 12

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def secrets_of(server: McpServer) -> Mapping[str, str]:
    """Read each time, so that what was changed counts at once in every process. Raises McpServerFailed."""
    try:
        found = orjson.loads(_path(server.public).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, orjson.JSONDecodeError) as error:
        raise McpServerFailed(ServerProblem.SECRETS_UNREADABLE) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise McpServerFailed(ServerProblem.SECRETS_UNREADABLE)
    return found


def keep_secrets(server: McpServer, secrets: Mapping[str, str]) -> None:
    path = _path(server.public)
    if not secrets:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # Never half a file: temporary files are made with mode 0600.
    with NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
        try:
            file.write(orjson.dumps(dict(secrets)))
            file.flush()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def shown(secrets: Mapping[str, str]) -> list[str]:
    """A line for each: its name, and how its value ends."""
    return [
        f"{name}=…{value[-SHOWN:]}" if len(value) >= _LONG else f"{name}=…" for name, value in secrets.items()
    ]


def _path(public: UUID) -> Path:
    return Path(settings.PIPEWEB_DATA) / FOLDER / f"{public}.json"
