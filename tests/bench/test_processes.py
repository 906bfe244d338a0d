import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sessions_app.errors import PipewebError
from tests.bench.processes import (
    Server,
    cpu_seconds,
    environment,
    last_line,
    process_tree,
    resident_bytes,
    run_module,
)
from tests.deployment.programs import free_port


def python(script: str) -> tuple[str, str]:
    return ("-c", script)


def is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_keys_and_databases_of_the_shell_stay_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere/else")
    assert environment(PIPEWEB_DATA="here") == {"PATH": os.environ["PATH"], "PIPEWEB_DATA": "here"}


def test_a_child_is_there_when_it_greets_and_gone_after_the_block(tmp_path: Path) -> None:
    script = "import time; print('port 4711', flush=True); time.sleep(60)"
    with Server("server", python(script), r"port (\d+)", tmp_path) as child:
        assert child.port == 4711
        assert is_alive(child.pid)
    assert not is_alive(child.pid)


def test_a_child_that_greets_nobody_is_there_when_its_port_answers(tmp_path: Path) -> None:
    port = free_port()
    script = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(60)"
    with Server("server", python(script), port, tmp_path) as child:
        assert child.port == port
        assert is_alive(child.pid)


@pytest.mark.parametrize("json", [True, False])
def test_what_a_child_logs_as_errors_is_told_once(tmp_path: Path, json: bool) -> None:
    script = (
        "import django.conf, logging, logging.config, pipeweb.logs as logs;"
        f"logging.config.dictConfig(logs.logging_config('INFO', json={json}));"
        "log = logging.getLogger('django'); log.info('no error'); log.error('lost');"
        "import time; print('port 1', flush=True); time.sleep(60)"
    )
    with Server("server", python(script), r"port (\d+)", tmp_path) as child:
        (line,) = child.new_errors()
        assert "lost" in line
        assert child.new_errors() == []


def test_a_child_that_ignores_the_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.processes.END_LIMIT", 0.1)
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('port 1', flush=True); time.sleep(60)"
    )
    with Server("server", python(script), r"port (\d+)", tmp_path) as child:
        pass
    assert not is_alive(child.pid)


def test_a_child_that_does_not_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(PipewebError, match="no luck"),
        Server("server", python("import sys; sys.exit('no luck')"), r"port (\d+)", tmp_path),
    ):
        pass


def test_a_module_that_fails_says_why() -> None:
    with pytest.raises(PipewebError, match="ValueError"):
        run_module("writers", "many", limit=30)


def test_a_module_that_hangs_is_ended() -> None:
    with pytest.raises(PipewebError):
        run_module("fake_upstream", limit=0.3)


def test_no_output_is_named() -> None:
    assert last_line(" \n") == "it printed nothing"


def test_work_costs_its_time_and_waiting_costs_none() -> None:
    before = cpu_seconds(os.getpid())
    time.sleep(0.1)
    idle = cpu_seconds(os.getpid())
    begin = time.process_time()
    sum(range(2_000_000))
    assert idle - before < 0.05
    assert abs(cpu_seconds(os.getpid()) - idle - (time.process_time() - begin)) < 0.02


def test_children_belong_to_the_tree() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in process_tree(os.getpid())
        assert resident_bytes(os.getpid()) > resident_bytes(child.pid) > 0


def test_memory_is_counted_in_bytes() -> None:
    before = resident_bytes(os.getpid())
    ballast = bytearray(os.urandom(1 << 20) * 32)
    assert 30 << 20 < resident_bytes(os.getpid()) - before < 200 << 20
    del ballast
