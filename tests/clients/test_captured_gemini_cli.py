"""Gemini CLI through the relay: as an editor runs it, with its router beside, and resumed."""

from pathlib import Path

import orjson
import pytest

from tests.clients.acp import AcpSession
from tests.clients.captured import RelayedServer, Talk, assert_explained, places
from tests.clients.environments import JAVASCRIPT
from tests.clients.running import node_guard, quiet_environment, run
from tests.clients.test_gemini_cli import NOTE, SETTINGS

pytestmark = pytest.mark.slow

PROGRAM = JAVASCRIPT.folder / "node_modules" / "@google" / "gemini-cli" / "bundle" / "gemini.js"
QUESTION = "read note.txt"


class Cli:
    """A home, a folder with a note, and the program in them."""

    def __init__(self, folder: Path) -> None:
        self._home, self._folder = folder / "home", folder
        self.work = folder / "work"
        (self._home / ".gemini").mkdir(parents=True)
        (self._home / ".gemini" / "settings.json").write_bytes(orjson.dumps(SETTINGS))
        self.work.mkdir()
        (self.work / "note.txt").write_text(f"{NOTE}\n")

    def variables(self, base: str) -> dict[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": base,
            "GEMINI_API_KEY": "emulator",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NO_BROWSER": "1",
            **node_guard(self._folder),
        }

    def converse(self, base: str) -> list[str]:
        """Three turns of one process, each with a tool."""
        command = [str(JAVASCRIPT.node), str(PROGRAM), "--yolo", "--acp"]
        variables = {**quiet_environment(self._home), **self.variables(base)}
        with AcpSession(command, self.work, variables) as session:
            return [session.prompt(QUESTION) for _ in range(3)]

    def ask(self, base: str, prompt: str, *options: str) -> str:
        """One turn of a process of its own."""
        words = [str(JAVASCRIPT.node), str(PROGRAM), "--yolo", *options, "-p", prompt]
        done = run(words, self.work, self._home, **self.variables(base))
        assert not done.returncode, done.stderr
        return done.stdout

    def outside(self) -> str:
        return (self._folder / "outside").read_text()


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    return Cli(tmp_path_factory.mktemp("gemini-cli"))


@pytest.fixture(scope="module")
def talk(cli: Cli, relayed: RelayedServer) -> Talk[list[list[str]]]:
    return relayed.talk("Gemini CLI", lambda base: [cli.converse(base) for _ in range(2)])


@pytest.fixture(scope="module")
def resumed(cli: Cli, relayed: RelayedServer) -> Talk[list[str]]:
    """Two processes, the second of which goes on with the session; the folder has another file by then."""

    def act(base: str) -> list[str]:
        first = cli.ask(base, "hello there, who are you")
        (cli.work / "other.txt").write_text("Another file.\n")
        return [first, cli.ask(base, QUESTION, "--resume", "latest")]

    return relayed.talk("Gemini CLI, resumed", act)


def test_bytes_are_equal_on_both_sides_and_in_the_rows(cli: Cli, talk: Talk[list[list[str]]]) -> None:
    assert talk.told == [["end_turn"] * 3] * 2
    talk.assert_bytes_are_equal()
    assert {call.is_streamed for call in talk.asked} == {True, False}
    assert cli.outside() == ""


def test_each_process_is_a_session_with_its_router_beside(talk: Talk[list[list[str]]]) -> None:
    """The router asks before each turn: as two contents first, and with its own past in the third turn."""
    first = [("side", "side_call", 0), ("main", "opens", 1), ("main", "continues", 1)]
    second = [("side", "side_call", 0), ("main", "continues", 1), ("main", "continues", 1)]
    third = [("side", "continues", 0), ("main", "continues", 1), ("main", "continues", 1)]
    assert [places(session) for session in talk.sessions] == [first + second + third] * 2
    assert all("flash-lite" in call.path for call in talk.asked if call.role == "side")
    assert [call.is_guess for call in talk.sessions[1]] == [True] + [False] * 8, "one short text alone"


def test_nothing_changes_while_it_runs(relayed: RelayedServer, talk: Talk[list[list[str]]]) -> None:
    assert_explained(relayed.server, talk.asked, {})


def test_a_resumed_session_is_one_and_the_new_listing_of_the_folder_is_named(
    relayed: RelayedServer, resumed: Talk[list[str]]
) -> None:
    resumed.assert_bytes_are_equal()
    assert NOTE in resumed.told[1]
    assert [places(session) for session in resumed.sessions] == [
        [
            *(("side", "side_call", 0), ("main", "opens", 1)),
            *(("side", "side_call", 0), ("main", "continues", 1), ("main", "continues", 1)),
        ]
    ]
    listing = "contents[0].parts[0]"
    assert_explained(relayed.server, resumed.asked, {2: listing, 3: listing})
