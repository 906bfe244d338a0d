"""Responses before a client that reads slowly, or not at all."""

import asyncio
import os
from collections.abc import Callable, Iterator
from errno import ENOSPC
from io import DEFAULT_BUFFER_SIZE, BufferedRandom, FileIO
from pathlib import Path
from typing import IO, Any, NoReturn

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from pytest_django import Settings

from pipeweb import responses
from pipeweb.bodies import BodyHandler
from pipeweb.responses import IN_MEMORY, PIECE, ready_to_wait

BODY = bytes(range(256)) * (IN_MEMORY // 128) + b"end"
made: list[int] = []


def large(_: Any) -> HttpResponse:
    answer = HttpResponse(BODY, content_type="text/x-kind", status=203, headers={"X-Word": "kept"})
    answer.set_cookie("crumb", "1")
    return answer


def streamed(_: Any) -> StreamingHttpResponse:
    def pieces() -> Iterator[bytes]:
        for number in range(100):
            made.append(number)
            yield bytes([number]) * (PIECE // 2)

    return StreamingHttpResponse(pieces())


urlpatterns = [path("large", large), path("streamed", streamed)]


async def served(address: str, pieces: int | None = None) -> list[dict[str, Any]]:
    """What the handler sends to a client that takes so many pieces of the body, then no more."""
    sent: list[dict[str, Any]] = []
    is_asked = False

    async def receive() -> dict[str, Any]:
        nonlocal is_asked
        if is_asked:
            await asyncio.get_running_loop().create_future()
        is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == pieces:
            raise asyncio.CancelledError

    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": address, "query_string": b""}
    await BodyHandler()(scope | {"headers": [(b"host", b"localhost")], "server": ("h", 80)}, receive, send)
    return sent


@pytest.fixture(autouse=True)
def own_addresses(settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
    made.clear()


@pytest.mark.django_db(transaction=True)
def test_a_large_response_waits_in_a_file_and_is_the_same() -> None:
    response = ready_to_wait(large(None))
    assert response.streaming
    response.close()
    sent = asyncio.run(served("/large"))
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 203 and headers[b"X-Word"] == b"kept" and headers[b"Set-Cookie"]
    assert headers[b"Content-Type"] == b"text/x-kind" and headers[b"Content-Length"] == b"%d" % len(BODY)
    assert b"".join(message.get("body", b"") for message in sent[1:]) == BODY
    assert max(len(message.get("body", b"")) for message in sent[1:]) <= PIECE


@pytest.mark.django_db(transaction=True)
def test_a_small_response_stays_what_it_is() -> None:
    response = HttpResponse(b"x" * IN_MEMORY)
    assert ready_to_wait(response) is response


class Filling(FileIO):
    """A file on a disk that has no room for the end of it."""

    def write(self, piece: Any) -> Any:
        if len(memoryview(piece)) < DEFAULT_BUFFER_SIZE:
            raise OSError(ENOSPC, "")
        return super().write(piece)


def filling(**_: Any) -> BufferedRandom:
    return BufferedRandom(Filling(os.memfd_create("kept"), "r+b"))


def full(**_: Any) -> IO[bytes]:
    return Path("/dev/full").open("r+b")


def without_room(**_: Any) -> NoReturn:
    raise OSError(ENOSPC, "")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("opened", [full, filling, without_room])
def test_a_large_response_is_served_where_the_disk_is_full(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[..., Any]
) -> None:
    monkeypatch.setattr(responses, "TemporaryFile", opened)
    sent = asyncio.run(served("/large"))
    assert b"".join(message.get("body", b"") for message in sent[1:]) == BODY


@pytest.mark.django_db(transaction=True)
def test_a_streamed_response_is_made_while_it_is_taken() -> None:
    asyncio.run(served("/streamed", pieces=3))
    assert made == [0, 1, 2, 3]
    made.clear()
    whole = b"".join(message.get("body", b"") for message in asyncio.run(served("/streamed")))
    assert whole == b"".join(bytes([number]) * (PIECE // 2) for number in range(100))


@pytest.mark.django_db(transaction=True)
def test_a_response_that_waits_needs_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(responses, "release_connections", lambda: closed.append(True))
    ready_to_wait(HttpResponse(b"x"))
    assert closed == [True]
    ready_to_wait(streamed(None))
    assert closed == [True], "it may read rows while it is sent"


def test_a_response_that_is_a_file_already_is_left_alone() -> None:
    response: HttpResponseBase = FileResponse(iter([b"x"]))
    assert ready_to_wait(response) is response
