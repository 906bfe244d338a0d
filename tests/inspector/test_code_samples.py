"""What is copied is run: curl, Python, the SDK and Node send the request again and are answered."""

import ast
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.code_samples import MAX_ARGUMENT, CodeSample, code_samples_of
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


def run(found: CodeSample, exchange: Exchange, base: str, folder: Path) -> str:
    """What the program prints. A failure, an HTTP status above 299 too, fails the test."""
    file = folder / f"program.{found.file}"
    file.write_text(found.write(exchange, exchange.sent_body()), encoding="utf-8")
    (folder / f"exchange-{exchange.number}-request.json").write_bytes(exchange.sent_body())
    starts = {"sh": ["sh"], "py": [sys.executable, "-W", "ignore"], "mjs": ["node"]}
    command = [*starts[found.file.rpartition(".")[2]], str(file)]
    if not shutil.which(command[0]) or (found.id == "curl" and not shutil.which("curl")):
        pytest.skip(f"NOTICE: no {found.title}")
    own = {"GEMINI_API_KEY": "emulator", "GOOGLE_GEMINI_BASE_URL": base, "NO_PROXY": "*", "no_proxy": "*"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **own}
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False, env=environment)
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "sdk", "javascript"])
def test_the_program_is_answered(odd: Exchange, emulator: str, tmp_path: Path, name: str) -> None:
    found = next(one for one in code_samples_of(odd) if one.id == name)
    told = run(found, odd, emulator, tmp_path)
    assert "You said" in told if name == "sdk" else told.startswith('data: {"candidates"')


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curl", "python", "javascript"])
def test_a_chat_completion_is_answered(odd: Exchange, emulator: str, tmp_path: Path, name: str) -> None:
    odd.dialect = Dialect.OPENAI
    found = next(one for one in code_samples_of(odd) if one.id == name)
    assert "[DONE]" in run(found, odd, emulator, tmp_path)


@pytest.mark.slow
def test_a_long_body_is_read_from_the_download(session: Session, emulator: str, tmp_path: Path) -> None:
    exchange = make_exchange(make_run(session, "long " * MAX_ARGUMENT))
    assert "--data-binary @exchange-1-request.json" in program(exchange, "curl")
    assert '"candidates"' in run(code_samples_of(exchange)[0], exchange, emulator, tmp_path)


@pytest.mark.slow
def test_the_sdk_sends_signatures_back(session: Session, emulator: str, tmp_path: Path) -> None:
    _, second = play_flight(session)
    text = program(second, "sdk")
    assert "'thoughtSignature'" in text
    ast.parse(text)


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
    assert words[4].endswith(f"/v1beta/models/{odd.model}:streamGenerateContent?alt=sse")
    assert len(words) == 11


def test_python_is_python_whatever_was_said(odd: Exchange) -> None:
    odd.model = 'x"; import os; "'
    for name in ("python", "sdk"):
        tree = ast.parse(program(odd, name))
        assert sum(isinstance(node, ast.Import) for node in tree.body) <= 2


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


def test_an_unknown_program_and_another_persons_do_not_exist(
    client: Client, stranger: Client, odd: Exchange
) -> None:
    place = reverse("exchange-program", args=[odd.session.public, odd.number, "curl"])
    assert stranger.get(place).status_code == 404
    unknown = reverse("exchange-program", args=[odd.session.public, odd.number, "telnet"])
    assert client.get(unknown).status_code == 404
