"""Daphne's access log without tokens: it writes addresses as they came, to a stream and not to a logger."""

# mypy: disallow-untyped-calls=False

from typing import Any

from daphne.access import AccessLogGenerator

from pipeweb.logs import redacted

_write_entry = AccessLogGenerator.write_entry


def write_entry(log: Any, host: Any, date: Any, request: str, **rest: Any) -> None:
    """`request` is a line such as `GET /path?query`."""
    _write_entry(log, host, date, redacted(request), **rest)


def install() -> None:
    """Has every Daphne of this process use it, whichever command starts one."""
    AccessLogGenerator.write_entry = write_entry
