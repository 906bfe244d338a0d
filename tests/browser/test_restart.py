"""A server that is killed in the middle of an answer, and what a person finds when it is back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import sign_in
from tests.browser.test_chat import finished, open_session, send
from tests.server import Server


@asynccontextmanager
async def opened(server: Server, browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(base_url=server.url)
    page = await context.new_page()
    await sign_in(page, server.link)
    yield page
    await context.close()


async def interrupt(page: Page, server: Server) -> str:
    """Kills the server once an answer is on the page and in the log; the path of the page."""
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await asyncio.sleep(0.5)
    server.process.kill()
    server.process.wait()
    return page.url.removeprefix(server.url)


async def test_a_killed_server_keeps_what_came_says_so_and_answers_again(
    tmp_path: Path, browser: Browser
) -> None:
    with Server(tmp_path) as server:
        async with opened(server, browser) as page:
            path = await interrupt(page, server)
    with Server(tmp_path) as server:
        async with opened(server, browser) as page:
            await page.goto(path)
            run = page.locator(".run")
            await expect(run.get_by_role("alert")).to_contain_text("The server stopped")
            await expect(run.locator(".text")).not_to_be_empty()
            await run.get_by_role("button", name="Retry").click()
            await expect(page.get_by_role("alert")).to_have_count(0)
            await page.keyboard.press("Escape")
            await finished(page.locator(".run").last)
