"""A viewer's side of a run, for tests."""

import uuid
from contextlib import aclosing
from typing import Any

import orjson

from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner

Event = dict[str, Any]


async def send(runner: Runner, session: Session, text: str) -> uuid.UUID:
    """Sends a message that starts a run; answers the run's public id."""
    client_id = uuid.uuid4()
    await runner.send(session.pk, client_id, text)
    return (await Run.objects.aget(client_id=client_id)).public


async def watch(
    runner: Runner, session: Session, run: uuid.UUID, after: int = -1, until: str = "finished"
) -> list[Event]:
    """The run's events from `after` up to the first whose type or kind is `until`."""
    seen: list[Event] = []
    async with aclosing(runner.follow(session.pk, run, after)) as events:
        async for feed, _, wire in events:
            if feed is not None:
                seen.append(orjson.loads(wire))
                if until in (seen[-1]["type"], seen[-1].get("kind")):
                    return seen
    return seen
