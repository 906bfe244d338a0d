"""The log, and the tool that adds to it."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.models import LogEntry, Session
from sessions_app.panels import TOOLBOX
from sessions_app.panels.kinds.logs import AddLog
from sessions_app.tools import ToolContext, ToolResult


async def call(context: ToolContext, name: str, **args: Any) -> ToolResult:
    return await TOOLBOX.run(name, args, context, enabled=TOOLBOX.names)


async def test_a_line_is_added_to_the_log(context: ToolContext) -> None:
    assert (await call(context, "add_log", text="chose rye")).effects == (AddLog(text="chose rye"),)


@pytest.mark.parametrize("more", [0, 1, 3])
def test_lines_that_are_older_than_the_newest_hundred_are_counted(
    client: Client, session: Session, more: int
) -> None:
    LogEntry.objects.bulk_create(LogEntry(session=session, text=f"line {n}") for n in range(100 + more))
    page = client.get(reverse("details", args=[session.public])).content.decode()
    body = client.get(reverse("panel", args=[session.public, "logs"])).content.decode()
    assert body.count('class="entry"') == 100
    said = {0: "", 1: "1 older line is kept", 3: "3 older lines are kept"}[more]
    assert ("neither sent nor shown" in body + page) is bool(more) and said in body + page
