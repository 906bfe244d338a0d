"""The chat socket: whose it is, what it takes, what it sends."""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser, User

from sessions_app.chat.consumers import NOT_FOUND, ChatConsumer
from sessions_app.models import Run, Session
from sessions_app.runs.runner import Runner
from sessions_app.runs.watch import Watch
from tests.runs.running import running


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
async def runner(session: Session) -> AsyncIterator[Runner]:
    async with running() as runner:
        yield runner


class Socket(WebsocketCommunicator):
    """A browser's end of the socket."""

    def __init__(self, runner: Runner, session: Session, user: User | AnonymousUser) -> None:
        super().__init__(ChatConsumer.as_asgi(runner=runner), f"/ws/s/{session.public}/")
        scope: Any = self.scope
        scope |= {"user": user, "url_route": {"kwargs": {"public": session.public}}}

    async def tell(self, **command: Any) -> None:
        await self.send_to(text_data=json.dumps(command, default=str))

    async def hear(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(await self.receive_from(timeout=5))
        return event

    async def hear_until(self, kind: str) -> list[dict[str, Any]]:
        heard = [await self.hear()]
        while heard[-1]["type"] != kind:
            heard.append(await self.hear())
        return heard


async def joined(runner: Runner, session: Session, user: User) -> Socket:
    socket = Socket(runner, session, user)
    await socket.connect()
    assert (await socket.hear())["type"] == "hello"
    return socket


async def listening(runner: Runner, session: Session, user: User) -> Socket:
    """A page that has heard a run, so that its viewer is known to be there."""
    socket = await joined(runner, session, user)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    await socket.hear_until("finished")
    await runner.drain()
    return socket


async def test_a_message_is_answered_to_its_end(runner: Runner, session: Session, alice: User) -> None:
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    heard = await socket.hear_until("finished")
    assert [event["seq"] for event in heard] == list(range(len(heard)))
    assert heard[-1]["status"] == "completed"
    await socket.disconnect()


@pytest.mark.parametrize("who", ["bob", "nobody"])
async def test_a_session_of_somebody_else_is_closed_as_not_found(
    runner: Runner, session: Session, bob: User, who: str
) -> None:
    socket = Socket(runner, session, bob if who == "bob" else AnonymousUser())
    await socket.connect()
    assert (await socket.receive_output())["code"] == NOT_FOUND


async def test_a_second_tab_follows_the_run_of_the_first(
    runner: Runner, session: Session, alice: User
) -> None:
    first, second = await joined(runner, session, alice), await joined(runner, session, alice)
    await first.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    assert await first.hear_until("finished") == await second.hear_until("finished")
    await first.disconnect()
    await second.disconnect()


async def test_closing_the_tab_does_not_end_the_run(runner: Runner, session: Session, alice: User) -> None:
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    await socket.hear_until("started")
    await socket.disconnect()
    await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.COMPLETED


async def test_a_reload_joins_the_running_answer(runner: Runner, session: Session, alice: User) -> None:
    first = await joined(runner, session, alice)
    await first.tell(type="send", client_id=uuid.uuid4(), text="/slow")
    run = (await first.hear_until("delta"))[0]["run"]
    again = Socket(runner, session, alice)
    await again.connect()
    assert (await again.hear())["active_run"] == run
    await again.tell(type="join", run=run, after=0)
    assert (await again.hear())["seq"] == 1
    await first.tell(type="stop", run=run)
    assert (await again.hear_until("finished"))[-1]["status"] == "stopped"
    await first.disconnect()
    await again.disconnect()


async def test_joining_a_run_that_is_long_over_says_so(runner: Runner, session: Session, alice: User) -> None:
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    end = (await socket.hear_until("finished"))[-1]
    await runner.drain()
    late = await joined(runner, session, alice)
    await late.tell(type="join", run=end["run"], after=end["seq"])
    assert await late.hear() == end
    await socket.disconnect()
    await late.disconnect()


async def test_a_page_that_does_not_acknowledge_is_sent_a_window_and_no_more(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.chat.consumers.WINDOW", 5)
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="/long")
    heard = [await socket.hear() for _ in range(5)]
    assert await socket.receive_nothing(timeout=0.3)
    await socket.tell(type="ack", run=heard[0]["run"], seq=10_000)
    heard += await socket.hear_until("finished")
    assert [event["seq"] for event in heard] == list(range(len(heard)))
    await socket.disconnect()


@pytest.mark.parametrize(
    "text", ["no json", "{}", '{"type":"format_disk"}', '{"type":"send","client_id":"x","text":"hi"}']
)
async def test_what_is_no_command_is_refused_with_words(
    runner: Runner, session: Session, alice: User, text: str
) -> None:
    socket = await joined(runner, session, alice)
    await socket.send_to(text_data=text)
    refused = await socket.hear()
    assert refused["type"] == "refused" and refused["message"]
    await socket.disconnect()


async def test_a_message_sent_while_answering_waits_in_sight(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="/slow")
    await socket.hear_until("delta")
    second = uuid.uuid4()
    await socket.tell(type="send", client_id=second, text="me too")
    waiting = (await socket.hear_until("queue"))[-1]["messages"]
    assert waiting == [{"client_id": str(second), "text": "me too", "files": 0}]
    await socket.tell(type="withdraw", client_id=second)
    assert (await socket.hear_until("queue"))[-1]["messages"] == []
    await socket.disconnect()


async def test_an_edit_starts_beside_the_old_words(runner: Runner, session: Session, alice: User) -> None:
    socket = await joined(runner, session, alice)
    await socket.tell(type="send", client_id=uuid.uuid4(), text="Hello")
    first = (await socket.hear_until("finished"))[0]
    trigger = (await Run.objects.select_related("trigger").aget(public=first["run"])).trigger
    assert trigger
    await socket.tell(type="edit", client_id=uuid.uuid4(), turn=trigger.public, text="Hello again")
    started = (await socket.hear_until("started"))[-1]
    assert started["replaces"] == str(trigger.public) and started["text"] == "Hello again"
    await socket.hear_until("finished")
    await socket.disconnect()


async def test_a_page_hears_of_another_branch_once(runner: Runner, session: Session, alice: User) -> None:
    socket = await listening(runner, session, alice)
    runner.stages[session.pk].turn_to(1)
    runner.stages[session.pk].turn_to(1)
    assert await socket.hear() == {"type": "moved", "moves": 1}
    assert await socket.receive_nothing(timeout=0.2)
    await socket.disconnect()


async def test_a_look_at_the_rows_finds_the_other_branch(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await joined(runner, session, alice)
    await Session.objects.filter(pk=session.pk).aupdate(moves=3)
    await Watch(runner).look()
    assert await socket.hear() == {"type": "moved", "moves": 3}
    late = Socket(runner, session, alice)
    await late.connect()
    assert (await late.hear())["moves"] == 3
    await socket.disconnect()
    await late.disconnect()


async def test_a_page_hears_of_another_title(runner: Runner, session: Session, alice: User) -> None:
    socket = await listening(runner, session, alice)
    runner.stages[session.pk].entitle("Better")
    assert await socket.hear() == {"type": "titled", "title": "Better"}
    await socket.disconnect()
