"""Responses that wait for their client: little of them in memory, and no connection to the database."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from sessions_app.database import release_connections
from sessions_app.storage_errors import refusal_of

IN_MEMORY = 512 * 1024
"""Bytes of a response that may wait in memory; a larger one waits in a file without a name."""

PIECE = 64 * 1024
"""Bytes that are taken from a response at once, except where it gives more in one piece."""


def ready_to_wait(response: HttpResponseBase) -> HttpResponseBase:
    """The same response. Called in the thread of the request, when the view has ended.

    A response that is not streamed needs no more from the database, and a client may read it slowly: the
    connection ends here, which otherwise ends with the response.
    """
    if not isinstance(response, HttpResponse):
        return response
    release_connections()
    return response if len(response.content) <= IN_MEMORY else _on_disk(response)


def _on_disk(response: HttpResponse) -> HttpResponseBase:
    """The same response with its content in a file; as it was, where the disk takes nothing."""
    try:
        file = _file_of(response.content)
    except OSError as error:
        if refusal_of(error) is None:
            raise
        return response
    found = StreamingHttpResponse(
        _read(file), status=response.status_code, reason=response.reason_phrase, headers=response.headers
    )
    found.cookies = response.cookies
    # Those of the response close the request.
    found._resource_closers += [*response._resource_closers, file.close]  # type: ignore[attr-defined]
    return found


def _file_of(content: bytes) -> IO[bytes]:
    """A file without a name. Raises OSError."""
    file = TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115
    try:
        file.write(content)
        file.seek(0)
    except OSError:
        with suppress(OSError):  # Its last bytes are written when it closes.
            file.close()
        raise
    return file


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


async def in_steps(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Some pieces are made when those before were sent, in the thread of the request.

    Django itself would take all of them into a list before it sends the first.
    """
    while taken := await sync_to_async(_take)(pieces):
        yield taken


def _take(pieces: Iterator[bytes]) -> bytes:
    """The next pieces, PIECE bytes of them or the rest; nothing at their end."""
    taken = bytearray()
    for piece in pieces:
        taken += piece
        if len(taken) >= PIECE:
            break
    return bytes(taken)
