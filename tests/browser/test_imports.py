"""Importing a file in a real browser: progress and Cancel, the words for a damaged file, the session."""

import json
import uuid
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.access import assert_accessible
from tests.browser.talks import import_file


def exported(turns: int) -> bytes:
    keys = [str(uuid.uuid4()) for _ in range(turns)]
    rows: list[dict[str, Any]] = []
    for number, key in enumerate(keys):
        role, kind = ("model", "model_response") if number % 2 else ("user", "user_task")
        content = json.dumps({"role": role, "parts": [{"text": f"Sentence {number}"}]})
        parent = keys[number - 1] if number else None
        rows.append({"key": key, "parent": parent, "kind": kind, "content": content})
    session = {"title": f"A talk of {turns}", "model": "gemini-3-flash-preview", "head": keys[-1]}
    return json.dumps({"exported_at": "2026-01-01T00:00:00Z", "session": session, "turns": rows}).encode()


async def choose(page: Page, body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(body)
    await page.goto("/sessions/")
    await page.get_by_label("More for the list").click()
    await page.get_by_role("button", name="Import a chat").click()
    await page.get_by_label("File", exact=True).set_input_files(path)
    await page.get_by_role("button", name="Import", exact=True).click()


async def test_a_short_file_opens_as_a_session(page: Page) -> None:
    await page.goto("/sessions/")
    await import_file(page, exported(4))
    await expect(page.get_by_role("heading", level=1)).to_have_text("A talk of 4")
    await expect(page.get_by_text("Sentence 2")).to_be_visible()


async def test_a_history_from_elsewhere_opens_as_a_session_and_says_what_it_was(page: Page) -> None:
    messages = [{"role": "user", "content": "Sentence 1"}, {"role": "assistant", "content": "Sentence 2"}]
    await page.goto("/sessions/")
    await import_file(page, json.dumps({"model": "gpt-4o", "messages": messages}).encode())
    await expect(page.get_by_text("Recognised as messages of the OpenAI API.")).to_be_visible()
    await expect(page.get_by_text("Sentence 2")).to_be_visible()
    await assert_accessible(page)


async def test_a_damaged_file_is_explained_beside_the_field(page: Page, tmp_path: Path) -> None:
    await choose(page, exported(4)[:-40], tmp_path)
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("damaged, at byte")
    await assert_accessible(page)


async def test_a_long_import_shows_its_progress_and_can_be_cancelled(page: Page, tmp_path: Path) -> None:
    await choose(page, exported(20_000), tmp_path)
    importing = page.locator("#imports")
    await expect(importing).to_contain_text("of 20,000", timeout=60_000)
    await page.reload()
    await expect(importing.get_by_role("progressbar")).to_be_visible()
    await assert_accessible(page)
    await importing.get_by_role("button", name="Cancel").click()
    await expect(importing).not_to_contain_text("talk.json", timeout=180_000)
    await expect(page.get_by_role("link", name="A talk of 20000")).to_have_count(0)
