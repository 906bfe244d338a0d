"""Creates or updates `.venv` and restarts the process inside it, with the standard library only.

`manage.py` calls `enter_environment` first. exec, not a child process: no server survives a killed parent.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = "requirements.txt"
TEST = "requirements-dev.txt"
"""Holds every line of requirements.txt too."""


class BootstrapError(Exception):
    """The command cannot start; the message is one line."""

    def __init__(self, line: str, code: int = 1) -> None:
        super().__init__(line)
        self.code = code


def enter_environment(arguments: Sequence[str], root: Path = ROOT) -> None:
    """Returns only when the process runs in an up-to-date `.venv`. Raises BootstrapError."""
    venv = VirtualEnvironment(root)
    wanted = [TEST, RUN] if arguments[:1] == ["test"] else [RUN]
    if not venv.holds(wanted):
        with interruptible(), install_lock(root):
            # Another start may have done the work while this one waited.
            if not venv.holds(wanted):
                venv.prepare(wanted)
    if Path(sys.prefix) != venv.folder:
        os.execv(venv.python, [str(venv.python), *sys.orig_argv[1:]])


def print_error(line: str, code: int = 1) -> int:
    """Prints one line and returns the exit code."""
    print(f"pipeweb: {line}", file=sys.stderr)
    return code


class VirtualEnvironment:
    """`.venv` and its stamp: the sha256 of each requirement file that is installed in full.

    The stamp is written last and removed first, so an incomplete `.venv` has none and is created again.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.python = self.folder / "bin" / "python"
        self.stamp = self.folder / "requirements.sha256"

    def holds(self, files: Sequence[str]) -> bool:
        return self.python.exists() and self.digests(files) <= self.installed()

    def installed(self) -> set[str]:
        return set(self.stamp.read_text().split()) if self.stamp.exists() else set()

    def digests(self, files: Sequence[str]) -> set[str]:
        return {hashlib.sha256((self.root / file).read_bytes()).hexdigest() for file in files}

    def prepare(self, files: Sequence[str]) -> None:
        """Installs the first file, which includes the others. Raises BootstrapError."""
        if not os.access(self.root, os.W_OK):
            raise BootstrapError(f"the folder {self.root} cannot be written to; .venv belongs there.")
        print("pipeweb: installing packages into .venv; this takes a minute and happens once.", flush=True)
        uv = shutil.which("uv")
        if not (self.python.exists() and self.stamp.exists()):
            self.make(with_pip=uv is None)
        self.stamp.unlink(missing_ok=True)
        self.install(self.root / files[0], uv)
        self.stamp.write_text("\n".join(sorted(self.digests(files))))

    def make(self, *, with_pip: bool) -> None:
        if find_spec("venv") is None or (with_pip and find_spec("ensurepip") is None):
            raise BootstrapError(
                "this Python cannot make .venv; on Debian and Ubuntu: apt install python3-venv"
            )
        shutil.rmtree(self.folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", *([] if with_pip else ["--without-pip"]), str(self.folder)])

    def install(self, file: Path, uv: str | None) -> None:
        # The file names every package, so nothing is resolved again: pip would try the newest release of a
        # package that is wanted with an extra, and refuse it because only the locked one has a hash.
        options = ["--quiet", "--no-deps", "--require-hashes", "--requirement", str(file)]
        if uv is not None:
            run([uv, "pip", "install", "--python", str(self.python), "--compile-bytecode", *options])
            return
        if not any(self.folder.glob("lib/*/site-packages/pip")):
            self.make(with_pip=True)
        run([str(self.python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *options])


def run(command: list[str]) -> None:
    """Runs a step of the installation. Raises BootstrapError that explains its output."""
    # Behind a proxy that opens TLS, uv must trust what the system trusts.
    environment = {**os.environ, "UV_SYSTEM_CERTS": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise BootstrapError(f"{command[0]} cannot be run: {error.strerror}.") from error
    if done.returncode:
        raise BootstrapError(explain(done.stderr + done.stdout))


def explain(output: str) -> str:
    """One line from the output of venv, pip or uv."""
    lowered = output.lower()
    if "ensurepip" in lowered:
        return "this Python cannot make .venv; on Debian and Ubuntu: apt install python3-venv"
    if "do not match the hashes" in lowered or "hash mismatch" in lowered:
        return "a downloaded package is not the one that was locked (its hash differs); nothing was kept."
    if any(
        word in lowered
        for word in ("connection", "resolution", "from versions: none", "timed out", "dns error")
    ):
        return "packages could not be downloaded; check the network and start again."
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f"packages could not be installed: {lines[-1] if lines else 'no reason was given'}"


@contextmanager
def install_lock(root: Path) -> Iterator[None]:
    """Waits until no other process installs into this folder; the lock is on the folder itself."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


def wait_for(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("pipeweb: another start is installing packages; waiting for it.", flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def interruptible() -> Iterator[None]:
    """Turns Ctrl-C and SIGTERM into BootstrapError with exit code 130."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        raise BootstrapError("interrupted; the next start begins again.", code=130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
