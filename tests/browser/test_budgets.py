"""A budget of money that counts, to its end: an administrator asked to count that of an emulator."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import collect_complaints, sign_in
from tests.browser.test_chat import finished, open_session, send
from tests.conftest import ROOT
from tests.server import Server, environment, manage

COUNT_EMULATOR = """
from sessions_app.models import Allowance
Allowance.objects.create(everybody=True, counts_emulator=True)
"""
"""Before the server starts, which keeps the rules of another process in memory for a while."""

SPENT = re.compile(r"The budget of this chat is spent: \$[\d.]+ of \$[\d.]+")


@pytest.fixture(scope="module")
def paid_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Pipeweb with a key, in front of an emulator at an address of its own, whose money counts."""
    folder = tmp_path_factory.mktemp("paid")
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE, text=True
    ) as provider:
        assert provider.stdout
        base = provider.stdout.readline().split()[3].rstrip(";")
        variables = {"GEMINI_API_KEY": "key-of-a-test", "GOOGLE_GEMINI_BASE_URL": base, "NO_PROXY": "*"}
        for words in (("migrate",), ("shell", "--no-imports", "-c", COUNT_EMULATOR)):
            done = manage(folder / "data", *words)
            assert done.returncode == 0, done.stderr
        with Server(folder / "data", **variables) as running:
            yield running
        provider.terminate()


@pytest_asyncio.fixture(loop_scope="session")
async def paying(browser: Browser, paid_server: Server, complaints: list[str]) -> AsyncIterator[Page]:
    context = await browser.new_context(base_url=paid_server.url)
    collect_complaints(context, complaints)
    page = await context.new_page()
    await sign_in(page, paid_server.link)
    yield page
    await context.close()
    assert complaints == []


async def set_budget(page: Page, usd: float) -> None:
    await page.get_by_role("button", name="Chat settings").click()
    await page.get_by_role("tab", name="Limits").click()
    await page.get_by_label("Budget of the chat, US dollars").fill(f"{usd:.4f}")
    async with page.expect_navigation():
        await page.get_by_role("button", name="Save").click()


async def spent_with_its_cache(page: Page) -> float:
    """What the chat cost after its first answer; its cache is made, and booked, after that."""
    await expect(page.locator("#outlook [data-warm]")).not_to_have_attribute("hidden", "")
    told = await page.locator("#session-totals").inner_text()
    return float(re.sub(r".*?\$([\d.]+).*", r"\1", told, flags=re.DOTALL))


async def test_a_budget_warns_near_its_end_and_then_refuses_in_words(paying: Page) -> None:
    await open_session(paying)
    await finished(await send(paying, "Hello there"))
    spent = await spent_with_its_cache(paying)

    await set_budget(paying, spent / 0.9)
    note = paying.locator("#outlook").get_by_role("note")
    await expect(note).to_be_visible()
    await expect(note).to_contain_text(re.compile(r"\d\d % of the budget of this chat is spent \(\$"))

    await finished(await send(paying, "And again"))
    await expect(note).to_contain_text(re.compile(r"The budget of this chat is spent: \$[\d.]+ of \$[\d.]+"))
    refused = await send(paying, "Once more")
    told = refused.get_by_role("alert")
    await expect(told).to_contain_text(SPENT)
    await expect(told).to_contain_text(
        "The request was not sent. It does not begin anew: raise it in the chat's"
    )
    await expect(refused.locator(".bubble")).to_have_text("Once more")

    await paying.goto(paying.url.split("#")[0].rstrip("/") + "/inspect/")
    await expect(paying.locator("tr.refused")).to_contain_text("The budget of this chat is spent")
    await expect(paying.locator("#rows tbody:not(:has(.refused))")).to_have_count(2)
