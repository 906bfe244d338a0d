"""From the emulator to a provider: a key entered on the page, by clicks."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.conftest import sign_in
from tests.conftest import ROOT
from tests.server import Server

KEY = "AI" + "za" + "planted" * 4
"""The emulator refuses keys that contain “invalid” and takes others."""


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """An emulator that stands alone, in the place of Google."""
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.stdout.readline().split()[3].rstrip(";")
        process.terminate()


@pytest.fixture(scope="module")
def keyed(provider: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("keyed")
    with Server(folder, GOOGLE_GEMINI_BASE_URL=provider, LOG_LEVEL="DEBUG") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def owner(visitor: BrowserContext, keyed: Server) -> AsyncIterator[Page]:
    page = await visitor.new_page()
    await sign_in(page, keyed.new_link())
    yield page


async def test_a_key_goes_in_answers_and_goes_out(
    owner: Page, keyed: Server, provider: str, complaints: list[str]
) -> None:
    await owner.goto(keyed.url)
    await owner.get_by_role("link", name="Enter a key").click()
    await _enter(owner, "an-invalid-key")
    await expect(owner.locator("[data-result=refused]")).to_be_visible()
    assert [text for text in complaints if "422" in text] == complaints
    complaints.clear()

    await owner.get_by_label("In the data folder").check()
    await _enter(owner, KEY)
    await expect(owner.locator("[data-origin=data_folder]")).to_be_visible()
    host = provider.removeprefix("http://")
    await expect(owner.get_by_role("heading", name=f"{host} answers")).to_be_visible()
    kept = keyed.folder / "gemini_key"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    await owner.goto(keyed.url)
    await expect(owner.locator(".emulator-strip")).to_have_count(0)
    await owner.get_by_role("textbox", name="Message").fill("Hello, whoever you are")
    await owner.get_by_role("button", name="Send").click()
    await owner.wait_for_url("**/s/**")
    await expect(owner.locator("[data-run] .answer, .turn.model, article").last).to_be_visible()
    await expect(owner.get_by_role("button", name="Send")).to_be_visible()
    session = owner.url.split("?")[0]
    files = ("exchange.har", "exchange.json", "request.json", "response.ndjson")
    for name in ("export.json", "export.md", *(f"inspect/1/{file}" for file in files)):
        exported = await owner.request.get(session + name)
        assert exported.ok and KEY not in await exported.text(), name
    rows = _dump(keyed.folder / "pipeweb.sqlite3")
    assert provider in rows and KEY not in rows and KEY not in keyed.output

    await owner.goto(f"{keyed.url}/key")
    await owner.get_by_role("button", name="Remove the key").click()
    await expect(owner.locator("[data-origin=none]")).to_be_visible()
    assert not kept.exists()


async def test_the_strip_is_closed_and_stays_closed(owner: Page, keyed: Server) -> None:
    await owner.goto(keyed.url)
    await owner.get_by_role("button", name="Close this notice").click()
    await expect(owner.locator(".emulator-strip")).to_have_count(0)
    await owner.reload()
    await expect(owner.locator(".emulator-strip")).to_have_count(0)


async def _enter(page: Page, key: str) -> None:
    await page.get_by_label("API key").fill(key)
    await page.get_by_role("button", name="Test and use the key").click()


def _dump(path: Path) -> str:
    with closing(sqlite3.connect(path)) as rows:
        return "\n".join(rows.iterdump())
