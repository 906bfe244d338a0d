"""Compression and scripts of other origins, over the in-process transport and the ASGI application."""

import asyncio
import zlib
from collections.abc import MutableMapping
from typing import Any

import httpx2
import orjson
import pytest

from sessions_app.emulator import Emulator
from sessions_app.emulator.asgi import EmulatorApplication
from sessions_app.emulator.delivery import NAME_HEADER, accepts_gzip
from tests.emulator.helpers import FLASH, events, text_of, user

BODY = {"contents": [user("hello")]}
UNARY = f"/v1beta/models/{FLASH}:generateContent"
STREAM = f"/v1beta/models/{FLASH}:streamGenerateContent?alt=sse"
ORIGIN = {"origin": "http://page.test"}


@pytest.mark.parametrize("path", [UNARY, STREAM, "/v1beta/models/none:generateContent"])
async def test_gzip_is_answered_when_asked(http: httpx2.AsyncClient, path: str) -> None:
    plain = await http.post(path, json=BODY, headers={"accept-encoding": "identity"})
    packed = await http.post(path, json=BODY, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
    assert (plain.status_code, len(plain.content)) == (packed.status_code, len(packed.content))


@pytest.mark.parametrize("path", [UNARY, STREAM, "/v1beta/models/none:generateContent"])
async def test_every_response_names_the_emulator(http: httpx2.AsyncClient, path: str) -> None:
    assert (await http.post(path, json=BODY)).headers[NAME_HEADER] == "1"


async def test_every_event_of_a_compressed_stream_can_be_read_when_it_arrives(
    http: httpx2.AsyncClient,
) -> None:
    unpack = zlib.decompressobj(wbits=31)
    asked = http.stream("POST", STREAM, json=BODY, headers={"accept-encoding": "gzip"})
    async with asked as response:
        read = [unpack.decompress(piece) async for piece in response.aiter_raw()]
    assert unpack.eof and all(event.endswith(b"\r\n\r\n") for event in read if event)
    assert "hello" in text_of(list(events(b"".join(read))))


async def test_the_journal_keeps_what_was_compressed(http: httpx2.AsyncClient, emulator: Emulator) -> None:
    await http.post(UNARY, json=BODY, headers={"accept-encoding": "gzip"})
    assert emulator.journal.last.chunks == 1 and b'"candidates"' in emulator.journal.last.answer


async def test_a_response_that_breaks_off_is_not_compressed(http: httpx2.AsyncClient) -> None:
    ask = {"contents": [user("/drop 1")]}
    with pytest.raises(httpx2.TransportError):
        await http.post(STREAM, json=ask, headers={"accept-encoding": "gzip"})


@pytest.mark.parametrize(
    ("accepted", "is_taken"),
    [
        ("gzip", True),
        ("deflate, gzip;q=0.5", True),
        ("GZIP ; q=1.0", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0, *", False),
        ("gzip; q=0.000", False),
        ("br, zstd", False),
    ],
)
def test_accept_encoding_is_read_with_its_weights(accepted: str, is_taken: bool) -> None:
    assert accepts_gzip(accepted) is is_taken


async def test_a_preflight_without_a_key_is_allowed(http: httpx2.AsyncClient) -> None:
    asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-goog-api-key",
        "x-goog-api-key": "",
    }
    response = await http.options(UNARY, headers=ORIGIN | asked)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["access-control-allow-origin"] == "http://page.test"
    assert response.headers["access-control-allow-headers"] == "content-type,x-goog-api-key"
    assert "POST" in response.headers["access-control-allow-methods"].split(",")
    assert "Origin" in response.headers["vary"]


@pytest.mark.parametrize("key", ["emulator", "invalid"])
async def test_a_script_of_any_origin_may_read_answers_and_errors(http: httpx2.AsyncClient, key: str) -> None:
    response = await http.post(UNARY, json=BODY, headers=ORIGIN | {"x-goog-api-key": key})
    assert response.headers["access-control-allow-origin"] == "http://page.test"


async def test_a_script_may_read_where_to_upload(http: httpx2.AsyncClient) -> None:
    start = {"x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start"}
    response = await http.post("/upload/v1beta/files", json={}, headers=ORIGIN | start)
    exposed = response.headers["access-control-expose-headers"].split(",")
    assert {"x-goog-upload-url", "x-goog-upload-status"} <= set(exposed)


async def test_without_an_origin_nothing_is_said_of_origins(http: httpx2.AsyncClient) -> None:
    response = await http.post(UNARY, json=BODY)
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_scripts_of_other_origins_cannot_read_the_journal(http: httpx2.AsyncClient) -> None:
    response = await http.get("/_emulator.json", headers=ORIGIN)
    assert response.status_code == 200 and "access-control-allow-origin" not in response.headers


async def test_the_application_answers_preflights_and_compresses() -> None:
    application, headers = EmulatorApplication(Emulator(delay=0)), [(b"Origin", b"http://page.test")]
    preflight = await visit(
        application, "OPTIONS", [*headers, (b"Access-Control-Request-Method", b"POST")], b""
    )
    assert preflight[0]["status"] == 200
    asked = [*headers, (b"X-Goog-Api-Key", b"emulator"), (b"Accept-Encoding", b"gzip, br")]
    sent = await visit(application, "POST", asked, orjson.dumps(BODY))
    assert dict(sent[0]["headers"])[b"content-encoding"] == b"gzip"
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert "candidates" in orjson.loads(zlib.decompress(body, wbits=31))


async def visit(
    application: EmulatorApplication, method: str, headers: list[tuple[bytes, bytes]], body: bytes
) -> list[MutableMapping[str, Any]]:
    """What the application sends to one request."""
    sent: list[MutableMapping[str, Any]] = []
    incoming: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body}]

    async def receive() -> MutableMapping[str, Any]:
        if incoming:
            return incoming.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": UNARY, "query_string": b"", "headers": headers}
    await application(scope, receive, send)
    return sent
