"""A real Chromium in front of a real server with the emulator behind it.

`page` is signed in as the owner. Every console error, page error and breach of the content policy
in any of its pages fails the test, unless the test takes it out of `complaints`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    async_playwright,
    expect,
)

from tests.chromium import CHROMIUM
from tests.server import Server

# Until a busy machine shows what is expected.
expect.set_options(timeout=60_000)

LEFT = ("htmx:sendAbort,", "htmx:afterRequest,")
"""What htmx says of a request that was under way when its page was left."""

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Playwright lives on one loop from the first test to the last.
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01") as running:
        yield running


@pytest.fixture(scope="session")
def base_url(server: Server) -> str:
    return server.url


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": CHROMIUM, "args": FLAGS}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(playwright: Playwright, browser_type_launch_args: dict[str, Any]) -> AsyncIterator[Browser]:
    running = await playwright.chromium.launch(**browser_type_launch_args)
    yield running
    await running.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about so far."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(new_context: Callable[..., Any], complaints: list[str]) -> AsyncIterator[BrowserContext]:
    """A browser window in which nobody is signed in."""
    context: BrowserContext = await new_context()
    collect_complaints(context, complaints)
    yield context
    assert complaints == []


def collect_complaints(context: BrowserContext, complaints: list[str]) -> None:
    def listen(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(LEFT):
            complaints.append(message.text)

    context.on("console", listen)
    context.on("weberror", lambda error: complaints.append(str(error.error)))


@pytest_asyncio.fixture(loop_scope="session")
async def context(visitor: BrowserContext, signed_in_cookies: list[Any]) -> BrowserContext:
    """A browser window in which the owner is signed in."""
    await visitor.add_cookies(signed_in_cookies)
    return visitor


@pytest.fixture(scope="session")
def cookies_by_server() -> dict[str, list[Any]]:
    """Those of the owner of each other server in which a page was opened, by its address."""
    return {}


@pytest_asyncio.fixture(loop_scope="session")
async def at_server(
    browser: Browser, complaints: list[str], cookies_by_server: dict[str, list[Any]]
) -> AsyncIterator[Callable[[Server], Awaitable[Page]]]:
    """Opens a page of another server, signed in as its owner."""

    opened: list[BrowserContext] = []

    async def open_page(server: Server) -> Page:
        context = await browser.new_context(base_url=server.url)
        opened.append(context)
        collect_complaints(context, complaints)
        page = await context.new_page()
        if server.url not in cookies_by_server:
            await sign_in(page, server.link)
            cookies_by_server[server.url] = list(await context.cookies())
        await context.add_cookies(cookies_by_server[server.url])
        return page

    yield open_page
    for context in opened:
        await context.close()
    assert complaints == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def signed_in_cookies(browser: Browser, server: Server) -> list[Any]:
    """Signing in once for all tests: a link works once, and making another takes a second."""
    first = await browser.new_context(base_url=server.url)
    page = await first.new_page()
    await sign_in(page, server.link)
    cookies = await first.cookies()
    await first.close()
    return list(cookies)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def inspecting(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> AsyncIterator[None]:
    """The owner has chosen the inspecting view, as long as the tests of a module run."""
    window = await browser.new_context(base_url=server.url)
    await window.add_cookies(signed_in_cookies)
    page = await window.new_page()
    await choose_view(page, "Inspect")
    yield
    await choose_view(page, "Simple")
    await window.close()


async def choose_view(page: Page, view: str) -> None:
    """Chooses it on the first page, for every page of this person."""
    await page.goto("/")
    await switch_view(page, view)


async def switch_view(page: Page, view: str) -> None:
    """Chooses it on the page that is open, in the menu of the account."""
    await open_account(page)
    async with page.expect_response("**/view/"):
        await page.get_by_role("button", name=view, exact=True).click()


async def open_account(page: Page) -> None:
    """Opens the menu of the account, on a phone in the sidebar; a choice in it closes it."""
    menu = page.locator(".account-menu > summary")
    if not await menu.is_visible():
        await page.get_by_role("button", name="Chats", exact=True).click()
    await menu.click()


async def sign_in(page: Page, link: str) -> None:
    """Opens a sign-in link and presses its button."""
    await page.goto(link)
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/")
