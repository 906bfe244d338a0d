"""The relay in a real server: bytes on both sockets, a program that leaves, a database that is locked."""

import html
import json
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from google import genai
from google.genai import types

from sessions_app.wording.capture import fault
from tests.capture.recordings import SHARED, needs_captures, recorded
from tests.capture.upstream_server import UpstreamServer
from tests.server import Server, manage

pytestmark = pytest.mark.slow

GENERATE = "/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse"
ANSWER = [b'data: {"candidates": []}\r\n', b"\r\n", "data: é\n\n".encode()]


@pytest.fixture(scope="module")
def upstream() -> Iterator[UpstreamServer]:
    with UpstreamServer() as found:
        yield found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, upstream: UpstreamServer) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("capture")
    with Server(folder, GOOGLE_GEMINI_BASE_URL=upstream.url) as found:
        yield found


@pytest.fixture(autouse=True)
def fresh(upstream: UpstreamServer) -> None:
    upstream.requests.clear()
    upstream.chunks, upstream.has_end, upstream.breaks = list(ANSWER), True, False


def address(server: Server, *options: str) -> str:
    port = str(urlsplit(server.url).port)
    said = manage(server.folder, "capture", "--name", "Test", "--port", port, *options)
    return said.stdout.strip()


@pytest.fixture(scope="module")
def base(server: Server) -> str:
    return address(server)


def post(url: str, body: bytes, **headers: str) -> tuple[int, dict[str, str], bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **named})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def rows(server: Server) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(server.folder / "pipeweb.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        found = database.execute("SELECT * FROM sessions_app_capturedrequest ORDER BY id").fetchall()
        return [dict(row) for row in found]


def wait_for_end(server: Server, path: str) -> dict[str, Any]:
    """The last row with this path, once the end of its request is in it."""
    for _ in range(600):
        found = [row for row in rows(server) if row["path"] == path]
        if found and found[-1]["ended_at"]:
            return found[-1]
        time.sleep(0.05)
    raise AssertionError(f"no end of {path} was recorded")


def wait_until_written(server: Server, path: str, count: int) -> None:
    """Until so many requests under this path have ended; those before them have too."""
    for _ in range(600):
        if sum(row["path"].startswith(path) and bool(row["ended_at"]) for row in rows(server)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"not {count} of {path} were recorded")


def test_bytes_are_equal_on_both_sockets(server: Server, base: str, upstream: UpstreamServer) -> None:
    body = b'{ "contents" : [ {"parts": [ {"text": "\\u00e9 \xc3\xa9"} ] } ] }\n'
    status, headers, answer = post(base + GENERATE, body, X_Goog_Api_Key="AIza-secret")
    head, _, sent = upstream.requests[0].partition(b"\r\n\r\n")
    assert (status, answer, sent) == (200, b"".join(ANSWER), body)
    assert headers["Content-Type"] == "text/event-stream"
    assert head.split(b"\r\n")[0] == f"POST {GENERATE} HTTP/1.1".encode()
    assert b"AIza-secret" in head and b"capture" not in head
    row = wait_for_end(server, GENERATE)
    assert row["status"] == 200 and row["response_size"] == len(b"".join(ANSWER))
    for file in server.folder.glob("pipeweb.sqlite3*"):
        assert (
            b"AIza-secret" not in file.read_bytes()
            and base.rsplit("/", 1)[1].encode() not in file.read_bytes()
        )
    assert base.rsplit("/", 1)[1] not in server.output


@needs_captures
@pytest.mark.parametrize("folder", sorted(path.name for path in SHARED.glob("*/")))
def test_bodies_of_recorded_clients_pass_unchanged(folder: str, base: str, upstream: UpstreamServer) -> None:
    exchanges = [one for one in recorded(folder) if one.path.startswith("/capture/TOKEN/v1") and one.body]
    for one in exchanges:
        post(base + one.path.removeprefix("/capture/TOKEN"), one.body)
    assert [sent.partition(b"\r\n\r\n")[2] for sent in upstream.requests] == [one.body for one in exchanges]


def test_a_program_that_leaves_is_noticed_by_the_provider(
    server: Server, base: str, upstream: UpstreamServer
) -> None:
    upstream.has_end = False
    place = urlsplit(base)
    with closing(HTTPConnection(place.netloc, timeout=60)) as connection:
        connection.request("POST", f"{place.path}{GENERATE}&left=1", b"{}")
        assert connection.getresponse().read(6) == b"data: "
    assert upstream.is_left.wait(30)
    assert wait_for_end(server, f"{GENERATE}&left=1")["fault"] == "client_left"


def test_a_program_that_reads_slowly_has_all_that_came_before_a_break(
    base: str, upstream: UpstreamServer
) -> None:
    upstream.chunks, upstream.breaks = [b"data: " + b"x" * 60_000] * 20, True
    place = urlsplit(base)
    with closing(HTTPConnection(place.netloc, timeout=60)) as connection:
        connection.connect()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.request("POST", f"{place.path}{GENERATE}", b"{}")
        answer = connection.getresponse()
        time.sleep(1)
        with pytest.raises(IncompleteRead) as broken:
            answer.read()
    assert broken.value.partial == b"".join(upstream.chunks)


LOCKING = """
import sqlite3, sys, time
locking = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
locking.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
locking.execute("ROLLBACK")
"""
LOCKED_SECONDS = 30


def test_a_database_that_is_locked_for_long_stops_no_call_and_loses_no_record(
    server: Server, base: str, upstream: UpstreamServer
) -> None:
    post(base + GENERATE, b"{}")
    command = [sys.executable, "-c", LOCKING, str(server.folder / "pipeweb.sqlite3"), str(LOCKED_SECONDS)]
    asked = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as locking:
        assert locking.stdout and locking.stdout.readline() == "locked\n"
        while locking.poll() is None:
            status, _, answer = post(f"{base}{GENERATE}&locked={asked}", b"{}")
            assert (status, answer) == (200, b"".join(ANSWER))
            asked += 1
            if locking.poll() is None:
                assert not [row for row in rows(server) if "locked" in row["path"]], (
                    "nothing could be written"
                )
            time.sleep(0.5)
    assert asked > 10
    wait_until_written(server, f"{GENERATE}&locked=", asked)
    found = [row for row in rows(server) if "locked" in row["path"]]
    assert len(found) == asked and all(row["status"] == 200 and row["request_size"] == 2 for row in found)


def ask_live(base: str) -> tuple[int, str]:
    place = urlsplit(base)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with closing(HTTPConnection(place.netloc, timeout=60)) as connection:
        named = {**upgrade, "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        connection.request("GET", f"{place.path}/ws/x?key=k", headers=named)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["error"]["message"]


def test_the_live_api_is_refused_with_a_sentence(base: str) -> None:
    status, sentence = ask_live(base)
    assert status == 501 and "Live API" in sentence


def test_what_was_refused_is_listed_with_the_reason(server: Server, upstream: UpstreamServer) -> None:
    base = address(server)
    ask_live(base)
    post(base + "/nothing", b"{}")
    post(base + GENERATE, b"{}", Origin="http://evil.example")
    post(base + GENERATE, b"{}", Cookie="a=b")
    post(base + GENERATE, b"x" * (33 * 1024 * 1024))
    ended = address(server)
    with closing(sqlite3.connect(server.folder / "pipeweb.sqlite3", timeout=30)) as database, database:
        newest = "(SELECT max(id) FROM sessions_app_captureaddress)"
        database.execute(
            f"UPDATE sessions_app_captureaddress SET revoked_at = created_at WHERE id = {newest}"
        )
    post(ended + GENERATE, b"{}")
    wait_for_faults(
        server, ["live", "wrong_path", "from_browser", "from_browser", "request_too_large", "revoked"]
    )
    assert not upstream.requests
    link = server.new_link()
    with httpx2.Client(timeout=60, trust_env=False, follow_redirects=True) as client:
        client.get(link)
        client.post(link, data={"csrfmiddlewaretoken": client.cookies["pipeweb_csrf"]})
        shown = html.unescape(client.get(server.url + "/capture/").text)
    for code in ("live", "wrong_path", "from_browser", "request_too_large", "revoked"):
        assert fault(code) in shown


def wait_for_faults(server: Server, wanted: list[str]) -> None:
    found: list[str] = []
    for _ in range(600):
        found = [row["fault"] for row in rows(server) if row["ended_at"]][-len(wanted) :]
        if found == wanted:
            return
        time.sleep(0.05)
    raise AssertionError(found)


def test_a_page_of_the_browser_is_no_address(server: Server) -> None:
    assert server.get("/capture/") == 200
    assert post(server.url + "/capture/" + "A" * 22 + GENERATE, b"{}")[0] == 401


def weather(city: str) -> dict[str, str]:
    """The weather of a city."""
    return {"city": city, "sky": "clear"}


def test_googles_client_talks_calls_tools_and_uploads_through_it(server: Server, tmp_path: Path) -> None:
    options = types.HttpOptions(base_url=address(server, "--emulator"), api_version="v1beta")
    with closing(genai.Client(api_key="emulator", http_options=options)) as client:
        config = types.GenerateContentConfig(tools=[weather], system_instruction="Be brief.")
        chat = client.chats.create(model="gemini-3-flash-preview", config=config)
        for question in (
            "Hello there, I have a question.",
            "What is the weather in Oslo?",
            "Thank you very much!",
        ):
            assert chat.send_message(question).candidates
        (tmp_path / "note.txt").write_text("A note.")
        assert client.files.upload(file=tmp_path / "note.txt").size_bytes == 7
    wait_until_written(server, "/upload/", 2)
    found = [row for row in rows(server) if row["client"].startswith("google-genai-sdk") and row["session"]]
    assert len(found) >= 3 and len({row["session"] for row in found}) == 1
    assert [row["relation"] for row in found] == ["opens"] + ["continues"] * (len(found) - 1)
    uploads = [row for row in rows(server) if row["path"].startswith("/upload/")]
    assert len(uploads) == 2 and all(row["status"] == 200 for row in uploads), (
        "both halves came through the relay"
    )
