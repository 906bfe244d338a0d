"""Programs that panels show (git, gh, allowed commands), run beside the requests and never in their way.

Before a request the due readings are begun. What is done within GRACE goes out with this request; what
takes longer goes on aside, and the request shows the last reading with its time.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from sessions_app.context.readings import Due, due_readings, keep_reading, wants_programs
from sessions_app.models import Run, Session

GRACE = 0.3
"""Seconds that a person's answer waits for programs at most; git takes a few milliseconds."""

SESSION = Run._meta.get_field("session")

Aside = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


async def look_outside(run: Run, aside: Aside) -> None:
    """Takes the readings that are due. Costs nothing where no panel wants one."""
    if SESSION.is_cached(run) and not wants_programs(run.session.options):
        return
    due = await sync_to_async(_due)(run)
    if due:
        tasks = [aside(_take(one)) for one in due]
        await asyncio.wait(tasks, timeout=GRACE)


async def _take(due: Due) -> None:
    printed = await asyncio.to_thread(due.take)
    await sync_to_async(keep_reading)(due, printed, timezone.now())


def _due(run: Run) -> list[Due]:
    session: Session = run.session
    return due_readings(session, timezone.now()) if wants_programs(session.options) else []
