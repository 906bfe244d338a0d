"""What the guard lets through: bodies within the limits of their route, from people who may send them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from asgiref.current_thread_executor import CurrentThreadExecutor
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import RequestAborted
from django.db import connections
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from pipeweb import bodies
from pipeweb.bodies import BodyGuard, BodyHandler
from sessions_app.body_limits import FILE_LIMITS, FORM_LIMIT
from sessions_app.errors import BodyRefused
from tests.factories import make_session

FORM = "/new"
LIMIT = 1_000


class Server:
    """Sends one request through the guard; `taken` are the bytes that the application received."""

    def __init__(self, pieces: Sequence[bytes], path: str = FORM, **headers: str) -> None:
        self.taken: bytes | None = None
        self.asked = 0
        self.sent: list[dict[str, Any]] = []
        self._pieces = list(pieces)
        named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "headers": named,
            "server": ("127.0.0.1", 80),
        }

    async def run(self) -> int:
        await BodyGuard(self.application)(self.scope, self.receive, self.send)
        return int(self.sent[0]["status"])

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        self.taken, more = b"", True
        while more:
            message = await receive()
            self.taken += message["body"]
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        piece = self._pieces.pop(0) if self._pieces else b""
        return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def text(self) -> str:
        return str(self.sent[1]["body"].decode())


@given(st.lists(st.binary(max_size=400), max_size=8), st.booleans())
def test_a_body_arrives_whole_or_is_refused(pieces: list[bytes], is_declared: bool) -> None:
    whole = b"".join(pieces)
    headers = {"content_length": str(len(whole))} if is_declared else {"transfer_encoding": "chunked"}
    server = Server(pieces, **headers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "body_limit", lambda route: LIMIT)
        status = asyncio.run(server.run())
    if len(whole) <= LIMIT:
        assert (status, server.taken) == (200, whole)
    else:
        assert status == 413 and len(server.taken or b"") <= LIMIT
        assert server.asked == 0 or not is_declared


async def test_a_length_that_is_too_small_does_not_let_more_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "body_limit", lambda route: LIMIT)
    server = Server([b"x" * 900] * 3, content_length="10")
    assert await server.run() == 413
    assert server.taken == b"x" * 900


async def test_a_form_may_have_less_than_a_file() -> None:
    server = Server([], content_length=str(FORM_LIMIT + 1))
    assert await server.run() == 413
    assert server.text == "This is too large: at most 2.5 MB are taken here."


async def test_a_path_that_is_no_page_takes_what_a_form_takes() -> None:
    assert await Server([], "/s/nothing/attachments/x", content_length=str(FORM_LIMIT + 1)).run() == 413


async def test_a_slow_body_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 0.05)
    server = Server([b"x"], transfer_encoding="chunked")

    async def drip() -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    monkeypatch.setattr(server, "receive", drip)
    assert await server.run() == 408


async def test_after_the_body_there_is_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django waits for the disconnect with the same `receive`, however long the response takes."""
    monkeypatch.setattr(bodies, "GRACE", 0.05)
    server = Server([b"x"], content_length="1")

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(0.1)
        server.taken = (await receive())["type"].encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    monkeypatch.setattr(server, "application", application)
    assert await server.run() == 200 and server.taken == b"http.request"


@pytest.fixture
def attach_path(alice: User) -> str:
    return reverse("attach", args=[make_session(alice).public])


@pytest.fixture
def cookie(client: Client) -> str:
    return client.cookies.output(header="", attrs=[]).strip()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("route", FILE_LIMITS)
async def test_nobody_uploads_without_a_sign_in(route: str) -> None:
    args = [] if route in ("har", "import") else ["6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5"]
    server = Server([b"x"], reverse(route, args=args), content_length="1")
    assert await server.run() == 403
    assert (server.asked, server.taken) == (0, None)
    assert server.text.startswith("You are signed out.")


@pytest.mark.django_db(transaction=True)
async def test_a_person_uploads(attach_path: str, cookie: str) -> None:
    server = Server([b"x"], attach_path, content_length="1", cookie=cookie)
    assert await server.run() == 200 and server.taken == b"x"


@pytest.mark.django_db(transaction=True)
async def test_a_person_who_was_deactivated_does_not(attach_path: str, cookie: str, alice: User) -> None:
    alice.is_active = False
    await alice.asave()
    assert await Server([b"x"], attach_path, content_length="1", cookie=cookie).run() == 403


@pytest.mark.django_db(transaction=True)
async def test_a_forged_token_is_refused_before_the_body(attach_path: str, cookie: str) -> None:
    forged = {"x_csrftoken": "a" * 32, "cookie": f"{cookie}; pipeweb_csrf={'b' * 32}"}
    server = Server([b"x"], attach_path, content_length="1", host="testserver", **forged)
    assert await server.run() == 403 and server.asked == 0
    own = {"x_csrftoken": "b" * 32, "cookie": f"{cookie}; pipeweb_csrf={'b' * 32}"}
    assert await Server([b"x"], attach_path, content_length="1", host="testserver", **own).run() == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_active", [True, False])
async def test_a_file_leaves_no_connection_behind(
    attach_path: str, cookie: str, alice: User, is_active: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []

    def noted(scope: Any, route: str, size: int) -> int:
        used.append(connections["default"])
        return check_person(scope, route, size)

    check_person = bodies._check_person
    monkeypatch.setattr(bodies, "_check_person", noted)
    await User.objects.filter(pk=alice.pk).aupdate(is_active=is_active)
    server = Server([b"x"], attach_path, content_length="1", cookie=cookie)
    assert await server.run() == (200 if is_active else 403)
    assert [one.connection for one in used] == [None]


@pytest.mark.django_db(transaction=True)
async def test_a_process_takes_so_many_files_at_once(
    attach_path: str, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "UPLOADS_AT_ONCE", 0)
    assert await Server([b"x"], attach_path, content_length="1", cookie=cookie).run() == 503


def test_one_person_leaves_room_for_others() -> None:
    guard, alice, bob = BodyGuard(idle), 1, 2
    with ExitStack() as coming_in:
        for _ in range(bodies.UPLOADS_OF_ONE):
            coming_in.enter_context(guard.place_of(alice))
        with pytest.raises(BodyRefused), guard.place_of(alice):
            raise AssertionError
        with guard.place_of(bob):
            pass
    with guard.place_of(alice):
        pass


@pytest.mark.django_db(transaction=True)
async def test_the_next_file_comes_as_soon_as_the_answer_begins(
    attach_path: str, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a browser sends it, on a connection that has its answer before the view has been cleaned up."""
    monkeypatch.setattr(bodies, "UPLOADS_OF_ONE", 1)
    guard = BodyGuard(Server([]).application)
    first, second = (Server([b"x"], attach_path, content_length="1", cookie=cookie) for _ in range(2))

    async def send(message: dict[str, Any]) -> None:
        await first.send(message)
        if message["type"] == "http.response.body":
            await guard(second.scope, second.receive, second.send)

    await guard(first.scope, first.receive, send)
    assert [server.sent[0]["status"] for server in (first, second)] == [200, 200]


async def idle(*asgi: Any) -> None:
    raise AssertionError


async def receiver(messages: list[Mapping[str, Any]]) -> Callable[[], Any]:
    async def receive() -> Mapping[str, Any]:
        return messages.pop(0)

    return receive


@pytest.mark.parametrize("size", [0, 10, bodies.SLICE, 3 * bodies.SLICE + 1])
async def test_django_reads_what_arrived(size: int) -> None:
    whole = bytes(range(256)) * (size // 256 + 1)
    messages = [
        {"type": "http.request", "body": whole[at : at + 65_536], "more_body": True}
        for at in range(0, size, 65_536)
    ]
    receive = await receiver([*messages, {"type": "http.request", "body": b"", "more_body": False}])
    with await BodyHandler().read_body(receive) as body:
        body.seek(0)
        assert body.read() == whole[: len(messages) * 65_536]


async def test_a_client_that_goes_away_leaves_nothing() -> None:
    part = {"type": "http.request", "body": b"x" * bodies.SLICE, "more_body": True}
    with pytest.raises(RequestAborted):
        await BodyHandler().read_body(await receiver([part, part, {"type": "http.disconnect"}]))
    assert list(settings.FILE_UPLOAD_TEMP_DIR.iterdir()) == []


async def test_the_end_of_a_client_is_no_error_of_the_task_that_waits_for_it() -> None:
    """Where the server ends within a request, nobody takes what that task raises, and asyncio logs it."""
    await BodyHandler().listen_for_disconnect(await receiver([{"type": "http.disconnect"}]))


async def test_a_page_is_one_piece_of_work_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between middleware of two kinds a request changes threads, which costs as much as two queries."""
    pieces: list[type[Executor]] = []

    def counted(kind: type[Executor]) -> None:
        submit: Callable[..., Any] = kind.submit

        def counting(pool: Executor, *args: Any, **named: Any) -> Any:
            pieces.append(kind)
            return submit(pool, *args, **named)

        monkeypatch.setattr(kind, "submit", counting)

    for kind in (ThreadPoolExecutor, CurrentThreadExecutor):
        counted(kind)
    server, sent = Server([], "/app.webmanifest"), []
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Mapping[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    await BodyHandler()({**server.scope, "method": "GET"}, receive, send)
    assert sent[0]["status"] == 200
    # The second is the answer; around it Django tells that the request begins, and closes it.
    assert pieces == [ThreadPoolExecutor] * 3
