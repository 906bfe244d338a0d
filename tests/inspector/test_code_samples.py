"""What is copied is run: curl, Python, the SDK and Node send the request again and are answered."""

import ast
import asyncio
import base64
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.hosts import EMULATOR
from sessions_app.inspector.code_samples import MAX_ARGUMENT, CodeSample, code_samples_of
from sessions_app.inspector.originals import body_to_send
from sessions_app.models import Dialect, Exchange, Session
from tests.factories import answered, make_exchange, make_run, play_flight
from tests.inspector.reading import read

ROOT = Path(__file__).resolve().parents[2]
ODD = 'it\'s "quoted" $HOME `id` \\n \'\'\' """ {x} %s ${y} é 👩‍👧 \u2028 end'


def program(exchange: Exchange, name: str) -> str:
    found = next(one for one in code_samples_of(exchange) if one.id == name)
    return found.write(exchange, exchange.sent_body())


def words_of(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", ""))


@pytest.fixture(scope="module")
def emulator() -> Iterator[str]:
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().split()[3].rstrip(";")
        process.terminate()


@pytest.fixture
def odd(session: Session) -> Exchange:
    """A second request, whose message would break out of any careless quoting."""
    answered(session, "Hello", "Hi")
    return make_exchange(make_run(session, ODD), route="route-b")


def run(found: CodeSample, exchange: Exchange, base: str, folder: Path, body: bytes = b"") -> str:
    """What the program prints. A failure, an HTTP status above 299 too, fails the test."""
    done = started(found, exchange, base, folder, body or exchange.sent_body())
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode()


def started(
    found: CodeSample, exchange: Exchange, base: str, folder: Path, body: bytes
) -> subprocess.CompletedProcess[bytes]:
    file = folder / f"program.{found.file}"
    file.write_text(found.write(exchange, body), encoding="utf-8")
    starts = {"sh": ["sh"], "py": [sys.executable, "-W", "ignore"], "mjs": ["node"]}
    command = [*starts[found.file.rpartition(".")[2]], str(file)]
    if not shutil.which(command[0]) or (found.id == "curl" and not shutil.which("curl")):
        pytest.skip(f"NOTICE: no {found.title}")
    own = {"GEMINI_API_KEY": "emulator", "NO_PROXY": "*", "no_proxy": "*"}
    own |= {"GOOGLE_GEMINI_BASE_URL": base} if base else {}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **own}
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "sdk", "javascript"])
def test_the_program_is_answered(odd: Exchange, emulator: str, tmp_path: Path, name: str) -> None:
    found = next(one for one in code_samples_of(odd) if one.id == name)
    told = run(found, odd, emulator, tmp_path)
    assert "I am an emulator" in told if name == "sdk" else told.startswith('data: {"candidates"')


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "javascript"])
def test_a_chat_completion_is_answered(odd: Exchange, emulator: str, tmp_path: Path, name: str) -> None:
    odd.dialect = Dialect.OPENAI
    found = next(one for one in code_samples_of(odd) if one.id == name)
    assert "[DONE]" in run(found, odd, emulator, tmp_path)


@pytest.mark.slow
def test_a_long_body_is_in_the_command_too(session: Session, emulator: str, tmp_path: Path) -> None:
    exchange = make_exchange(make_run(session, "long it's " * MAX_ARGUMENT))
    assert "--data-binary @-" in program(exchange, "curl")
    assert '"candidates"' in run(code_samples_of(exchange)[0], exchange, emulator, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, MAX_ARGUMENT // 4])
def test_the_command_needs_no_other_file_and_sends_the_bytes(
    session: Session, tmp_path: Path, times: int
) -> None:
    """An argument, and a body too long for one; in a folder with nothing but the command."""
    exchange = make_exchange(make_run(session, ODD * times))
    with byte_recorder() as (base, came):
        run(code_samples_of(exchange)[0], exchange, base, tmp_path)
    assert came == [exchange.sent_body()]


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def served(handler: type[QuietHandler]) -> Iterator[str]:
    """The address of a server with this handler."""
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def byte_recorder() -> Iterator[tuple[str, list[bytes]]]:
    """The emulator behind a server that keeps the bodies as they came."""
    came: list[bytes] = []
    emulator = EmulatorTransport(Emulator(delay=0))

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            came.append(body)
            request = httpx2.Request("POST", f"http://emulator{self.path}", content=body)
            request.headers["x-goog-api-key"] = self.headers["x-goog-api-key"]
            answer = asyncio.run(answered_by(emulator, request))
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(answer.content)

    with served(Handler) as url:
        yield url, came


async def answered_by(emulator: EmulatorTransport, request: httpx2.Request) -> httpx2.Response:
    response = await emulator.handle_async_request(request)
    await response.aread()
    return response


@contextmanager
def recorder() -> Iterator[tuple[str, list[Any]]]:
    """A server that answers, and the requests that came."""
    came: list[Any] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}\r\n\r\n')

    with served(Handler) as url:
        yield url, came


def signatures_in(request: Any) -> list[bytes]:
    parts = (part for content in request["contents"] for part in content["parts"])
    return [base64.b64decode(part["thoughtSignature"], b"-_") for part in parts if "thoughtSignature" in part]


@pytest.mark.slow
def test_the_sdk_sends_signatures_back_byte_for_byte(session: Session, tmp_path: Path) -> None:
    _, second = play_flight(session)
    found = next(one for one in code_samples_of(second) if one.id == "sdk")
    with recorder() as (base, came):
        run(found, second, base, tmp_path)
    sent = json.loads(second.sent_body())
    assert signatures_in(came[0]) == [
        base64.b64decode(part["thoughtSignature"])
        for content in sent["contents"]
        for part in content["parts"]
        if "thoughtSignature" in part
    ]
    assert signatures_in(came[0])


@pytest.fixture
def cached(session: Session) -> Exchange:
    """A request that names a cache which no other emulator has."""
    return make_exchange(make_run(session), cache_name="cachedContents/abc")


def test_what_the_cache_held_is_inline_byte_for_byte(session: Session) -> None:
    asked = make_run(session)
    named = make_exchange(asked, [], cache_name="cachedContents/abc")
    inline = make_exchange(asked, [], step=2)
    assert body_to_send(named) == inline.sent_body() != named.sent_body()
    assert body_to_send(named, as_sent=True) == named.sent_body()
    assert body_to_send(inline) == inline.sent_body()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "sdk", "javascript"])
def test_a_copy_of_a_hit_is_answered_when_the_cache_is_gone(
    cached: Exchange, emulator: str, tmp_path: Path, name: str
) -> None:
    found = next(one for one in code_samples_of(cached) if one.id == name)
    assert run(found, cached, emulator, tmp_path, body_to_send(cached))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "sdk", "javascript"])
def test_a_refusal_is_printed_with_its_body(
    cached: Exchange, emulator: str, tmp_path: Path, name: str
) -> None:
    found = next(one for one in code_samples_of(cached) if one.id == name)
    done = started(found, cached, emulator, tmp_path, body_to_send(cached, as_sent=True))
    assert done.returncode and b"PERMISSION_DENIED" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "sdk", "javascript"])
def test_a_copy_goes_where_the_exchange_went(odd: Exchange, emulator: str, tmp_path: Path, name: str) -> None:
    found = next(one for one in code_samples_of(odd) if one.id == name)
    odd.base_url = emulator
    assert started(found, odd, "", tmp_path, odd.sent_body()).returncode == 0


@pytest.mark.parametrize("base_url", ["", EMULATOR])
def test_without_an_address_a_copy_asks_for_one(odd: Exchange, base_url: str, tmp_path: Path) -> None:
    odd.base_url = base_url
    for found in code_samples_of(odd):
        text = found.write(odd, odd.sent_body())
        assert "GOOGLE_GEMINI_BASE_URL is not set" in text
        assert "googleapis" not in text and "emulator.invalid" not in text
    done = started(code_samples_of(odd)[1], odd, "", tmp_path, odd.sent_body())
    assert done.returncode and b"GOOGLE_GEMINI_BASE_URL is not set" in done.stderr


def test_an_address_cannot_break_out_of_the_command(odd: Exchange) -> None:
    odd.base_url = 'http://host/$(id)`id`"}\\'
    assert words_of(program(odd, "curl"))[5].startswith(
        "${GOOGLE_GEMINI_BASE_URL:-http://host/%24(id)%60id%60"
    )


def test_curl_carries_the_body_byte_for_byte(odd: Exchange) -> None:
    words = words_of(program(odd, "curl"))
    assert words[-2] == "--data-raw"
    assert words[-1].encode() == odd.sent_body()


def test_the_key_is_never_in_a_program(odd: Exchange) -> None:
    for found in code_samples_of(odd):
        assert "GEMINI_API_KEY" in found.write(odd, odd.sent_body())


def test_a_model_name_cannot_break_out_of_the_command(odd: Exchange) -> None:
    odd.model = "x'; echo it's out; '"
    words = words_of(program(odd, "curl"))
    assert words[5].endswith(f"/v1beta/models/{odd.model}:streamGenerateContent?alt=sse")
    assert len(words) == 12


def test_python_is_python_whatever_was_said(odd: Exchange) -> None:
    odd.model = 'x"; import os; "'
    for name in ("python", "sdk"):
        tree = ast.parse(program(odd, name))
        assert sum(isinstance(node, ast.Import) for node in tree.body) <= 4


def test_the_sdk_takes_what_a_program_wrote_without_lists(
    odd: Exchange, emulator: str, tmp_path: Path
) -> None:
    """As Google's own examples for curl do, and with the model in the body."""
    said = {"parts": {"text": "Hello there"}}
    body = json.dumps({"model": "models/m", "contents": said, "system_instruction": said}).encode()
    found = next(one for one in code_samples_of(odd) if one.id == "sdk")
    assert run(found, odd, emulator, tmp_path, body)


def test_the_sdk_cannot_send_a_chat_completion(odd: Exchange) -> None:
    odd.dialect = Dialect.OPENAI
    assert [one.id for one in code_samples_of(odd)] == ["curl", "python", "javascript"]


def test_the_wire_tab_offers_each_program(client: Client, odd: Exchange) -> None:
    page = read(client, odd, "wire")
    for found in code_samples_of(odd):
        place = reverse("exchange-program", args=[odd.session.public, odd.number, found.id])
        assert page.count(place) == (3 if found.id == "curl" else 2)
        response = client.get(place)
        assert response.content.decode() == found.write(odd, odd.sent_body())
        assert response["Content-Disposition"].startswith("attachment")


def test_a_hit_is_offered_inline_and_as_sent(client: Client, cached: Exchange) -> None:
    page = read(client, cached, "wire")
    place = reverse("exchange-program", args=[cached.session.public, cached.number, "python"])
    assert page.count(f'"{place}"') == page.count(f'"{place}?body=sent"') == 2
    assert "cachedContents/abc" not in client.get(place).content.decode()
    assert "cachedContents/abc" in client.get(f"{place}?body=sent").content.decode()


def test_an_unknown_program_and_another_persons_do_not_exist(
    client: Client, stranger: Client, odd: Exchange
) -> None:
    place = reverse("exchange-program", args=[odd.session.public, odd.number, "curl"])
    assert stranger.get(place).status_code == 404
    unknown = reverse("exchange-program", args=[odd.session.public, odd.number, "telnet"])
    assert client.get(unknown).status_code == 404
