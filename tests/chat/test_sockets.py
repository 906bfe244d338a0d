"""Who may hold a socket, how many, and until when."""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as StoredSession
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.chat.consumers import SIGNED_OUT, TOO_MANY, TRY_LATER
from sessions_app.chat.handshake import Handshakes
from sessions_app.chat.sockets import START_BURST, STARTS_PER_SECOND, Sockets
from sessions_app.models import PersonalLimits, Run, Session
from sessions_app.runs.runner import Runner
from tests.chat.sockets import Socket, connected, cookie_of, greeted, opened, opened_by, signed_in, sockets_of
from tests.runs.running import running


@pytest.fixture
def session(transactional_db: None, alice: User) -> Session:
    return Session.objects.create(owner=alice, model="gemini-3-flash-preview")


@pytest.fixture
async def runner(session: Session) -> AsyncIterator[Runner]:
    async with running() as runner:
        yield runner


@pytest.fixture
async def sockets(runner: Runner) -> Sockets:
    """The registry at work, as in a server."""
    found = sockets_of(runner)
    found.start()
    return found


@pytest.fixture
def browser(session: Session, alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
async def socket(runner: Runner, session: Session, browser: Client) -> AsyncIterator[Socket]:
    found = await greeted(await opened_by(runner, session, cookie_of(browser)))
    yield found
    await found.leave()


def sign_out(browser: Client, alice: User) -> None:
    assert browser.post(reverse("sign-out")).status_code == 302


def deactivate(browser: Client, alice: User) -> None:
    alice.is_active = False
    alice.save()


def change_password(browser: Client, alice: User) -> None:
    alice.set_password("looking glass")
    alice.save()


def delete_user(browser: Client, alice: User) -> None:
    alice.delete()


def delete_stored_session(browser: Client, alice: User) -> None:
    StoredSession.objects.get().delete()


@pytest.mark.parametrize("end", [sign_out, deactivate, change_password, delete_user, delete_stored_session])
async def test_a_socket_ends_with_the_sign_in(
    socket: Socket, sockets: Sockets, browser: Client, alice: User, end: object
) -> None:
    await sync_to_async(end)(browser, alice)  # type: ignore[call-overload]
    assert await socket.receive_code() == SIGNED_OUT


def deactivate_by_sql(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_active=False)


def change_password_by_sql(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(password="other")


def sign_out_by_sql(alice: User) -> None:
    StoredSession.objects.all()._raw_delete("default")


def expire(alice: User) -> None:
    StoredSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


IN_ANOTHER_PROCESS = [deactivate_by_sql, change_password_by_sql, sign_out_by_sql, expire]
"""What no signal of this process tells."""


@pytest.mark.parametrize("end", IN_ANOTHER_PROCESS)
async def test_the_next_check_ends_a_socket_whose_sign_in_ended_elsewhere(
    socket: Socket, runner: Runner, alice: User, end: object
) -> None:
    await sockets_of(runner).check()
    assert await socket.receive_nothing(timeout=0.1)
    await sync_to_async(end)(alice)  # type: ignore[call-overload]
    await sockets_of(runner).check()
    assert await socket.receive_code() == SIGNED_OUT


@pytest.mark.parametrize("end", IN_ANOTHER_PROCESS)
async def test_no_command_is_carried_out_after_the_sign_in_ended(
    socket: Socket, alice: User, end: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.chat.sockets.FRESH_SECONDS", 0.0)
    await sync_to_async(end)(alice)  # type: ignore[call-overload]
    await socket.send_message("Hello")
    assert await socket.receive_code() == SIGNED_OUT
    assert not await Run.objects.aexists()


class Neighbour:
    """Another person's socket, which counts who looks at whose it is."""

    user_id, looks = 0, 0

    @property
    def session_key(self) -> str:
        self.looks += 1
        return "another"

    async def end_sign_in(self) -> None:
        raise AssertionError


async def test_a_command_looks_at_no_other_persons_socket(
    socket: Socket, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be thousands."""
    monkeypatch.setattr("sessions_app.chat.sockets.FRESH_SECONDS", 0.0)
    neighbour: Any = Neighbour()
    assert sockets_of(runner).add(neighbour, limit=1)
    neighbour.looks = 0
    await socket.send_message("Hello")
    await socket.receive_until("finished")
    assert neighbour.looks == 0


@pytest.mark.usefixtures("sockets")
async def test_other_devices_and_other_people_stay(
    socket: Socket, runner: Runner, browser: Client, session: Session, bob: User
) -> None:
    alice = await User.objects.aget(username="alice")
    phone = await connected(runner, session, alice)
    theirs = await Session.objects.acreate(owner=bob, model=session.model)
    stranger = await connected(runner, theirs, bob)
    await sync_to_async(sign_out)(browser, alice)
    assert await socket.receive_code() == SIGNED_OUT
    for other in (phone, stranger):
        await other.send_message("Hello")
        await other.receive_until("finished")
        await other.leave()


@pytest.mark.usefixtures("sockets")
async def test_the_browser_in_which_the_password_was_changed_connects_again(
    socket: Socket, runner: Runner, session: Session, browser: Client, alice: User
) -> None:
    phone = await sync_to_async(signed_in)(alice)
    alice.is_staff = alice.is_superuser = True
    await alice.asave()
    form = {
        "old_password": "wonderland",
        "new_password1": "looking-glass-7",
        "new_password2": "looking-glass-7",
    }
    changed = await sync_to_async(browser.post)(reverse("admin:password_change"), form)
    assert changed.status_code == 302
    assert await socket.receive_code() == SIGNED_OUT
    again = await greeted(await opened_by(runner, session, cookie_of(browser)))
    await again.leave()
    old = await opened_by(runner, session, cookie_of(phone))
    assert await old.receive_code() == SIGNED_OUT


async def test_an_answer_goes_on_without_the_one_who_signed_out(
    socket: Socket, runner: Runner, sockets: Sockets, browser: Client, alice: User
) -> None:
    await socket.send_message("Hello")
    await socket.receive_until("started")
    await sync_to_async(sign_out)(browser, alice)
    assert await socket.receive_code() == SIGNED_OUT
    await runner.drain()
    assert (await Run.objects.aget()).status == Run.Status.COMPLETED


async def test_a_person_has_so_many_sockets_and_no_more(
    runner: Runner, session: Session, alice: User
) -> None:
    await PersonalLimits.objects.acreate(user=alice, sockets=2)
    kept = [await connected(runner, session, alice) for _ in range(2)]
    third = await opened(runner, session, alice)
    refused = await third.receive_event()
    assert refused["message"] == "Chat pages open: 2. Your limit is 2."
    assert await third.receive_code() == TOO_MANY
    await third.leave()
    await kept.pop().leave()
    kept.append(await connected(runner, session, alice))
    for socket in kept:
        await socket.leave()
    assert sockets_of(runner).count(alice.pk) == 0


async def test_a_message_too_many_comes_back_with_the_reason(socket: Socket, alice: User) -> None:
    await PersonalLimits.objects.acreate(user=alice, sends_per_minute=1)
    await socket.send_message("Hello")
    await socket.receive_until("finished")
    client_id = await socket.send_message("And now?")
    refused = (await socket.receive_until("refused"))[-1]
    assert refused["client_id"] == str(client_id)
    assert refused["message"] == "Messages sent in the last minute: 1. Your limit is 1."
    assert refused["hint"].startswith("The next can be sent in ")
    assert await Run.objects.acount() == 1


async def test_handshakes_beyond_those_that_may_wait_are_told_to_try_later(
    runner: Runner, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = sockets_of(runner)
    first = await connected(runner, session, alice)
    await sockets.handshakes.close()
    sockets.handshakes = Handshakes(waiting_limit=0)
    assert await (await opened(runner, session, alice)).receive_code() == TRY_LATER
    await first.send_message("Hello")
    await first.receive_until("finished")
    await first.leave()


async def test_a_handshake_never_waits_for_the_thread_of_the_runs(
    runner: Runner, session: Session, alice: User
) -> None:
    cookie = cookie_of(await sync_to_async(signed_in)(alice))
    release = threading.Event()
    block = asyncio.ensure_future(sync_to_async(release.wait)(30))
    try:
        socket = await greeted(await opened_by(runner, session, cookie))
    finally:
        release.set()
        await block
    await socket.leave()


@pytest.mark.parametrize("cookie", ["", "pipeweb_session=", "pipeweb_session=nonsense", "other=1"])
async def test_a_cookie_of_nobody_signs_nobody_in(runner: Runner, session: Session, cookie: str) -> None:
    assert await (await opened_by(runner, session, cookie)).receive_code() == SIGNED_OUT


async def test_commands_before_the_end_of_a_refused_handshake_are_dropped(
    runner: Runner, session: Session
) -> None:
    socket = await opened_by(runner, session, "")
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Hello")
    assert await socket.receive_code() == SIGNED_OUT
    assert await socket.receive_nothing(timeout=0.1)
    assert not await Run.objects.aexists()


async def test_a_burst_of_messages_waits_and_nobody_else_does(sockets: Sockets) -> None:
    delays = [sockets.start_delay(1) for _ in range(START_BURST + 2)]
    assert delays[:START_BURST] == [0.0] * START_BURST
    assert 0 < delays[-2] < delays[-1] <= 2 / STARTS_PER_SECOND
    assert sockets.start_delay(2) == 0.0


async def test_each_answer_that_is_asked_for_counts_for_the_person(
    socket: Socket, sockets: Sockets, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def start_delay(user_id: int) -> float:
        counted.append(user_id)
        return 0.0

    monkeypatch.setattr(sockets, "start_delay", start_delay)
    await socket.send_message("Hello")
    await socket.receive_until("finished")
    assert counted == [alice.pk]
