"""Applications wait for their clients, on connections that Twisted would only fill."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.testing import StringTransport

from pipeweb import daphne_bodies, daphne_room
from pipeweb.daphne_bodies import Channel, StreamedRequest

PIECE = {"type": "http.response.body", "body": b"x", "more_body": True}
PAGE = b"/s/"
RELAYED = b"/capture/" + b"a" * 22 + b"/v1beta/models"


class Server:
    """Stands for Daphne: takes what is sent."""

    def protocol_connected(self, request: Any) -> None:
        pass

    async def handle_reply(self, request: Any, message: Any) -> None:
        pass


def request_at(path: bytes) -> Any:
    """A request whose connection is full."""
    channel: Any = Channel()
    channel.factory = SimpleNamespace(server=Server())
    channel.makeConnection(StringTransport())  # type: ignore[no-untyped-call]
    channel.setTimeout(None)
    request = StreamedRequest(channel)
    request.path = path
    channel.pauseProducing()
    return request


async def sending(request: Any, then: Callable[[], None] = lambda: None) -> bool:
    """Whether a piece has been sent some rounds of the loop after `then`."""
    task = asyncio.ensure_future(daphne_bodies._send(Server(), request, PIECE))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()
    then()
    for _ in range(5):
        await asyncio.sleep(0)
    is_done = task.done()
    task.cancel()
    return is_done


def test_an_application_waits_until_its_client_has_taken_what_was_sent() -> None:
    async def check() -> None:
        request = request_at(PAGE)
        assert not await sending(request)
        assert await sending(request, request.channel.resumeProducing)
        await asyncio.wait_for(daphne_bodies._send(Server(), request, PIECE), 10)

    asyncio.run(check())


def test_an_application_does_not_wait_for_a_client_that_has_gone() -> None:
    async def check() -> None:
        request = request_at(PAGE)
        assert await sending(request, lambda: request.channel.connectionLost(None))

    asyncio.run(check())


@pytest.mark.parametrize(("path", "is_ended"), [(PAGE, True), (RELAYED, False)])
def test_a_client_that_takes_nothing_loses_its_connection_unless_it_is_relayed(
    monkeypatch: pytest.MonkeyPatch, path: bytes, is_ended: bool
) -> None:
    monkeypatch.setattr(daphne_bodies, "PATIENCE", 0.0)

    async def check() -> None:
        request = request_at(path)
        task = asyncio.ensure_future(daphne_bodies._send(Server(), request, PIECE))
        await asyncio.wait({task}, timeout=0.05)
        assert request.channel.transport.disconnecting == task.done() == is_ended
        task.cancel()

    asyncio.run(check())


def test_patience_is_that_of_nginx() -> None:
    """Its `send_timeout` by default: who is behind it meets no other limit."""
    assert daphne_room.PATIENCE == 60


@pytest.mark.parametrize(
    ("status", "reason"), [(200, b"OK"), (429, b"Too Many Requests"), (599, b"Unknown Status")]
)
def test_a_status_comes_with_its_words(status: int, reason: bytes) -> None:
    """Clients show them: “[429 Too Many Requests]”."""
    request = request_at(RELAYED)
    request.setResponseCode(status)
    assert request.code_message == reason
