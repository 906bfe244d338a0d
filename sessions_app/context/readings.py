"""What programs outside said last: which reading is due, taking it, keeping it.

A request never waits in the database's thread for a program: it sends the last reading. `runs/outside`
takes the due ones before and beside the requests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from sessions_app.context.git import git_log, git_status
from sessions_app.context.github import github
from sessions_app.context.kinds import KINDS, PROGRAM_KINDS, is_on
from sessions_app.context.programs import Printed, run_program
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import AllowedCommand, Reading, Session, SessionSettings

EVERY = 120
"""Seconds between two readings of git and GitHub."""

LONGEST = 10
"""Seconds that an allowed command may take, whatever its row says."""

QUESTIONS: Mapping[str, Callable[[Path], Printed]] = {
    "git_status": git_status,
    "git_log": git_log,
    "github": github,
}

NOT_YOURS = Printed("GitHub is read with this machine's login, which is for administrators.", failed=True)


@dataclass(frozen=True, slots=True)
class Due:
    """One reading to take: `take` runs the program and blocks until it is done."""

    session: int
    key: str
    take: Callable[[], Printed]


def wants_programs(options: SessionSettings) -> bool:
    """Whether any panel of the session shows what a program says. Costs no query."""
    return bool(_wanted(options))


def due_readings(session: Session, now: datetime) -> list[Due]:
    """The readings of the panels that are on and whose time has come."""
    wanted = _wanted(session.options)
    periods: dict[str, tuple[int, Callable[[], Printed]]] = {
        key: (EVERY, _question(key, session)) for key in wanted if key in QUESTIONS
    }
    if "console" in wanted:
        for command in AllowedCommand.objects.filter(enabled=True):
            periods[f"console:{command.name}"] = (command.every, _command(command, session))
    read = dict(Reading.objects.filter(session=session).values_list("key", "read_at"))
    return [
        Due(session.pk, key, take)
        for key, (every, take) in periods.items()
        if key not in read or now - read[key] >= timedelta(seconds=every)
    ]


def keep_reading(due: Due, printed: Printed, now: datetime) -> None:
    """Writes the reading down, unless its session is gone by now."""
    if Session.objects.filter(pk=due.session).exists():
        Reading.objects.update_or_create(
            session_id=due.session,
            key=due.key,
            defaults={"text": printed.text, "failed": printed.failed, "read_at": now},
        )


def _wanted(options: SessionSettings) -> list[str]:
    return [kind.key for kind in KINDS if kind.key in PROGRAM_KINDS and is_on(kind, options.panels)]


def _question(key: str, session: Session) -> Callable[[], Printed]:
    if key == "github" and not session.owner.is_staff:
        return lambda: NOT_YOURS
    return partial(QUESTIONS[key], workspace_of(session.owner_id).root)


def _command(command: AllowedCommand, session: Session) -> Callable[[], Printed]:
    if not command.is_runnable:
        return lambda: Printed(f"The command “{command.name}” has no list of words to run.", failed=True)
    folder = workspace_of(session.owner_id).root
    return partial(run_program, command.argv, folder, timeout=min(command.timeout, LONGEST))
