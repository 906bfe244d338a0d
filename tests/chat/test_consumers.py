"""The chat socket: whose it is, what it takes, what it sends."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Sequence
from threading import Event
from typing import Any

import pytest
from autobahn.twisted.websocket import WebSocketServerProtocol
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import OperationalError

from sessions_app.chat.consumers import BROKEN, NOT_FOUND, SIGNED_OUT, TOO_MANY, TRY_LATER, UNSUPPORTED
from sessions_app.models import Run, Session
from sessions_app.runs.run_poller import RunPoller
from sessions_app.runs.runner import Runner
from sessions_app.runs.session_streams import SessionStreams
from sessions_app.runs.start import start_send
from tests.chat.sockets import Socket, connected, opened
from tests.runs.running import running, until


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
async def runner(session: Session) -> AsyncIterator[Runner]:
    async with running() as runner:
        yield runner


async def socket_after_run(runner: Runner, session: Session, user: User) -> Socket:
    """A socket that received a run, so that its viewer is registered."""
    socket = await connected(runner, session, user)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    await socket.receive_until("finished")
    await runner.drain()
    return socket


def test_close_codes_are_of_the_range_that_servers_let_an_application_choose() -> None:
    """Daphne ends a socket with 1011 and an error in the log when it is asked for another."""
    assert all(3000 <= code <= 4999 for code in (SIGNED_OUT, NOT_FOUND, UNSUPPORTED, TOO_MANY, TRY_LATER))


async def test_a_socket_has_no_channel(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Redis each would be subscribed to, and unsubscribed from when the page leaves."""
    layer = get_channel_layer()
    assert layer is not None
    monkeypatch.setattr(type(layer), "new_channel", None)
    await (await socket_after_run(runner, session, alice)).leave()


async def test_bytes_are_no_command(runner: Runner, session: Session, alice: User) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_to(bytes_data=b"{}")
    assert await socket.receive_code() == UNSUPPORTED


async def test_a_message_is_answered_to_its_end(runner: Runner, session: Session, alice: User) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    events = await socket.receive_until("finished")
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[-1]["status"] == "completed"
    await socket.disconnect()


async def test_a_session_of_somebody_else_is_closed_as_not_found(
    runner: Runner, session: Session, bob: User
) -> None:
    assert await (await opened(runner, session, bob)).receive_code() == NOT_FOUND


async def test_nobody_is_told_to_sign_in(runner: Runner, session: Session) -> None:
    assert await (await opened(runner, session, None)).receive_code() == SIGNED_OUT


async def test_a_second_tab_follows_the_run_of_the_first(
    runner: Runner, session: Session, alice: User
) -> None:
    first, second = await connected(runner, session, alice), await connected(runner, session, alice)
    await first.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    assert await first.receive_until("finished") == await second.receive_until("finished")
    await first.disconnect()
    await second.disconnect()


async def test_closing_the_tab_does_not_end_the_run(runner: Runner, session: Session, alice: User) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    await socket.receive_until("started")
    await socket.disconnect()
    await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.COMPLETED


async def test_a_reload_joins_the_running_answer(runner: Runner, session: Session, alice: User) -> None:
    first = await connected(runner, session, alice)
    await first.send_command(type="send", client_id=uuid.uuid4(), text="/slow")
    run = (await first.receive_until("delta"))[0]["run"]
    again = await opened(runner, session, alice)
    assert (await again.receive_event())["active_run"] == run
    await again.send_command(type="join", run=run, after=0)
    assert (await again.receive_event())["seq"] == 1
    await first.send_command(type="stop", run=run)
    assert (await again.receive_until("finished"))[-1]["status"] == "stopped"
    await first.disconnect()
    await again.disconnect()


async def test_joining_a_run_that_is_long_over_says_so(runner: Runner, session: Session, alice: User) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    end = (await socket.receive_until("finished"))[-1]
    await runner.drain()
    late = await connected(runner, session, alice)
    await late.send_command(type="join", run=end["run"], after=end["seq"])
    assert await late.receive_event() == end
    await socket.disconnect()
    await late.disconnect()


@pytest.mark.parametrize("writes_now", [False, True])
async def test_a_page_that_does_not_acknowledge_is_sent_a_window_and_no_more(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch, writes_now: bool
) -> None:
    monkeypatch.setattr("sessions_app.chat.consumers.WINDOW", 5)
    monkeypatch.setattr(Socket, "writes_now", writes_now)
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="/long")
    events = [await socket.receive_event() for _ in range(5)]
    assert await socket.receive_nothing(timeout=0.3)
    await socket.send_command(type="ack", run=events[0]["run"], seq=10_000)
    events += await socket.receive_until("finished")
    assert [event["seq"] for event in events] == list(range(len(events)))
    await socket.disconnect()


async def test_what_the_server_sends_at_once_goes_no_other_way(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def write_now(socket: Socket, texts: Sequence[str]) -> bool:
        if '"type":"finished"' in texts[-1]:
            return False
        written.extend(json.loads(text)["seq"] for text in texts)
        return True

    monkeypatch.setattr(Socket, "writes_now", True)
    monkeypatch.setattr(Socket, "write_now", write_now)
    socket = await connected(runner, session, alice)
    # By the end of an answer the session is followed; its beginning may come before that.
    await socket.send_message("Hello")
    await socket.receive_until("finished")
    written.clear()
    await socket.send_message("Again")
    events = await socket.receive_until("finished")
    sent = [event["seq"] for event in events]
    # The write with the end was refused, so that came by the usual way.
    assert written and sorted(written + sent) == list(range(events[-1]["seq"] + 1))
    await socket.disconnect()


@pytest.mark.parametrize(
    "text", ["no json", "{}", '{"type":"format_disk"}', '{"type":"send","client_id":"x","text":"hi"}']
)
async def test_what_is_no_command_is_refused_with_words(
    runner: Runner, session: Session, alice: User, text: str
) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_to(text_data=text)
    refused = await socket.receive_event()
    assert refused["type"] == "refused" and refused["message"]
    await socket.disconnect()


async def test_a_message_sent_while_answering_waits_in_sight(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="/slow")
    await socket.receive_until("delta")
    second = uuid.uuid4()
    await socket.send_command(type="send", client_id=second, text="me too")
    waiting = (await socket.receive_until("queue"))[-1]["messages"]
    assert waiting == [{"client_id": str(second), "text": "me too", "files": 0}]
    await socket.send_command(type="withdraw", client_id=second)
    assert (await socket.receive_until("queue"))[-1]["messages"] == []
    await socket.disconnect()


async def test_an_edit_starts_beside_the_old_words(runner: Runner, session: Session, alice: User) -> None:
    socket = await connected(runner, session, alice)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    first = (await socket.receive_until("finished"))[0]
    trigger = (await Run.objects.select_related("trigger").aget(public=first["run"])).trigger
    assert trigger
    await socket.send_command(type="edit", client_id=uuid.uuid4(), turn=trigger.public, text="Hello again")
    started = (await socket.receive_until("started"))[-1]
    assert started["replaces"] == str(trigger.public) and started["text"] == "Hello again"
    await socket.receive_until("finished")
    await socket.disconnect()


async def test_a_page_hears_of_another_branch_once(runner: Runner, session: Session, alice: User) -> None:
    socket = await socket_after_run(runner, session, alice)
    runner.streams[session.pk].set_head_version(1)
    runner.streams[session.pk].set_head_version(1)
    assert await socket.receive_event() == {"type": "moved", "head_version": 1}
    assert await socket.receive_nothing(timeout=0.2)
    await socket.disconnect()


async def test_a_look_at_the_rows_finds_the_other_branch(
    runner: Runner, session: Session, alice: User
) -> None:
    socket = await connected(runner, session, alice)
    await Session.objects.filter(pk=session.pk).aupdate(head_version=3)
    await RunPoller(runner).poll()
    assert await socket.receive_event() == {"type": "moved", "head_version": 3}
    late = await opened(runner, session, alice)
    assert (await late.receive_event())["head_version"] == 3
    await socket.disconnect()
    await late.disconnect()


async def test_a_page_hears_of_another_title(runner: Runner, session: Session, alice: User) -> None:
    socket = await socket_after_run(runner, session, alice)
    runner.streams[session.pk].set_title("Better")
    assert await socket.receive_event() == {"type": "titled", "title": "Better"}
    await socket.disconnect()


def lost(*_: object, **__: object) -> Any:
    raise OperationalError("the connection is lost")


def test_daphne_sends_every_close_code() -> None:
    protocol = WebSocketServerProtocol()
    protocol.state = protocol.STATE_CLOSED
    for code in (BROKEN, NOT_FOUND, SIGNED_OUT, TOO_MANY, TRY_LATER):
        protocol.sendClose(code)
    with pytest.raises(Exception, match="invalid close code"):
        protocol.sendClose(1011)


async def test_a_page_whose_events_break_off_is_closed_to_come_again(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sessions_app.runs.session_streams.newest_run_and_queue", lost)
        socket = await connected(runner, session, alice)
        assert await socket.receive_code() == BROKEN
    assert "follow_failed" in caplog.text and not runner.streams
    await (await connected(runner, session, alice)).disconnect()


async def test_a_page_gets_a_run_that_ended_before_the_rows_of_its_session_were_read(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, load = asyncio.Event(), SessionStreams._load

    async def slowly(*given: Any) -> None:
        await may_read.wait()
        await load(*given)

    monkeypatch.setattr(SessionStreams, "_load", slowly)
    socket = await connected(runner, session, alice)
    await runner.send(session.pk, uuid.uuid4(), "Hello")
    await runner.drain()
    runner.streams[session.pk].set_title("Better")
    may_read.set()
    told = [event["type"] for event in await socket.receive_until("finished")]
    assert told[:2] == ["titled", "started"]
    await socket.leave()


async def test_a_socket_that_a_command_ended_is_no_viewer_any_more(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = await socket_after_run(runner, session, alice)
    monkeypatch.setattr("sessions_app.runs.runner.start_send", lost)
    await socket.send_message("Hello")
    assert await socket.receive_code() == BROKEN
    assert await until_idle(runner)


async def test_a_socket_that_a_defect_ended_is_no_viewer_any_more(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("a defect")

    socket = await socket_after_run(runner, session, alice)
    monkeypatch.setattr("sessions_app.runs.runner.start_send", broken)
    await socket.send_message("Hello")
    with pytest.raises(ValueError, match="a defect"):
        await socket.wait()
    assert await until_idle(runner)


async def test_a_message_is_answered_though_its_page_was_cut_off_while_it_was_stored(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Daphne cancels the application ten seconds after its client went, within whatever it does."""
    has_begun, may_end = Event(), Event()

    def slowly(*given: Any, **named: Any) -> Run | None:
        has_begun.set()
        assert may_end.wait(60)
        return start_send(*given, **named)

    monkeypatch.setattr("sessions_app.runs.runner.start_send", slowly)
    socket = await connected(runner, session, alice)
    await socket.send_message("Hello")
    await asyncio.to_thread(has_begun.wait, 60)
    socket.future.cancel()
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.wait([socket.future])
    await until(Run.objects.filter(status=Run.Status.COMPLETED).aexists)


async def until_idle(runner: Runner) -> bool:
    """Whether the followers that were cancelled end."""
    for _ in range(10):
        await asyncio.sleep(0)
    return not runner.streams
