"""Reads the panels of a session for a page, and refreshes them and their programs for a request.

`read_panels` writes nothing. `refresh` also stores what is sent: the time of a panel changes only when the
hash of its content differs from the stored one (seed 4).
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from pydantic import Field

from sessions_app.context.arguments import Render, arguments_now, rendering_of
from sessions_app.context.workspaces import workspace_of
from sessions_app.database import database_sync_to_async
from sessions_app.models import PanelState, Reading, Run, Session, SessionSettings
from sessions_app.panels import KINDS
from sessions_app.panels.base import DueReading, PanelInputs, PanelKind, ProgramOutput, ReadPanel, SentPanel
from sessions_app.panels.context_actions import lock_of
from sessions_app.panels.file_pages import ReadFile
from sessions_app.panels.gauge_reading import read_gauge
from sessions_app.panels.rows import Moment, PanelRow, Rows, RowSource, read_rows
from sessions_app.prompt.panels import Panel, PanelContent, Stamp, content_of, full_content, restamp
from sessions_app.tools import ToolContext
from sessions_app.workspace import Workspace


class StateRow(PanelRow):
    """What was last sent of a panel, and the page that it shows."""

    key: str
    sha256: str = ""
    tokens: int = 0
    page: int = 1
    changed_at: Moment = Field(default_factory=timezone.now)


class PanelStates(RowSource[StateRow]):
    key = "panel_states"
    model = PanelState
    row = StateRow
    is_transferred = True
    transfer_reason = "The copy begins with the same panels in the same order, so its prefix stays cached."


STATES = PanelStates()

States = Mapping[str, StateRow]
"""Key of a panel → its state."""


def read_panels(
    session: Session,
    workspace: Workspace,
    now: datetime,
    *,
    tools: Mapping[str, bool] | None = None,
    asked: Collection[str] = (),
) -> list[ReadPanel]:
    """Every kind of panel, in the product's order, with the content of those that are on.

    `asked` names kinds to read although they are off; `tools` maps names of tools to whether they are on. One
    query, and one more for each of history and statistics.
    """
    options = session.options
    shown = [kind for kind in KINDS if kind.is_on(options) or kind.key in asked]
    rows = read_rows(session, (STATES, *shown))
    render = rendering_of(session, lambda: arguments_now(session).values)
    inputs = PanelInputs(session, options, workspace, now, rows, tools or {}, now, render)
    read = {one.kind.key: one for one in _read_kinds(inputs, shown)}
    return [read.get(kind.key) or ReadPanel(kind, is_on=False) for kind in KINDS]


def refresh(
    session: Session,
    workspace: Workspace,
    now: datetime,
    *,
    tools: Mapping[str, bool] | None = None,
    began: datetime | None = None,
    render: Render | None = None,
) -> list[ReadPanel]:
    """Returns the panels that are on, as they are sent, and stores what changed in one statement.

    Expired rows are ended first. `now` is the exact time: two changes within one run differ in it. `began` is
    the start of the run, `now` by default; `render` renders with its arguments, by default those of now.
    """
    options = session.options
    shown = [kind for kind in KINDS if kind.is_on(options)]
    rows = read_rows(session, (STATES, *shown))
    if [kind for kind in shown if kind.expire(session, rows)]:
        rows = read_rows(session, (STATES, *shown))
    render = render or rendering_of(session, lambda: arguments_now(session).values)
    inputs = PanelInputs(session, options, workspace, now, rows, tools or {}, began or now, render)
    read = _read_kinds(inputs, shown)
    _save_states(session, read, STATES.of(inputs), now)
    return read


def tool_context(run: Run, *, gauged: bool = False) -> ToolContext:
    """The rows and the workspace that all parallel calls of a round read. One query, with the gauge three."""
    session = run.session
    rows: Rows = read_rows(session, [kind for kind in KINDS if kind.tools])
    workspace = workspace_of(session.owner_id)
    return ToolContext(
        now=timezone.now(),
        workspace=workspace,
        rows=rows,
        timezone=session.options.time_zone,
        off=frozenset(kind.key for kind in KINDS if not kind.is_on(session.options)),
        locks={kind.key: lock_of(kind, session.options) for kind in KINDS},
        gauge=read_gauge(session) if gauged else None,
    )


def _read_kinds(inputs: PanelInputs, shown: Collection[PanelKind[Any]]) -> list[ReadPanel]:
    states = {state.key: state for state in STATES.of(inputs)}
    return [_read_kind(kind, inputs, states) for kind in shown]


def _read_kind(kind: PanelKind[Any], inputs: PanelInputs, states: States) -> ReadPanel:
    is_on, found = kind.is_on(inputs.options), kind.value(inputs)
    if found.files is not None:
        sent = tuple(_sent_file(kind, file, states, inputs.now) for file in found.files)
        return ReadPanel(kind, is_on, sent, problem=found.problem, files=found.files)
    if not found.value:
        return ReadPanel(kind, is_on, problem=found.problem)
    key = kind.key
    content = content_of(found.value, states[key].page if key in states else 1)
    one = _sent(key, kind.title, content, states, inputs.now)
    return ReadPanel(kind, is_on, (one,), content.page, content.pages, found.problem)


def _sent_file(kind: PanelKind[Any], file: ReadFile, states: States, now: datetime) -> SentPanel:
    key, title = f"{kind.key}/{file.path}", f"{kind.title}: {file.path}"
    return _sent(key, title, full_content(file.value), states, now)


def _sent(key: str, title: str, content: PanelContent, states: States, now: datetime) -> SentPanel:
    state = states.get(key)
    last = Stamp(state.sha256, state.changed_at) if state else None
    stamp = restamp(last, content.sha256, now)
    panel = Panel(key, title, content.value, stamp.changed)
    return SentPanel(panel, content.sha256, content.tokens, stamp is not last, state is None)


def _save_states(
    session: Session, read: Sequence[ReadPanel], states: Sequence[StateRow], now: datetime
) -> None:
    """Writes in one statement, or in none when nothing changed.

    A panel that is not sent any more is stored as empty, so it counts as changed when it returns.
    """
    sent = {one.panel.key: one for each in read for one in each.sent}
    moved = [(key, one.sha256, one.tokens) for key, one in sent.items() if one.changed]
    gone = [(state.key, "", 0) for state in states if state.sha256 and state.key not in sent]
    rows = [
        PanelState(session=session, key=key, sha256=sha256, tokens=tokens, changed_at=now)
        for key, sha256, tokens in (*moved, *gone)
    ]
    if rows:
        PanelState.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["session", "key"],
            update_fields=["sha256", "tokens", "changed_at"],
        )


LONGEST_WAIT = 0.3
"""Seconds that a request waits for programs; git takes a few milliseconds."""

SESSION = Run._meta.get_field("session")

StartTask = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


def uses_programs(options: SessionSettings) -> bool:
    """Whether any panel that is on shows the output of a program. No query."""
    return any(kind.runs_programs and kind.is_on(options) for kind in KINDS)


def due_readings(session: Session, now: datetime) -> list[DueReading]:
    """The programs to run for the panels that are on."""
    options = session.options
    if not uses_programs(options):
        return []
    read = dict(Reading.objects.filter(session=session).values_list("key", "read_at"))
    return [due for kind in KINDS if kind.is_on(options) for due in kind.due(session, read, now)]


def save_reading(due: DueReading, printed: ProgramOutput, now: datetime) -> None:
    """Stores the output, unless the session was deleted meanwhile."""
    if Session.objects.filter(pk=due.session).exists():
        Reading.objects.update_or_create(
            session_id=due.session,
            key=due.key,
            defaults={"text": printed.text, "failed": printed.failed, "read_at": now},
        )


async def refresh_programs(run: Run, start: StartTask) -> None:
    """Runs the programs that are due, for at most LONGEST_WAIT.

    The output of those that end in time is part of the next request. `start` makes a task of each, which
    continues after that; the request then has the previous output.
    """
    if SESSION.is_cached(run) and not uses_programs(run.session.options):
        return
    due = await database_sync_to_async(lambda: due_readings(run.session, timezone.now()))()
    if due:
        tasks = [start(_run_and_save(one)) for one in due]
        await asyncio.wait(tasks, timeout=LONGEST_WAIT)


async def _run_and_save(due: DueReading) -> None:
    printed = await asyncio.to_thread(due.take)
    await database_sync_to_async(save_reading)(due, printed, timezone.now())
