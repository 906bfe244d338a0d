"""An address with the server's key in a real server: what reaches the provider, and what a budget stops."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from sessions_app.capture.server_key import REMEMBERED_SECONDS
from sessions_app.context import allowances
from tests.capture.test_served import ANSWER, GENERATE, address, post, rows
from tests.capture.upstream_server import UpstreamServer
from tests.server import Server

pytestmark = pytest.mark.slow

KEY = "key-of-the-installation-in-tests"


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamServer]:
    with UpstreamServer() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, upstream: UpstreamServer) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server-key")
    with Server(folder, GOOGLE_GEMINI_BASE_URL=upstream.url, GEMINI_API_KEY=KEY) as found:
        yield found


@pytest.fixture(autouse=True)
def fresh(upstream: UpstreamServer) -> None:
    upstream.requests.clear()
    upstream.chunks = list(ANSWER)


def head_of(request: bytes) -> tuple[str, list[str]]:
    """The first line, and the lines with keys."""
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return lines[0], [line for line in lines if line.lower().startswith(("x-goog-api-key", "authorization"))]


def asked(upstream: UpstreamServer, path: str) -> list[bytes]:
    """Pipeweb itself asks for the caches of its key."""
    return [one for one in upstream.requests if path in head_of(one)[0]]


def test_both_halves_of_an_upload_carry_it(server: Server, upstream: UpstreamServer) -> None:
    base = address(server, "--server-key")
    there = f"{upstream.url}/upload/v1beta/files?upload_id=AbC&upload_protocol=resumable"
    plain = upstream.head
    upstream.head = plain.replace(b"\r\n\r\n", b"\r\nX-Goog-Upload-URL: " + there.encode() + b"\r\n\r\n")
    start = {"X_Goog_Upload_Protocol": "resumable", "X_Goog_Upload_Command": "start"}
    _, headers, _ = post(base + "/upload/v1beta/files", b"{}", X_Goog_Api_Key="of-the-program", **start)
    upstream.head = plain
    second = next(value for name, value in headers.items() if name.lower() == "x-goog-upload-url")
    assert second == f"{base}/upload/v1beta/files?upload_id=AbC&upload_protocol=resumable"
    assert post(second, b"A note.", X_Goog_Upload_Command="upload, finalize")[0] == 200
    uploads = asked(upstream, "/upload/")
    assert [head_of(one) for one in uploads] == [
        ("POST /upload/v1beta/files HTTP/1.1", [f"x-goog-api-key: {KEY}"]),
        (
            "POST /upload/v1beta/files?upload_id=AbC&upload_protocol=resumable HTTP/1.1",
            [f"x-goog-api-key: {KEY}"],
        ),
    ]
    assert uploads[1].endswith(b"\r\n\r\nA note.")


def test_a_spent_budget_stops_a_call_and_the_programs_own_key_goes_on(
    server: Server, upstream: UpstreamServer
) -> None:
    base, other = address(server, "--server-key"), address(server)
    assert post(f"{base}{GENERATE}&key=of-the-program", b"{}")[0] == 200
    with closing(sqlite3.connect(server.folder / "pipeweb.sqlite3", timeout=30)) as database, database:
        database.execute(
            "INSERT INTO sessions_app_allowance (owner_id, usd_per_day, warn_percent, counts_emulator) "
            "SELECT owner_id, 0, 80, 0 FROM sessions_app_captureaddress LIMIT 1"
        )
    time.sleep(REMEMBERED_SECONDS + allowances.REMEMBERED_SECONDS + 0.5)
    status, headers, body = post(base + GENERATE, b"{}", X_Goog_Api_Key="of-the-program")
    assert (status, headers["X-Pipeweb"]) == (429, "over_budget") and b"RESOURCE_EXHAUSTED" in body
    assert post(other + GENERATE, b"{}", X_Goog_Api_Key="of-the-program")[0] == 200
    calls = asked(upstream, urlsplit(GENERATE).path)
    assert [head_of(one)[1] for one in calls] == [
        [f"x-goog-api-key: {KEY}"],
        ["x-goog-api-key: of-the-program"],
    ]
    assert "of-the-program" not in head_of(calls[0])[0]
    time.sleep(2)
    found = [row for row in rows(server) if row["path"].startswith(urlsplit(GENERATE).path)]
    assert [(row["uses_server_key"], row["fault"]) for row in found] == [(1, ""), (0, "over_budget"), (0, "")]
    for file in server.folder.glob("pipeweb.sqlite3*"):
        assert KEY.encode() not in file.read_bytes()
    assert KEY not in server.output
