"""Files with the end of what processes of MCP servers wrote to stderr, which may be what people wrote."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.context.mcp_secrets import secrets_of
from sessions_app.mcp.refusals import masked
from sessions_app.models import McpServer

LOGS = "mcp_logs"
"""In the data folder, a file for each server, person and process."""

KEPT = timedelta(days=7)
"""Since the process wrote last."""

LISTING = 0
"""In place of a person: the process that lists the tools for an administrator and is called by nobody."""

LOG_LIMIT = 8_000
"""Characters of it on a page."""

LOGS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class PersonLog:
    """What is told of a person's log: not its text."""

    username: str
    size: int
    written_at: datetime


def log_path(server: McpServer, person: int) -> Path:
    """Where a process of this server writes, started for the person by this process."""
    return _folder() / f"{server.public}.{person}.{os.getpid()}.log"


def listing_log(server: McpServer) -> str:
    """What the server wrote when its tools were listed the last time, without its secrets."""
    listings = [path for path, person, _ in _newest_first(server) if person == LISTING]
    if not listings:
        return ""
    return masked(_read(listings[0]).decode(errors="replace")[-LOG_LIMIT:], secrets_of(server)).strip()


def person_logs(server: McpServer) -> list[PersonLog]:
    """The newest of those that are not empty."""
    logs = [
        (person, status)
        for _, person, status in _newest_first(server)
        if person != LISTING and status.st_size
    ][:LOGS_SHOWN]
    people = {person for person, _ in logs}
    names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
    return [
        PersonLog(names[person], status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))
        for person, status in logs
        if person in names
    ]


def delete_logs_of_person(user_id: int) -> None:
    _delete(f"*.{user_id}.*.log")


def delete_logs_of_server(server: McpServer) -> None:
    _delete(f"{server.public}.*.log")


def delete_old_logs() -> None:
    """A process that still runs writes on into a file that has no name."""
    limit = (timezone.now() - KEPT).timestamp()
    for path in _folder().glob("*.log"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                path.unlink()


def _newest_first(server: McpServer) -> list[tuple[Path, int, os.stat_result]]:
    return sorted(_logs(server), key=lambda log: log[2].st_mtime, reverse=True)


def _logs(server: McpServer) -> Iterator[tuple[Path, int, os.stat_result]]:
    """The logs of the server with the keys of their people. Other processes may delete them meanwhile."""
    for path in _folder().glob(f"{server.public}.*.log"):
        with suppress(FileNotFoundError):
            yield path, int(path.name.split(".")[1]), path.stat()


def _read(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _delete(pattern: str) -> None:
    for path in _folder().glob(pattern):
        path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.PIPEWEB_DATA) / LOGS
