"""Every text field of every page and every command of the socket, with values that break naive code.

Each is stored or refused with a sentence: no server error, no closed socket, and all pages open.
"""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pydantic import BaseModel

from sessions_app.chat.option_fields import OPTIONS
from sessions_app.chat.session_form import SessionForm
from sessions_app.inspector.tabs import TABS
from sessions_app.models import Session
from sessions_app.panels import KINDS
from sessions_app.runs.runner import Runner
from sessions_app.socket_commands import Edit, Join, Resume, Retry, Send, Stop, Withdraw
from sessions_app.values import DEPTH_LIMIT
from tests import factories
from tests.browser_forms import posted_unchanged
from tests.chat.sockets import Socket, connected
from tests.runs.running import running

VALUES: dict[str, bytes] = {
    "NUL": b"a\0b",
    "lone surrogate": b"a\xed\xa0\x80b",
    "non-character": "\uffff\ufdd0".encode(),
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "1e999": b"1e999",
    "5,000 digits": b"9" * 5_000,
    "65 bits": str(2**64).encode(),
    "deep": b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1),
    "very deep": b"[" * 100_000,
    "long": b"x" * 300_000,
    "template": b"{{ " + b"(" * 300 + b" }}",
}
ARGUMENTS = {
    **{name: b'{"a": %s}' % value for name, value in VALUES.items()},
    "escaped surrogate": b'{"a": "\\ud800"}',
    "escaped NUL": b'{"a": "\\u0000"}',
    "twice": b'{"a": 1, "a": 2}',
    "deep but allowed": b'{"a": ' + b"[" * 15 + b"]" * 15 + b"}",
}
TEXTS = ("purpose", "background", "language", "message_language", "time_zone")
ACTIONS = [(kind.key, action) for kind in KINDS for action in kind.actions]


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    factories.play_flight(session)
    return session


def post(client: Client, url: str, data: dict[str, bytes]) -> Any:
    body = "&".join(f"{name}={quote_from_bytes(value)}" for name, value in data.items())
    return client.post(url, body, content_type="application/x-www-form-urlencoded")


def opens(client: Client, session: Session) -> bool:
    """Whether every page of the session answers."""
    own = ("session", "session-settings", "arguments", "details", "gauge", "panels", "exchanges")
    urls = [reverse(name, args=[session.public]) for name in (*own, "export-json", "export-markdown")]
    exchange = session.exchanges.order_by("-number").first()
    if exchange is not None:
        page = reverse("exchange", args=[session.public, exchange.number])
        urls += [f"{page}?tab={tab.id}" for tab in TABS]
    failed = [url for url in [*urls, "/"] if client.get(url).status_code != 200]
    assert not failed
    return True


@pytest.mark.parametrize("name", VALUES)
def test_settings_take_or_refuse_any_text(client: Client, session: Session, name: str) -> None:
    url = reverse("session-settings", args=[session.public])
    form = posted_unchanged(client.get(url).content.decode())
    single = {key: values[0].encode() for key, values in form.items() if key != "tools"}
    for field in TEXTS:
        assert post(client, url, single | {field: VALUES[name]}).status_code == 200, field
    every = dict.fromkeys((*SessionForm.base_fields, *OPTIONS), VALUES[name])
    # 400 is the answer to a body of more than 2.5 MB.
    assert post(client, url, every).status_code in (200, 400)
    assert opens(client, session)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_kept_or_refused(client: Client, session: Session, name: str) -> None:
    for page in ("arguments-preview", "arguments"):
        answer = post(client, reverse(page, args=[session.public]), {"args": ARGUMENTS[name]})
        assert answer.status_code == 200
    session.refresh_from_db()
    assert session.args or "errorlist" in answer.content.decode()
    assert opens(client, session)


@pytest.mark.parametrize("name", VALUES)
def test_titles_searches_and_corrections(client: Client, session: Session, name: str) -> None:
    value, public = VALUES[name], session.public
    query = quote_from_bytes(value[:8_000])
    for url in (reverse("sessions"), reverse("palette"), reverse("exchanges", args=[public])):
        assert client.get(f"{url}?q={query}&model={query}&outcome={query}").status_code == 200
    for url in (reverse("session", args=[public]), reverse("exchanges", args=[public])):
        assert client.get(f"{url}?leaf={query}&before={query}&after={query}&tab={query}").status_code in (
            200,
            404,
        )
    said = session.turns.filter(kind="model_response").get()
    for url, field in (
        (reverse("rename-session", args=[public]), "title"),
        (reverse("wording", args=[public, said.public]), "text"),
        (reverse("move-text", args=[public]), "source"),
        (reverse("new-session"), "purpose"),
        (reverse("act"), "session"),
        (reverse("key"), "key"),
    ):
        assert post(client, url, {field: value}).status_code < 500, url
    assert opens(client, session)


@pytest.mark.parametrize("name", VALUES)
def test_actions_of_panels_take_or_refuse_any_text(client: Client, session: Session, name: str) -> None:
    for key, action in ACTIONS:
        url = reverse("panel-action", args=[session.public, key, action.action_name()])
        for field in action.model_fields:
            good = {
                one: b"1" if info.annotation is int else b"x"
                for one, info in action.model_fields.items()
                if info.is_required()
            }
            answer = post(client, url, good | {field: VALUES[name]})
            assert answer.status_code in (200, 404), (key, action, field)
    assert opens(client, session)


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Session:
    return factories.make_session(alice)


@pytest.fixture
async def runner(talk: Session) -> AsyncIterator[Runner]:
    async with running() as runner:
        yield runner


COMMAND_TYPES: tuple[type[BaseModel], ...] = (Send, Retry, Resume, Edit, Join, Stop, Withdraw)
JSON_VALUES = {
    **{name: json.dumps(value.decode(errors="replace")) for name, value in VALUES.items() if name != "NUL"},
    "NUL": '"a\\u0000b"',
    "lone surrogate": '"a\\ud800b"',
    "number": "9" * 5_000,
    "not finite": "1e999",
    "deep list": "[" * 100_000,
}


@pytest.mark.parametrize("name", JSON_VALUES)
async def test_the_socket_stays_open_and_gives_the_text_back(
    runner: Runner, talk: Session, alice: User, name: str
) -> None:
    socket = await connected(runner, talk, alice)
    for kind in COMMAND_TYPES:
        for field in kind.model_fields.keys() - {"type"}:
            client_id = str(uuid.uuid4())
            known = {"type": kind.model_fields["type"].default, "text": "hi"}
            ids = {key: client_id for key in ("client_id", "run", "turn") if key in kind.model_fields}
            given = {key: value for key, value in (known | ids).items() if key in kind.model_fields}
            given.pop(field, None)
            wire = json.dumps(given)[:-1] + f', "{field}": {JSON_VALUES[name]}}}'
            await socket.send_to(text_data=wire)
            if field in ("text", "language"):
                await _is_answered(socket, client_id)
    await socket.send_command(type="send", client_id=uuid.uuid4(), text="Still there?")
    await socket.receive_until("finished")
    await socket.leave()
    await runner.drain()


async def _is_answered(socket: Socket, client_id: str) -> None:
    """Either the message is taken, or its text is given back."""
    while True:
        event = await socket.receive_event()
        if event["type"] == "refused" and event["client_id"] == client_id:
            assert event["message"]
            return
        if event["type"] == "finished":
            return
