import os
from pathlib import Path

import pytest

from sessions_app.bench.processes import Child, environment, last_line, run_module
from sessions_app.errors import PipewebError


def python(script: str) -> tuple[str, str]:
    return ("-c", script)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_keys_and_databases_of_the_shell_stay_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere/else")
    assert environment(PIPEWEB_DATA="here") == {"PATH": os.environ["PATH"], "PIPEWEB_DATA": "here"}


def test_a_child_is_there_when_it_greets_and_gone_after_the_block(tmp_path: Path) -> None:
    script = "import time; print('port 4711', flush=True); time.sleep(60)"
    with Child("server", python(script), r"port (\d+)", tmp_path) as child:
        assert child.port == 4711
        assert is_alive(child.pid)
    assert not is_alive(child.pid)


def test_a_child_that_ignores_the_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.bench.processes.END_LIMIT", 0.1)
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('port 1', flush=True); time.sleep(60)"
    )
    with Child("server", python(script), r"port (\d+)", tmp_path) as child:
        pass
    assert not is_alive(child.pid)


def test_a_child_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(PipewebError, match="server did not start: no luck"),
        Child("server", python("import sys; sys.exit('no luck')"), r"port (\d+)", tmp_path),
    ):
        pass


def test_a_module_that_fails_says_why() -> None:
    with pytest.raises(PipewebError, match="people failed: ValueError"):
        run_module("people", "many", limit=30)


def test_a_module_that_hangs_is_ended() -> None:
    with pytest.raises(PipewebError, match="was not done within 0 s"):
        run_module("upstream", limit=0.3)


def test_silence_is_said_to_be_silence() -> None:
    assert last_line(" \n") == "it said nothing"
