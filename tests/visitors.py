"""A person in front of a `Server`, without a browser."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx2

from tests.deployment.visitor import Reader
from tests.server import Server


@contextmanager
def signed_in(server: Server) -> Iterator[httpx2.Client]:
    """By the link that the server printed; every request carries what a page sends."""
    with httpx2.Client(base_url=server.url, timeout=90, follow_redirects=True) as client:
        page = client.get(server.link)
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page.text)
        assert token
        client.post(server.link, data={"csrfmiddlewaretoken": token[1]}, headers={"Referer": server.url})
        client.headers |= {"X-CSRFToken": client.cookies["pipeweb_csrf"], "Referer": server.url}
        yield client


def cookie_of(client: httpx2.Client) -> str:
    return f"pipeweb_session={client.cookies['pipeweb_session']}"


def new_session(client: httpx2.Client) -> str:
    """Public id of a session without settings."""
    return client.post("/new", data={"quick": "1"}).url.path.split("/")[2]


class Piece(NamedTuple):
    """Text of an answer, and when it was read."""

    moment: float
    text: str


class Watcher(Reader):
    """A reader that notes when each piece of an answer came."""

    def __init__(self, server: Server, client: httpx2.Client, session: str) -> None:
        super().__init__(server.url, session, cookie_of(client))
        self.pieces: list[Piece] = []

    async def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "delta" and event["kind"] == "text":
            self.pieces.append(Piece(time.monotonic(), event["text"]))
        await super()._take(event)

    def text_until(self, moment: float) -> str:
        return "".join(piece.text for piece in self.pieces if piece.moment <= moment)
