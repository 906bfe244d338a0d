"""The lines that the page of capture shows for each program, run as they stand there."""

import re
import shutil
from pathlib import Path

import orjson
import pytest

from sessions_app.capture.clients import CLIENTS, MODEL, ClientLines
from tests.clients.captured import CapturedCall, RelayedServer
from tests.clients.environments import ADK, GENAI, GENAI_1, JAVASCRIPT, OPENAI, ClientEnvironment
from tests.clients.running import node_guard, quiet_environment, run
from tests.clients.terminal import Terminal
from tests.conftest import ROOT
from tests.emulator.helpers import OPENING

pytestmark = pytest.mark.slow

LINES = {client.key: client for client in CLIENTS}
TRIED = {"curl", "gemini-cli", "python", "javascript", "adk", "openai"}
NOT_PINNED = {"langchain", "pydantic-ai", "litellm", "ai-sdk"}
"""Written as recorded clients were started; their packages are in no environment of the tests."""

KEYS = {"GEMINI_API_KEY": "emulator"}
ASK = f"print(client.models.generate_content(model='{MODEL}', contents='Say hello.').text)"
AGENT = f"""
from google.adk.agents import Agent

root_agent = Agent(name="guide", model="{MODEL}", instruction="Help with travel.")
"""


def test_every_program_is_tried_or_known_not_to_be() -> None:
    assert {*LINES} == TRIED | NOT_PINNED and not TRIED & NOT_PINNED


def shell(lines: str, folder: Path, *, typed: str = "", path: Path | None = None, **variables: str) -> str:
    """What the lines print in a new home, with programs of `path` in reach."""
    script = f"printf '{typed}' | (\n{lines}\n)"
    if path:
        variables["PATH"] = f"{path}:{quiet_environment(folder)['PATH']}"
    done = run(["bash", "-c", script], folder, folder, **KEYS, **python_guard(folder), **variables)
    assert not done.returncode, done.stderr
    return done.stdout


def python_guard(folder: Path) -> dict[str, str]:
    """Keeps programs in Python from other machines, whatever starts them."""
    guard = "import sys\nfrom tests.clients.programs.steps import refuse_other_machines\n"
    (folder / "guard").mkdir(exist_ok=True)
    (folder / "guard" / "sitecustomize.py").write_text(f"{guard}sys.addaudithook(refuse_other_machines)\n")
    return {"PYTHONPATH": f"{folder / 'guard'}:{ROOT}"}


def python(environment: ClientEnvironment, program: str, folder: Path, **variables: str) -> str:
    done = run(
        [environment.python, "-c", program], folder, folder, **KEYS, **python_guard(folder), **variables
    )
    assert not done.returncode, done.stderr
    return done.stdout


def asked_once(calls: list[CapturedCall], client: str) -> CapturedCall:
    (call,) = [call for call in calls if call.path.split("?")[0].endswith(("enerateContent", "completions"))]
    assert call.status == 200 and client in call.client.lower()
    return call


@pytest.mark.skipif(not shutil.which("curl"), reason="NOTICE: no curl")
def test_the_lines_for_curl(relayed: RelayedServer, tmp_path: Path) -> None:
    talk = relayed.talk("Lines", lambda base: shell(LINES["curl"].for_address(base), tmp_path))
    assert OPENING in talk.told and orjson.loads(talk.told)["modelVersion"] == MODEL
    assert asked_once(talk.calls, "curl").session


@pytest.mark.parametrize("environment", [GENAI, GENAI_1], ids=lambda environment: environment.name)
def test_the_lines_for_google_genai(
    environment: ClientEnvironment, relayed: RelayedServer, tmp_path: Path
) -> None:
    def act(base: str) -> str:
        return python(environment, f"{LINES['python'].for_address(base)}\n{ASK}", tmp_path)

    talk = relayed.talk("Lines", act)
    assert OPENING in talk.told and asked_once(talk.calls, "google-genai").session


def test_google_genai_without_a_change_of_the_program(relayed: RelayedServer, tmp_path: Path) -> None:
    def act(base: str) -> str:
        name, value = variable_of(LINES["python"], base)
        program = f"from google import genai\nclient = genai.Client()\n{ASK}"
        return python(GENAI, program, tmp_path, **{name: value})

    talk = relayed.talk("Lines", act)
    assert OPENING in talk.told and asked_once(talk.calls, "google-genai").session


def variable_of(client: ClientLines, base: str) -> tuple[str, str]:
    """The environment variable that the note names."""
    found = re.search(r"(\w+)='([^']+)'", client.note.replace("{base}", base))
    assert found
    return found[1], found[2]


def test_the_lines_for_javascript(relayed: RelayedServer, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(JAVASCRIPT.folder / "node_modules")
    asked = f"await ai.models.generateContent({{ model: '{MODEL}', contents: 'Say hello.' }})"

    def act(base: str) -> str:
        lines = f"{LINES['javascript'].for_address(base)}\nconsole.log(({asked}).text);\n"
        (tmp_path / "program.mjs").write_text(lines)
        done = run([JAVASCRIPT.node, "program.mjs"], tmp_path, tmp_path, **KEYS, **node_guard(tmp_path))
        assert not done.returncode, done.stderr
        return done.stdout

    talk = relayed.talk("Lines", act)
    assert OPENING in talk.told and asked_once(talk.calls, "google-genai").session


def test_the_lines_for_openai(relayed: RelayedServer, tmp_path: Path) -> None:
    ask = (
        f"client.chat.completions.create(model='{MODEL}', messages=[{{'role': 'user', 'content': 'hello'}}])"
    )

    def act(base: str) -> str:
        lines = LINES["openai"].for_address(base)
        program = f"{lines}\nprint({ask}.choices[0].message.content)"
        return python(OPENAI, program, tmp_path)

    talk = relayed.talk("Lines", act)
    assert OPENING in talk.told and not asked_once(talk.calls, "openai").session


def test_the_lines_for_adk(relayed: RelayedServer, tmp_path: Path) -> None:
    agent = tmp_path / "my_agent"
    agent.mkdir()
    (agent / "__init__.py").write_text("from . import agent\n")
    (agent / "agent.py").write_text(AGENT)

    def act(base: str) -> str:
        lines, programs = LINES["adk"].for_address(base), ADK.python.parent
        return shell(lines, tmp_path, typed=r"Say hello.\nexit\n", path=programs)

    talk = relayed.talk("Lines", act)
    assert OPENING in talk.told and asked_once(talk.calls, "google-adk").session


def test_the_lines_for_gemini_cli(relayed: RelayedServer, tmp_path: Path) -> None:
    """In a terminal, as people start it: it asks whether it may trust the folder, and then for a message."""
    programs = f"{JAVASCRIPT.folder / 'node_modules' / '.bin'}:{JAVASCRIPT.node.parent}"
    variables = {**quiet_environment(tmp_path), **KEYS, **node_guard(tmp_path), "NO_BROWSER": "1"}
    variables["PATH"] = f"{programs}:{variables['PATH']}"

    def act(base: str) -> None:
        lines = LINES["gemini-cli"].for_address(base)
        with Terminal(["bash", "-c", lines], tmp_path, variables) as terminal:
            terminal.wait_for("Trust folder")
            terminal.type("\r")
            terminal.wait_for("Type your message")
            terminal.type("Say hello.")
            terminal.wait_for("Say hello.")
            terminal.type("\r")
            terminal.wait_for(OPENING)

    talk = relayed.talk("Lines", act)
    answered = [call for call in talk.calls if call.is_streamed]
    assert answered and all(call.client.startswith("GeminiCLI") and call.session for call in answered)
    talk.assert_bytes_are_equal()
