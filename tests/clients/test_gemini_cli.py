"""Gemini CLI as a person starts it, in a folder with a note."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.clients.environments import JAVASCRIPT
from tests.clients.running import node_guard, run
from tests.emulator.helpers import FLASH, OPENING

pytestmark = pytest.mark.slow

Cli = Callable[..., subprocess.CompletedProcess[str]]
NOTE = "The meeting is at noon."
SETTINGS: dict[str, Any] = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
}


@pytest.fixture
def cli(base: str, tmp_path: Path) -> Cli:
    """One prompt without a person: tools run unasked, nothing is updated or reported, no browser opens."""
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_bytes(orjson.dumps(SETTINGS))
    work.mkdir()
    (work / "note.txt").write_text(f"{NOTE}\n")
    program = JAVASCRIPT.folder / "node_modules" / "@google" / "gemini-cli" / "bundle" / "gemini.js"

    def call(prompt: str, *options: str, key: str = "emulator") -> subprocess.CompletedProcess[str]:
        done = run(
            [JAVASCRIPT.node, program, "--yolo", *options, "-p", prompt],
            work,
            home,
            GOOGLE_GEMINI_BASE_URL=base,
            GEMINI_API_KEY=key,
            GEMINI_CLI_TRUST_WORKSPACE="true",
            GEMINI_CLI_NO_RELAUNCH="true",
            NO_BROWSER="1",
            **node_guard(tmp_path),
        )
        assert (tmp_path / "outside").read_text() == ""
        return done

    return call


@pytest.mark.parametrize("model", [FLASH, "gemini-2.5-flash"])
def test_a_tool_reads_the_note_and_its_text_comes_back(cli: Cli, model: str) -> None:
    done = cli("read note.txt", "--model", model, "--output-format", "stream-json")
    assert done.returncode == 0, done.stderr
    events = [orjson.loads(line) for line in done.stdout.splitlines()]
    (used,) = [event for event in events if event["type"] == "tool_use"]
    assert (used["tool_name"], used["parameters"]) == ("read_file", {"file_path": "note.txt"})
    assert [event["status"] for event in events if event["type"] == "tool_result"] == ["success"]
    said = "".join(event["content"] for event in events if event.get("role") == "assistant")
    assert NOTE in said and events[-1]["status"] == "success"


def test_the_second_request_of_a_round_hits_the_implicit_cache(cli: Cli) -> None:
    done = cli("read note.txt", "--model", FLASH, "--output-format", "json")
    (used,) = orjson.loads(done.stdout)["stats"]["models"].values()
    assert used["api"]["totalRequests"] == 2 and used["tokens"]["cached"] > 4096


def test_an_overloaded_model_is_asked_again(cli: Cli) -> None:
    done = cli("hello /error 503 once", "--model", FLASH)
    assert done.returncode == 0 and OPENING in done.stdout, done.stderr


def test_a_bad_key_ends_it_with_the_reason(cli: Cli) -> None:
    done = cli("hello", "--model", FLASH, key="invalid")
    assert done.returncode == 1 and "API key not valid" in done.stderr
