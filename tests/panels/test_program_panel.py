"""What git and gh said last, as a panel."""

import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries

from sessions_app.models import AllowedCommand, Reading, Session, SessionSettings
from sessions_app.panels.base import ProgramOutput
from sessions_app.panels.program_panel import BASE_ENVIRONMENT, run_program
from sessions_app.panels.refresh import due_readings, save_reading, uses_programs
from sessions_app.workspace import Workspace
from tests.panels.reading import NOW, read, reading, value

OPEN = Path("/proc/self/fd")


def python(code: str, folder: Path, *, timeout: float = 20, limit: int = 1_000_000) -> ProgramOutput:
    return run_program((sys.executable, "-c", code), folder, timeout=timeout, limit=limit)


def test_both_outputs_are_heard_in_order(tmp_path: Path) -> None:
    code = "import sys\nfor out in (sys.stdout, sys.stderr):\n    print(out.name, file=out, flush=True)"
    assert python(code, tmp_path) == ProgramOutput("<stdout>\n<stderr>")


def test_it_runs_in_its_folder_without_input(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), repr(sys.stdin.read()))"
    assert python(code, tmp_path).text == f"{tmp_path.resolve()} ''"


def test_it_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "a-secret")
    monkeypatch.setenv("DATABASE_URL", "another-secret")
    seen = python("import os; print(sorted(os.environ))", tmp_path).text
    assert set(eval(seen)) <= {*BASE_ENVIRONMENT, "__CF_USER_TEXT_ENCODING", "LC_CTYPE"}


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    argv = (sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo `id` > x")
    assert run_program(argv, tmp_path, timeout=20).text == "$HOME; echo `id` > x"
    assert not (tmp_path / "x").exists()


def test_a_failure_keeps_what_was_printed(tmp_path: Path) -> None:
    assert python("print('half'); raise SystemExit(3)", tmp_path) == ProgramOutput("half", failed=True)


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
    assert printed == ProgramOutput("[stopped after 0.5 seconds]", failed=True)
    assert time.monotonic() - began < 20


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60']).pid, flush=True); sys.stdin.read()"
    )
    child = int(python(code, tmp_path, timeout=3).text.split()[0])
    deadline = time.monotonic() + 60
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


pytestmark = pytest.mark.django_db


def test_a_program_that_was_not_asked_yet_is_not_sent(session: Session, workspace: Workspace) -> None:
    found = read(session, workspace, "git_status")
    assert not found.sent and found.problem.startswith("Not read yet")


def test_the_last_reading_is_sent_without_a_time_that_would_change_every_minute(
    session: Session, workspace: Workspace
) -> None:
    reading(session, "git_status", "## main", age=200)
    assert value(session, workspace, "git_status") == {"output": "## main"}


def test_an_old_reading_says_how_old_it_is(session: Session, workspace: Workspace) -> None:
    reading(session, "git_log", "a1b2 Begin", age=3_600)
    assert value(session, workspace, "git_log") == {
        "output": "a1b2 Begin",
        "as_of": "2026-11-21T08:00:00+00:00",
    }


def test_a_failed_reading_is_said_to_the_person_and_not_sent(session: Session, workspace: Workspace) -> None:
    reading(session, "github", "The program “gh” is not installed on this machine.", failed=True)
    found = read(session, workspace, "github")
    assert not found.sent and "not installed" in found.problem


def keys(session: Session, now: datetime = NOW) -> list[str]:
    return [due.key for due in due_readings(session, now)]


def switch_on(session: Session, *kinds: str) -> None:
    session.settings = {"panels": dict.fromkeys(kinds, True)}
    session.save()


def keep(session: Session, text: str = "## main", now: datetime = NOW) -> None:
    (due,) = due_readings(session, now)
    save_reading(due, ProgramOutput(text), now)


def test_an_ordinary_session_wants_no_program() -> None:
    assert not uses_programs(SessionSettings()) and uses_programs(SessionSettings(panels={"git_log": True}))


def test_each_panel_that_is_on_has_its_reading(session: Session) -> None:
    switch_on(session, "git_status", "github", "todos")
    assert keys(session) == ["git_status", "github"]


def test_git_is_due_every_two_minutes(session: Session) -> None:
    switch_on(session, "git_status")
    keep(session)
    assert keys(session, NOW + timedelta(seconds=119)) == []
    assert keys(session, NOW + timedelta(seconds=120)) == ["git_status"]


def test_a_command_is_due_as_its_row_says(session: Session) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"], every=5)
    AllowedCommand.objects.create(name="off", argv=["df"], enabled=False)
    switch_on(session, "console")
    keep(session)
    assert keys(session, NOW + timedelta(seconds=4)) == []
    assert keys(session, NOW + timedelta(seconds=5)) == ["console:disk"]


def test_what_is_due_costs_two_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"])
    switch_on(session, "console", "git_status", "git_log")
    with django_assert_num_queries(2):
        assert len(keys(session)) == 3


def test_a_command_runs_in_the_persons_folder(session: Session, workspace: object) -> None:
    AllowedCommand.objects.create(name="where", argv=["pwd"])
    switch_on(session, "console")
    (due,) = due_readings(session, NOW)
    assert due.take().text.endswith(f"/{session.owner_id}")


@pytest.mark.parametrize("argv", ["rm -rf .", [], [""], ["ls", 3], {"a": 1}, 0])
def test_a_row_that_is_no_list_of_words_runs_nothing(session: Session, argv: object) -> None:
    AllowedCommand.objects.create(name="odd", argv=argv)
    switch_on(session, "console")
    (due,) = due_readings(session, NOW)
    assert due.take() == ProgramOutput("The command “odd” has no list of words to run.", failed=True)


def test_github_is_read_for_administrators_only(session: Session) -> None:
    switch_on(session, "github")
    session.owner.is_staff = True
    (due,) = due_readings(session, NOW)
    assert "for administrators" in due.take().text
    session.owner.is_superuser = True
    (due,) = due_readings(session, NOW)
    assert "for administrators" not in due.take().text


def test_a_reading_is_replaced_by_the_next(session: Session) -> None:
    switch_on(session, "git_status")
    keep(session)
    keep(session, "## other", NOW + timedelta(minutes=3))
    assert [reading.text for reading in Reading.objects.all()] == ["## other"]


def test_a_reading_of_a_session_that_was_erased_is_dropped(session: Session) -> None:
    switch_on(session, "git_status")
    (due,) = due_readings(session, NOW)
    session.erase()
    save_reading(due, ProgramOutput("## main"), NOW)
    assert not Reading.objects.exists()
