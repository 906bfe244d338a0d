"""Gemini CLI through the relay: as an editor runs it, with its router beside, and resumed with a changed history."""

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
        command = [JAVASCRIPT.node, PROGRAM, "--yolo", "--acp"]
        variables = {**quiet_environment(self._home), **self.variables(base)}
        with AcpSession(command, self.work, variables) as session:
            return [session.prompt(QUESTION) for _ in range(3)]

    def ask(self, base: str, prompt: str, *options: str) -> str:
        """One turn of a process of its own."""
        words = [JAVASCRIPT.node, PROGRAM, "--yolo", *options, "-p", prompt]
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


def test_show(relayed, talk, cli):
    print(talk.told)
    talk.assert_bytes_are_equal()
    for s in talk.sessions:
        print(places(s))
        print([(c.is_guess, c.broken,c.path.split("/")[-1][:30]) for c in s])
    t = relayed.talk("resumed", lambda base: [cli.ask(base, "hello there, who are you"), (cli.work / "other.txt").write_text("x"), cli.ask(base, QUESTION, "--resume", "latest")])
    for s in t.sessions:
        print(places(s))
        print([(c.is_guess, c.broken,c.path.split("/")[-1][:30]) for c in s])
    for c in t.asked:
        b=orjson.loads(c.body); print(c.path, [(x["role"],[str(p)[:90] for p in x["parts"]]) for x in b["contents"]])
    t.assert_bytes_are_equal()
    print(cli.outside())
