"""Bodies in front of a real server: what is refused is not read, and a connection goes on or ends cleanly."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import httpx2
import pytest

from sessions_app.body_limits import FORM_LIMIT, body_limit
from tests.server import Server
from tests.visitors import new_session, signed_in

pytestmark = pytest.mark.slow

PNG = b"\x89PNG\r\n\x1a\n"
ATTACH = "/s/6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5/attachments/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(scope="module")
def person(server: Server) -> Iterator[httpx2.Client]:
    with signed_in(server) as client:
        yield client


@pytest.fixture(scope="module")
def attach(person: httpx2.Client) -> str:
    """The address that takes files of a session."""
    return f"/s/{new_session(person)}/attachments/"


@contextmanager
def sent(server: Server, *lines: str, body: bytes = b"") -> Iterator[socket.socket]:
    """A connection over which the head of a request, and perhaps some body, was sent."""
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    head = "\r\n".join((*lines, f"Host: {host}:{port}", "", "")).encode()
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head + body)
        yield connection


def read_all(connection: socket.socket) -> bytes:
    """Everything until the server closes its side."""
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    return received


def test_a_declared_length_is_refused_before_any_byte_of_the_body(server: Server) -> None:
    with sent(server, "POST /new HTTP/1.1", f"Content-Length: {FORM_LIMIT + 1}") as connection:
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"connection: close" in answer.lower()
    assert answer.endswith(b"This is too large: at most 2.5 MB are taken here.")


def test_the_answer_is_read_by_a_client_that_goes_on_sending(server: Server) -> None:
    with sent(server, "POST /new HTTP/1.1", "Content-Length: 126000000") as connection:
        for _ in range(100):
            connection.sendall(b"x" * 65_536)
        assert read_all(connection).startswith(b"HTTP/1.1 413 ")


def test_chunks_are_counted(server: Server) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with sent(server, "POST /new HTTP/1.1", "Transfer-Encoding: chunked") as connection:
        for _ in range(FORM_LIMIT // 0x10000 + 1):
            connection.sendall(chunk)
        assert read_all(connection).startswith(b"HTTP/1.1 413 ")


def test_a_stranger_is_not_asked_for_the_file(server: Server) -> None:
    lines = (f"POST {ATTACH} HTTP/1.1", "Content-Length: 1000", "Expect: 100-continue")
    with sent(server, *lines) as connection:
        answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 403 ") and b"100 Continue" not in answer


def test_a_body_is_asked_for_when_it_is_wanted(server: Server) -> None:
    lines = ("POST /sign-in HTTP/1.1", "Content-Length: 3", "Expect: 100-continue", "Connection: close")
    with sent(server, *lines) as connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(b"a=b")
        assert read_all(connection).startswith(b"HTTP/1.1 403 ")


def test_a_page_has_no_body_when_it_becomes_a_socket(server: Server) -> None:
    lines = ("GET /ws/s/x/ HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Content-Length: 5")
    with sent(server, *lines, body=b"hello") as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("size", [0, 1, 5_000, 700_000])
def test_a_connection_serves_the_next_request_after_a_body(server: Server, size: int) -> None:
    """The form lacks its token, so that Django refuses it after having read it."""
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    for _ in range(3):
        connection.request("POST", "/sign-in", body=b"x" * size)
        response: HTTPResponse = connection.getresponse()
        assert response.status == 403 and response.read()
    connection.close()


def test_requests_in_one_packet_are_answered_in_order(server: Server) -> None:
    one = "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\na=b"
    last = "GET /healthz HTTP/1.1\r\nConnection: close"
    with sent(server, one + one + last) as connection:
        answer = read_all(connection)
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"403", b"403", b"200"]


def test_a_file_arrives_as_it_was(person: httpx2.Client, attach: str) -> None:
    body = PNG + bytes(range(256)) * 30_000
    chip = person.post(attach, files={"file": ("large.png", body)})
    assert chip.status_code == 200
    address = re.search(r'<img src="([^"]+)"', chip.text)
    assert address and person.get(address[1]).content == body


def test_a_file_without_a_length_arrives_too(person: httpx2.Client, attach: str) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + PNG
        yield from (b"x" * 50_000 for _ in range(20))
        yield b"\r\n--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    chip = person.post(attach, content=pieces(), headers=headers)
    assert chip.status_code == 200 and "976.6" in chip.text


def test_a_file_that_is_too_large_is_refused(person: httpx2.Client, attach: str) -> None:
    answer = person.post(attach, content=b"x" * (body_limit("attach") + 1))
    assert answer.status_code == 413 and "50.1 MB" in answer.text


def test_an_upload_that_breaks_off_leaves_no_file(person: httpx2.Client, attach: str, server: Server) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    lines = (f"POST {attach} HTTP/1.1", "Content-Length: 40000000", f"Cookie: {cookie}")
    with sent(server, *lines) as connection:
        connection.sendall(b"x" * 20_000_000)
    time.sleep(0.2)
    assert list((server.folder / "uploads").iterdir()) == []
    assert open_uploads(server) == []


def open_uploads(server: Server) -> list[str]:
    """The nameless files that the process still holds."""
    links = Path(f"/proc/{server.process.pid}/fd").iterdir()
    return [name for link in links if "/uploads/" in (name := str(link.readlink()))]
