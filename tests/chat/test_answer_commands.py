"""A command that a page sends again, since it does not know what became of it."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner
from tests.chat.sockets import connected
from tests.chat.test_consumers import runner, session

__all__ = ["runner", "session"]


@pytest.mark.parametrize("kind", ["send", "retry", "edit"])
async def test_one_that_was_begun_is_known_and_begins_no_other_run(
    runner: Runner, session: Session, alice: User, kind: str
) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_message("Hello")
    await socket.receive_until("finished")
    first = await Run.objects.select_related("trigger").aget()
    assert first.trigger is not None
    turn = first.trigger.public
    fields: dict[str, dict[str, Any]] = {
        "send": {"text": "And now?"},
        "retry": {"run": first.public, "turn": turn},
        "edit": {"turn": turn, "text": "Hello again"},
    }
    command = {"type": kind, "client_id": uuid.uuid4(), **fields[kind]}
    await socket.send_command(**command)
    assert (await socket.receive_until("finished"))[-1]["status"] == "completed"
    await socket.send_command(**command)
    known = (await socket.receive_until("known"))[-1]
    assert known["client_id"] == str(command["client_id"])
    assert await Run.objects.acount() == 2
    await socket.leave()


async def test_one_that_waits_is_in_the_queue_and_not_known(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_message("/slow please")
    await socket.receive_until("started")
    waiting = {"type": "send", "client_id": uuid.uuid4(), "text": "And then?"}
    await socket.send_command(**waiting)
    await socket.receive_until("queue")
    await socket.send_command(**waiting)
    run = await Run.objects.aget()
    await socket.send_command(type="stop", run=run.public)
    events = await socket.receive_until("finished")
    assert "known" not in {event["type"] for event in events}
    await socket.leave()
