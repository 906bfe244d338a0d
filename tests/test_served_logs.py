"""What a Pipeweb under Daphne writes while secrets come in addresses, with all logs switched on."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deployment.programs import free_port
from tests.server import START_LIMIT, environment, manage

pytestmark = pytest.mark.slow

GENERATE = "/v1beta/models/gemini-3-flash-preview:generateContent"
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Daphne:
    """`output` is what it wrote to both streams, in a file."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.output = folder / "output"
        command = [
            sys.executable,
            "-m",
            "daphne",
            "-p",
            str(self.port),
            "-v",
            "2",
            "pipeweb.asgi:application",
        ]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(folder, LOG_LEVEL="DEBUG", DEBUG="on", PYTHONUNBUFFERED="1"),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end and self.process.poll() is None:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(self.output.read_text())

    def ask(self, method: str, path: str, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, b"{}" if method == "POST" else None, named)
            answer = connection.getresponse()
            answer.read()
            return answer.status


@pytest.fixture(scope="module")
def daphne(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daphne]:
    folder = tmp_path_factory.mktemp("logs")
    assert manage(folder, "migrate", "--verbosity", "0").returncode == 0
    found = Daphne(folder)
    try:
        found.wait()
        yield found
    finally:
        found.process.terminate()
        found.process.wait(20)


def test_no_secret_of_an_address_stands_in_any_line(daphne: Daphne) -> None:
    folder = daphne.output.parent
    address = manage(
        folder, "capture", "--name", "Logs", "--emulator", "--port", str(daphne.port)
    ).stdout.strip()
    token = address.rsplit("/", 1)[1]
    own, secret = f"/capture/{token}", "s3cret-of-somebody-new"
    asked = [
        daphne.ask("POST", f"{own}{GENERATE}?key={secret}", X_Goog_Api_Key=secret),
        daphne.ask("POST", f"{own}/upload/v1beta/files?upload_id={secret}"),
        daphne.ask(
            "POST", f"{own}{GENERATE}?%6bey={secret}&access_token={secret}", Authorization=f"Bearer {secret}"
        ),
        daphne.ask("GET", f"{own}/nothing?key={secret}"),
        daphne.ask("GET", f"{own}/ws/x?key={secret}", **SOCKET),
        daphne.ask("POST", f"/capture/{secret}/v1beta/models?key={secret}"),
        daphne.ask("GET", f"/%63apture/{secret}/v1beta/models"),
        daphne.ask("GET", f"/shared/{secret}/"),
        daphne.ask("GET", f"/sign-in/{secret}"),
        daphne.ask("GET", f"/nowhere/?key={secret}&access_token={secret}&upload_id={secret}"),
        daphne.ask("GET", f"/ws/nowhere/?key={secret}", **SOCKET),
    ]
    assert asked[4:8] == [501, 401, 404, 404]
    time.sleep(1)
    written = daphne.output.read_text()
    for line in ('"POST /capture/…/v1beta', '"GET /shared/…', '"GET /nowhere/'):
        assert line in written, "the access log is on"
    assert [line for line in written.splitlines() if secret in line or token in line] == []
