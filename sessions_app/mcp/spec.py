"""A server as a connection needs it: the row with its secrets, whoever read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sessions_app.mcp_codes import ServerTransport

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A connection whose spec has changed is replaced. `secrets` are variables, or headers.

    `stderr` is the file for the end of what the process writes there. `network` makes the transport of an
    HTTP server.
    """

    key: str
    name: str
    transport: ServerTransport
    command: tuple[str, ...] = ()
    url: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    start_seconds: float = 20
    list_seconds: float = 20
    call_seconds: float = 60
    idle_seconds: float = 300
    stderr: Path | None = field(default=None, compare=False)
    network: "Callable[[str], httpx2.AsyncBaseTransport] | None" = field(default=None, compare=False)
