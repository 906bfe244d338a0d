"""A large file is imported in a process of its own, which a restart of the server does not need."""

import re
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import orjson
import pytest

from sessions_app.chat.importer import SMALL_SIZE
from tests.server import Server

TURNS = 3_000
TITLE = "A long conversation"
PATIENCE = 240.0
"""Seconds, on a busy machine."""

pytestmark = pytest.mark.slow


def exported() -> bytes:
    turns, parent = [], None
    for number in range(TURNS):
        key = str(uuid.uuid4())
        content = orjson.dumps({"role": "user", "parts": [{"text": f"turn {number}"}]}).decode()
        turns.append({"key": key, "parent": parent, "kind": "user_task", "content": content})
        parent = key
    session = {"model": "gemini-3-flash-preview", "title": TITLE, "titled_by_hand": True, "head": parent}
    return orjson.dumps({"exported_at": "2026-11-01T00:00:00Z", "session": session, "turns": turns})


def signed_in(server: Server, link: str) -> httpx2.Client:
    client = httpx2.Client(base_url=server.url, timeout=PATIENCE, trust_env=False, follow_redirects=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get(link).text)
    assert token
    client.post(link, data={"csrfmiddlewaretoken": token[1]}, headers={"Referer": server.url})
    client.headers |= {"X-CSRFToken": client.cookies["pipeweb_csrf"], "Referer": server.url}
    return client


def listed(client: httpx2.Client) -> Iterator[str]:
    """The list of sessions, again and again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        yield client.get("/").text
        time.sleep(0.2)
    raise AssertionError("the import did not end")


def post(client: httpx2.Client) -> None:
    body = exported()
    assert len(body) > SMALL_SIZE
    answer = client.post("/sessions/import/", files={"file": ("long.json", body, "application/json")})
    assert answer.status_code == 200


def wait_for_title(client: httpx2.Client) -> None:
    next(page for page in listed(client) if f"{TITLE}</" in page)


def test_a_large_file_becomes_a_session(tmp_path: Path) -> None:
    with Server(tmp_path) as server, closing(signed_in(server, server.link)) as client:
        post(client)
        wait_for_title(client)
    assert not list((tmp_path / "imports").iterdir())


def test_an_import_survives_the_end_of_its_server(tmp_path: Path) -> None:
    with Server(tmp_path) as server, closing(signed_in(server, server.link)) as client:
        post(client)
    with Server(tmp_path) as server, closing(signed_in(server, server.link)) as client:
        wait_for_title(client)
