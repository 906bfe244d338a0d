"""Tells requests of other programs from those of pages, before Django reads anything of them."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sessions_app.capture.paths import is_relayed

if TYPE_CHECKING:
    from sessions_app.capture.relay import Relay

Application = Callable[[Any, Any, Any], Awaitable[None]]


class CaptureRouter:
    """Calls the relay for paths with an address, else the application. Builds the relay when it is needed."""

    def __init__(self, application: Application, build: "Callable[[], Relay]") -> None:
        self._application = application
        self._build = build
        self._relay: Relay | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not is_relayed(scope.get("raw_path") or b""):
            await self._application(scope, receive, send)
            return
        if self._relay is None:
            self._relay = self._build()
        await self._relay(scope, receive, send)

    async def close(self) -> None:
        if self._relay is not None:
            await self._relay.close()
