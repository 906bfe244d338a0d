"""Daphne's sockets: a frame that is refused ends them by a close code, which the client can read."""

# mypy: disallow-untyped-calls=False

from typing import Any

import autobahn.websocket.protocol
import daphne.server
from daphne.ws_protocol import WebSocketFactory

from pipeweb.upgrade_queue import UpgradeQueue


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    """Daphne's limit of a frame is a megabyte; beyond it the connection would be dropped without a word."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What still arrives after the close is discarded, until the client has closed or for a second.
        self.setProtocolOptions(failByDrop=False)
        self.upgrades = UpgradeQueue()


def _uncoloured(value: Any, *_: Any, **__: Any) -> Any:
    return value


def install() -> None:
    """Has every Daphne of this process use it, whichever command starts one."""
    # Autobahn colours the values of its debug lines for every frame, whether or not anything logs them.
    for name in ("hltype", "hlval"):
        setattr(autobahn.websocket.protocol, name, _uncoloured)
    daphne.server.WebSocketFactory = SocketFactory
