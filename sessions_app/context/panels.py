"""The panels of a session: read for a page, refreshed for a request.

`read_panels` looks and changes nothing. `refresh` also keeps what was sent: a panel's time moves only
when the hash of its content differs from the one that was kept (seed 4).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sessions_app.context.contents import Found, Sources, read_content
from sessions_app.context.facts import user_turns
from sessions_app.context.files import ReadFile
from sessions_app.context.kinds import KINDS, PanelKind, is_on
from sessions_app.context.rows import STATES, Row, read_rows
from sessions_app.models import Notification, PanelState, Reference, Session, SessionSettings
from sessions_app.prompt.panels import Panel, Stamp, content_of, in_full, restamp
from sessions_app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReadPanel:
    """One panel as it would be sent now.

    `panel` is None when it is off, or on with nothing to say. `changed` tells that its content is not
    the one that was sent last; `tokens` are estimated; `problem` is a sentence for the person.
    """

    kind: PanelKind
    is_on: bool
    panel: Panel | None = None
    sha256: str = ""
    tokens: int = 0
    page: int = 1
    pages: int = 1
    changed: bool = False
    problem: str = ""
    files: tuple[ReadFile, ...] = ()


def read_panels(
    session: Session,
    workspace: Workspace,
    now: datetime,
    *,
    tools: Mapping[str, bool] | None = None,
    asked: Collection[str] = (),
) -> list[ReadPanel]:
    """Every kind of panel, in the product's order, with the content of those that are on.

    `asked` names kinds to read although they are off; `tools` tells of every tool whether it is on.
    One query, and one more each for history and statistics where they are read.
    """
    options = session.options
    shown = {*_kinds_on(options), *asked}
    rows = read_rows(session, (STATES, *shown))
    return _read(Sources(session, options, workspace, now, rows, tools or {}), shown)


def refresh(
    session: Session, workspace: Workspace, now: datetime, *, tools: Mapping[str, bool] | None = None
) -> list[ReadPanel]:
    """The panels that are on, as they are sent; what changed is written down, in one statement.

    Files whose time to live is over are switched off first. `now` is the exact time: two changes
    within one run must not look simultaneous.
    """
    options = session.options
    shown = _kinds_on(options)
    rows = read_rows(session, (STATES, *shown))
    if _close_expired(session, rows["file_references"]):
        rows = read_rows(session, (STATES, *shown))
    read = _read(Sources(session, options, workspace, now, rows, tools or {}), shown)
    _keep(session, read, rows[STATES], now)
    return [one for one in read if one.is_on]


def _kinds_on(options: SessionSettings) -> list[str]:
    return [kind.key for kind in KINDS if is_on(kind, options.panels)]


def _read(sources: Sources, shown: Collection[str]) -> list[ReadPanel]:
    states = {row.text: row for row in sources.rows[STATES]}
    return [_panel(kind, kind.key in shown, sources, states.get(kind.key)) for kind in KINDS]


def _panel(kind: PanelKind, is_shown: bool, sources: Sources, state: Row | None) -> ReadPanel:
    on = is_on(kind, sources.options.panels)
    if not is_shown:
        return ReadPanel(kind, on)
    found = read_content(kind.key, sources)
    read = ReadPanel(kind, on, problem=found.problem, files=found.files or ())
    return _with_content(read, found, state, sources.now) if found.value else read


def _with_content(read: ReadPanel, found: Found, state: Row | None, now: datetime) -> ReadPanel:
    page = state.number if state else 1
    content = content_of(found.value, page) if found.files is None else in_full(found.value)
    last = Stamp(state.extra, state.stamp) if state else None
    stamp = restamp(last, content.sha256, now)
    return replace(
        read,
        panel=Panel(read.kind.key, read.kind.title, content.value, stamp.changed),
        sha256=content.sha256,
        tokens=content.tokens,
        page=content.page,
        pages=content.pages,
        changed=stamp is not last,
    )


def _keep(session: Session, read: Sequence[ReadPanel], states: Sequence[Row], now: datetime) -> None:
    """One statement, and none when nothing changed.

    A panel that went away is kept as empty: when it comes back it is new, whatever it says.
    """
    sent = {one.kind.key: one for one in read if one.is_on and one.panel}
    moved = [(key, one.sha256, one.tokens) for key, one in sent.items() if one.changed]
    gone = [(row.text, "", 0) for row in states if row.extra and row.text not in sent]
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


def _close_expired(session: Session, references: Sequence[Row]) -> bool:
    """Switches off the files that have been open for as many messages as they were opened for."""
    mortal = [row for row in references if row.a and not row.flag]
    if not mortal:
        return False
    turns = user_turns(session)
    expired = [row for row in mortal if turns - row.b > row.a]
    if not expired:
        return False
    Reference.objects.filter(pk__in=[row.number for row in expired]).update(enabled=False)
    for row in expired:
        Notification.objects.note(
            session.pk,
            Notification.Kind.CUSTOM,
            f"“{row.text}” was closed after {row.a} messages. Open it again if it is needed.",
            source=f"file:{row.number}",
            # Nobody has to do anything about it: an open notification would start a run.
            status=Notification.Status.SEEN,
        )
    return True
