"""The bootstrap of `.venv`, and the failures of a start as one line."""

import ast
import errno
import fcntl
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import manage as command_line
from pipeweb import bootstrap
from pipeweb.bootstrap import BootstrapError, VirtualEnvironment, enter_environment, explain, install_lock
from tests.conftest import ROOT
from tests.server import FirstServer, Server, manage

Commands = list[list[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder with its two requirement files and nothing else."""
    (tmp_path / "requirements.txt").write_text("run\n")
    (tmp_path / "requirements-dev.txt").write_text("run\ntest\n")
    return tmp_path


@pytest.fixture
def commands(project: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """What the bootstrap would run on this machine, which has no uv; making `.venv` makes its python."""
    ran: Commands = []

    def record(command: list[str]) -> None:
        ran.append(command)
        if "venv" in command:
            (project / ".venv/bin").mkdir(parents=True)
            (project / ".venv/bin/python").touch()
            (project / ".venv/lib/python3/site-packages/pip").mkdir(parents=True)

    monkeypatch.setattr(bootstrap, "run", record)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("os.execv", lambda path, argv: ran.append(["exec", str(path)]))
    return ran


def test_a_bare_machine_creates_venv_installs_and_restarts_inside(project: Path, commands: Commands) -> None:
    enter_environment(["up"], project)
    make, install, restart = commands
    assert make[1:] == ["-m", "venv", str(project / ".venv")]
    assert "--require-hashes" in install and install[-1] == str(project / "requirements.txt")
    assert restart == ["exec", str(project / ".venv/bin/python")]


def test_a_second_start_installs_nothing(project: Path, commands: Commands) -> None:
    enter_environment(["up"], project)
    commands.clear()
    enter_environment(["up"], project)
    assert [command[0] for command in commands] == ["exec"]


def test_a_process_inside_is_not_restarted(
    project: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_environment(["up"], project)
    commands.clear()
    monkeypatch.setattr(sys, "prefix", str(project / ".venv"))
    enter_environment(["up"], project)
    assert commands == []


def test_the_tests_install_their_own_packages(project: Path, commands: Commands) -> None:
    enter_environment(["up"], project)
    commands.clear()
    enter_environment(["test", "-q"], project)
    assert commands[0][-1] == str(project / "requirements-dev.txt")
    commands.clear()
    enter_environment(["up"], project)
    assert [command[0] for command in commands] == ["exec"]


def test_new_requirements_are_installed_into_the_same_folder(project: Path, commands: Commands) -> None:
    enter_environment(["up"], project)
    commands.clear()
    (project / "requirements.txt").write_text("run\nmore\n")
    enter_environment(["up"], project)
    assert [command[2] for command in commands[:-1]] == ["pip"]


def test_an_interrupted_installation_is_made_anew(
    project: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(VirtualEnvironment, "install", interrupt)
        with pytest.raises(BootstrapError, match="interrupted") as caught:
            enter_environment(["up"], project)
    assert caught.value.code == 130
    (project / ".venv/half").touch()
    enter_environment(["up"], project)
    assert not (project / ".venv/half").exists()


def test_uv_is_used_when_it_is_there(
    project: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/uv")
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None if name == "ensurepip" else object())
    enter_environment(["up"], project)
    assert "--without-pip" in commands[0]
    assert commands[1][:3] == ["/usr/bin/uv", "pip", "install"] and "--require-hashes" in commands[1]


def test_a_missing_ensurepip_names_the_debian_package(
    project: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(BootstrapError, match="apt install python3-venv"):
        enter_environment(["up"], project)
    assert commands == []


def test_a_folder_that_cannot_be_written_to_is_named(
    project: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(BootstrapError, match=f"{project} cannot be written to"):
        enter_environment(["up"], project)
    assert commands == []


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("WARNING: Retrying ... NewConnectionError\nERROR: No matching", "check the network"),
        ("ERROR: Could not find a version that satisfies x (from versions: none)", "check the network"),
        ("error: dns error: failed to lookup address information", "check the network"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "its hash differs"),
        ("The virtual environment was not created: ensurepip is not available.", "apt install python3-venv"),
        ("building\nERROR: No space left on device\n\n", "ERROR: No space left on device"),
        ("", "no reason was given"),
    ],
)
def test_a_failed_installation_is_explained_in_one_line(output: str, line: str) -> None:
    assert line in explain(output) and "\n" not in explain(output)


def test_a_step_that_fails_raises_a_bootstrap_error(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(returncode=1, stdout="", stderr="dns error")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: failed)
    with pytest.raises(BootstrapError, match="check the network"):
        bootstrap.run(["pip"])


def test_a_second_start_waits_for_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    released: list[int] = []

    def release() -> None:
        # Noted first: the lock is free the moment the descriptor is closed.
        released.append(descriptor)
        os.close(descriptor)

    threading.Timer(0.1, release).start()
    with install_lock(tmp_path):
        assert released
    assert "waiting for it" in capsys.readouterr().out


def test_the_lock_leaves_nothing_behind(tmp_path: Path) -> None:
    with install_lock(tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_an_older_python_can_read_manage_py_far_enough_to_refuse() -> None:
    ast.parse((ROOT / "manage.py").read_text(), feature_version=(3, 7))


@pytest.mark.slow
def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = manage(tmp_path, "up", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "cannot be listened on: Address already in use." in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_database_without_tables_is_one_line(tmp_path: Path) -> None:
    done = manage(tmp_path, "link")
    assert done.returncode == 1
    assert "no such table" in done.stderr and "manage.py migrate" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite:////nowhere/rows.sqlite3", "unable to open database file. DATABASE_URL says"),
        ("postgres://ann@127.0.0.1:1/rows", "Connection refused"),
    ],
)
def test_a_database_that_is_not_there_is_one_line_with_the_setting(
    tmp_path: Path, url: str, words: str
) -> None:
    done = manage(tmp_path, "link", DATABASE_URL=url)
    assert done.returncode == 1 and words in done.stderr and "DATABASE_URL" in done.stderr
    assert done.stderr.count("\n") == 1 and "migrate" not in done.stderr


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_takes_nothing_is_one_line(
    code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def execute(_: list[str]) -> None:
        raise OSError(code, os.strerror(code), "/data/bundles")

    monkeypatch.setattr(command_line, "execute", execute)
    assert command_line.run_command(["link"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "/data/bundles" in said and "PIPEWEB_DATA" in said
    with pytest.raises(OSError, match="bundles"):
        command_line.run_command(["link", "--traceback"])


@pytest.mark.slow
def test_a_host_that_is_unknown_asks_for_another_host(tmp_path: Path) -> None:
    done = manage(tmp_path, "up", "--host", "256.1.1.1")
    assert done.returncode == 1 and "cannot be listened on" in done.stderr
    assert "--host 127.0.0.1" in done.stderr and "--port" not in done.stderr


@pytest.mark.slow
def test_other_machines_need_a_password(tmp_path: Path) -> None:
    done = manage(tmp_path, "up", "--port", "0", "--host", "0.0.0.0")
    assert done.returncode == 1
    assert "an administrator needs a password first" in done.stderr and done.stderr.count("\n") == 1


def test_the_requirement_files_name_no_host() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text()
        assert "://" not in text and "--index" not in text and "--find-links" not in text


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with FirstServer(tmp_path) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_up_answers_and_ends_cleanly(server: Server, signal_number: signal.Signals) -> None:
    assert server.get("/sign-in") == 200
    assert server.link.startswith(server.url + "/sign-in/")
    assert "emulator" in server.output
    server.process.send_signal(signal_number)
    assert server.process.wait(timeout=60) == 0
    # Its process group is empty: nothing that it started goes on.
    with pytest.raises(ProcessLookupError):
        os.killpg(server.process.pid, 0)
