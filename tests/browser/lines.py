"""The socket of a page, which a test can cut."""

import asyncio
import re

from playwright.async_api import Page, WebSocketRoute


class Line:
    """The socket of a page, which the test can hold: what is sent meanwhile does not arrive."""

    def __init__(self) -> None:
        self.is_cut = False
        self.is_deaf = False
        """Then the server hears the page, and the page does not hear the server."""
        self.greeted = asyncio.Event()
        """The server has sent something."""
        self._routes: list[WebSocketRoute] = []

    async def lay(self, page: Page) -> None:
        await page.route_web_socket(re.compile("/ws/"), self._connect)

    async def cut(self) -> None:
        self.is_cut = True
        for route in self._routes:
            await route.close(code=1001)
        self._routes.clear()

    async def _connect(self, route: WebSocketRoute) -> None:
        if self.is_cut:
            await route.close(code=1001)
            return
        server = route.connect_to_server()
        server.on_message(lambda message: self._pass_on(route, message))
        self._routes.append(route)

    def _pass_on(self, route: WebSocketRoute, message: str | bytes) -> None:
        if not self.is_deaf:
            route.send(message)
            self.greeted.set()
