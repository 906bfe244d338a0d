"""Running a program outside: what it sees, what is heard of it, how it ends."""

import sys
import time
from pathlib import Path

import pytest

from sessions_app.context.programs import BARE, Printed, run_program

OPEN = Path("/proc/self/fd")


def python(code: str, folder: Path, *, timeout: float = 20, limit: int = 1_000_000) -> Printed:
    return run_program((sys.executable, "-c", code), folder, timeout=timeout, limit=limit)


def test_both_outputs_are_heard_in_order(tmp_path: Path) -> None:
    code = "import sys\nfor out in (sys.stdout, sys.stderr):\n    print(out.name, file=out, flush=True)"
    assert python(code, tmp_path) == Printed("<stdout>\n<stderr>")


def test_it_runs_in_its_folder_without_input(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), repr(sys.stdin.read()))"
    assert python(code, tmp_path).text == f"{tmp_path.resolve()} ''"


def test_it_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "a-secret")
    monkeypatch.setenv("DATABASE_URL", "another-secret")
    seen = python("import os; print(sorted(os.environ))", tmp_path).text
    assert set(eval(seen)) <= {*BARE, "__CF_USER_TEXT_ENCODING", "LC_CTYPE"}


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo `id` > x")
    assert run_program(argv, tmp_path, timeout=20).text == "$HOME; echo `id` > x"
    assert not (tmp_path / "x").exists()


def test_a_failure_keeps_what_was_printed(tmp_path: Path) -> None:
    assert python("print('half'); raise SystemExit(3)", tmp_path) == Printed("half", failed=True)


def test_a_program_that_does_not_exist_is_a_failure_in_words(tmp_path: Path) -> None:
    printed = run_program(("no-such-program",), tmp_path, timeout=1)
    assert printed.failed and printed.text.startswith("“no-such-program” cannot be started: ")


def test_a_folder_that_is_gone_is_a_failure_in_words(tmp_path: Path) -> None:
    assert "cannot be started" in run_program(("ls",), tmp_path / "gone", timeout=1).text


@pytest.mark.parametrize(
    "code", ["import time; time.sleep(60)", "import os, time; os.close(1); os.close(2); time.sleep(60)"]
)
def test_it_is_stopped_when_its_time_is_over(tmp_path: Path, code: str) -> None:
    began = time.monotonic()
    printed = python(code, tmp_path, timeout=0.5)
    assert printed == Printed("[stopped after 0.5 seconds]", failed=True)
    assert time.monotonic() - began < 20


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"
    )
    child = int(python(code, tmp_path, timeout=3).text.split()[0])
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def is_running(pid: int) -> bool:
    """Whether it is there and no zombie that its new parent has yet to bury."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_endless_output_is_cut(tmp_path: Path) -> None:
    printed = python("while True: print('x' * 1000)", tmp_path, limit=10_000)
    assert printed.failed and len(printed.text) < 10_100
    assert printed.text.endswith("[cut here: it printed more than 10,000 bytes]")


def test_bytes_that_are_no_text_are_shown_as_far_as_they_are(tmp_path: Path) -> None:
    assert python(r"import os; os.write(1, b'a\xff\x00b')", tmp_path).text == "a��b"


def test_nothing_is_left_open(tmp_path: Path) -> None:
    before = len(list(OPEN.iterdir()))
    for _ in range(5):
        python("print(1)", tmp_path)
    assert len(list(OPEN.iterdir())) == before
