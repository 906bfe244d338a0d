"""Conversations that did not take place: files that the list's import takes in."""

import json
import re
import uuid
from collections.abc import Sequence
from typing import Any

from playwright.async_api import Page, expect

Pair = tuple[str, str]
"""What a person asked, what the model answered."""


async def open_talk(page: Page, pairs: Sequence[Pair], **settings: Any) -> None:
    """Imports the conversation and opens it."""
    await bring_in(page, exported(pairs, settings))


async def bring_in(page: Page, export: dict[str, Any]) -> None:
    await page.goto("/sessions/")
    await import_file(page, json.dumps(export).encode())


async def import_file(page: Page, body: bytes) -> None:
    """Imports the file on the page of the list and opens the session."""
    name = f"{uuid.uuid4()}.json"
    file = {"name": name, "mimeType": "application/json", "buffer": body}
    await page.get_by_label("More for the list").click()
    await page.get_by_role("button", name="Import a chat").click()
    await page.get_by_label("File", exact=True).set_input_files(file)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Import", exact=True).click()
    # An import of more than a second is shown in the list, with a link at its end.
    link = page.locator("#imports .import", has_text=name).get_by_role("link")
    await expect(page.locator("main.talk").or_(link)).to_be_visible(timeout=30_000)
    if await link.count():
        await link.click()
    await page.wait_for_url(re.compile("/s/"))


def exported(pairs: Sequence[Pair], settings: dict[str, Any]) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    for question, answer in pairs:
        run = {"key": str(uuid.uuid4()), "status": "completed", "outcome": "complete"}
        turns.append(_turn("user_task", "user", question, run["key"], turns))
        run["trigger"] = turns[-1]["key"]
        turns.append(_turn("model_response", "model", answer, run["key"], turns))
        runs.append(run)
    session = {
        "title": "An imported conversation",
        "model": "gemini-3-flash-preview",
        "settings": settings,
        "head": turns[-1]["key"],
    }
    return {"exported_at": "2026-11-21T09:00:00Z", "session": session, "turns": turns, "runs": runs}


def _turn(kind: str, role: str, text: str, run: str, earlier: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "key": str(uuid.uuid4()),
        "parent": earlier[-1]["key"] if earlier else None,
        "kind": kind,
        "content": json.dumps({"role": role, "parts": [{"text": text}]}),
        "run": run,
    }
