"""Requests to an emulator that tell why they were answered as they were."""

from typing import Any

import orjson

from sessions_app.emulator import Emulator
from sessions_app.emulator.decisions import Decision
from tests.emulator.helpers import FLASH, Wire, send, user

OTHER = "gemini-3.5-flash"
STATIC = "Everything that hardly ever changes. " * 200
LONG = "The same beginning, every time. " * 600


def post(
    emulator: Emulator, path: str, body: Any, *, key: str = "emulator", fault: str = ""
) -> tuple[int, Decision]:
    """The status, and why."""
    headers = {"x-emulator-fault": fault} if fault else {}
    status, _ = send(emulator, "POST", path, body, key=key, headers=headers)
    return status, emulator.journal.last.decision


def ask(
    emulator: Emulator, body: Wire, name: str = FLASH, *, key: str = "emulator", fault: str = ""
) -> tuple[int, Decision]:
    return post(emulator, f"models/{name}:generateContent", body, key=key, fault=fault)


def create(emulator: Emulator, name: str = FLASH, *, text: str = STATIC, key: str = "emulator") -> str:
    body = {"model": f"models/{name}", "contents": [user(text)], "ttl": "600s"}
    created: str = orjson.loads(send(emulator, "POST", "cachedContents", body, key=key)[1])["name"]
    return created


def saying(text: str = "hello", **fields: Any) -> Wire:
    return {"contents": [user(text)], **fields}
