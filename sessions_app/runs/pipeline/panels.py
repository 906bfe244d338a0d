"""Stages 6 and 9: the panels of the dynamic layer, read and put in order."""

from django.utils import timezone

from sessions_app.context.panels import ReadPanel
from sessions_app.context.panels import refresh as refresh_panels
from sessions_app.context.workspaces import workspace_of
from sessions_app.prompt.panels import in_order
from sessions_app.runs.pipeline.work import Report, Work


def refresh(work: Work) -> Report:
    """Reads the panels that are on; a panel's time moves only when its content changed."""
    on = frozenset(work.tools)
    tools = {name: name in on for name in work.toolbox.names}
    read = refresh_panels(work.session, workspace_of(work.session.owner_id), timezone.now(), tools=tools)
    work.panels = tuple(one.panel for one in read if one.panel)
    problem = any(one.problem for one in read)
    tokens, moved = sum(one.tokens for one in read), sum(one.changed for one in read)
    return Report(
        f"{len(read)} kinds on",
        f"{len(work.panels)} panels, {tokens:,} tokens, {moved} changed",
        "noticed" if problem else "ok",
        tuple(_line(one) for one in read if one.panel or one.problem),
    )


def order(work: Work) -> Report:
    """Oldest change first, so that a change leaves the bytes before it alone."""
    work.panels = in_order(work.panels)
    since = tuple(f"{panel.key}: since {panel.changed:%Y-%m-%d %H:%M:%S} UTC" for panel in work.panels)
    return Report(f"{len(work.panels)} panels", ", ".join(panel.key for panel in work.panels), details=since)


def _line(read: ReadPanel) -> str:
    """`todos: 120 tokens, changed`; what is wrong stands last."""
    facts = [f"{read.tokens:,} tokens" if read.panel else "not sent"]
    if read.panel:
        facts.append("changed" if read.changed else "as before")
    if read.pages > 1:
        facts.append(f"page {read.page} of {read.pages}")
    facts += [f"{file.path} page {file.page} of {file.pages}" for file in read.files if file.pages > 1]
    return f"{read.kind.key}: {', '.join(facts)}" + (f". {read.problem}" if read.problem else "")
