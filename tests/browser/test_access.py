"""Every page, and whatever opens on it, under the rules of accessibility in both colour schemes."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.browser.access import DJANGOS, assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_endings import refused
from tests.server import Server

pytestmark = pytest.mark.usefixtures("inspecting")

TABS = ("layers", "wire", "response", "stream", "signatures", "cache", "diff", "pipeline", "renditions")
LISTS = (
    *("session", "turn", "run", "exchange", "rawchunk", "cacheentry", "cacherefusal", "price", "allowance"),
    *("spending", "modelfacts", "prompttext", "assistant", "allowedcommand", "memory", "reading"),
)
PAGES = [
    *("/", "/sessions/", "/sessions/?archive", "/sessions/?q=weather", "/sessions/?q=nowhereatall"),
    *("/new", "/key", "/spending/", "/links/", "/admin/", "/assistants/", "/assistants/new/"),
]
PARTS = ["", "arguments/", "inspect/", *(f"inspect/1/?tab={tab}" for tab in TABS)]


async def open_row_menu(page: Page) -> None:
    await page.locator(".side li").first.hover()
    await page.locator(".side li .menu > summary").first.click()


async def open_folder_dialog(page: Page) -> None:
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Move to folder…").click()


async def open_call(page: Page) -> None:
    await page.locator(".activity:has(.tool) > summary").first.click()
    await page.locator(".tool summary").first.click()


async def open_other_models(page: Page) -> None:
    await page.get_by_label("More for this answer").last.click()
    await page.get_by_role("button", name="Answer again with").last.click()


OPENED: dict[str, Callable[[Page], Awaitable[Any]]] = {
    "settings": lambda page: page.get_by_role("button", name="Chat settings").click(),
    "models": lambda page: page.locator(".topbar .picks").click(),
    "another model": open_other_models,
    "context": lambda page: page.get_by_role("button", name="Context").click(),
    "menu of an answer": lambda page: page.get_by_label("More for this answer").last.click(),
    "what can be added": lambda page: page.get_by_label("Add files and more").click(),
    "menu in the sidebar": open_row_menu,
    "folders": open_folder_dialog,
    "menu of the session": lambda page: page.get_by_label("More for this chat").click(),
    "account": lambda page: page.locator(".sum").last.click(),
    "new wording": lambda page: page.locator("[data-edit]").last.press("Enter"),
    "thoughts": lambda page: page.locator(".activity > summary").first.click(),
    "call": open_call,
    "palette": lambda page: page.keyboard.press("Control+k"),
    "shortcuts": lambda page: page.keyboard.press("Control+/"),
}
"""What a person can open on the page of a conversation."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> AsyncIterator[str]:
    """The address of a conversation with thoughts, calls, code, a table and a card."""
    context = await browser.new_context(base_url=server.url)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await open_session(page)
    for text in ("/think weather in Paris and London", "/long please", "/safety"):
        await finished(await send(page, text))
    yield page.url
    await context.close()


@pytest.mark.parametrize("address", PAGES)
async def test_a_page_passes(page: Page, talk: str, address: str) -> None:
    await page.goto(address)
    await assert_accessible(page)


@pytest.mark.parametrize("part", PARTS)
async def test_a_conversation_and_its_exchanges_pass(page: Page, talk: str, part: str) -> None:
    await page.goto(talk + part)
    await assert_accessible(page)


@pytest.mark.parametrize("name", OPENED)
async def test_what_opens_passes(page: Page, talk: str, name: str) -> None:
    await page.goto(talk)
    await OPENED[name](page)
    await expect(page.locator(".htmx-request")).to_have_count(0)
    await assert_accessible(page)


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_of_the_admin_passes(page: Page, talk: str, name: str) -> None:
    await page.goto(f"/admin/sessions_app/{name}/")
    await assert_accessible(page, DJANGOS)


async def test_an_empty_conversation_and_one_that_is_being_answered_pass(page: Page) -> None:
    await open_session(page)
    await assert_accessible(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await assert_accessible(page)
    await page.keyboard.press("Escape")


async def test_a_refused_message_passes_here_and_in_the_inspector(page: Page) -> None:
    run = await refused(page)
    await assert_accessible(page)
    await page.goto(f"{page.url}inspect/refused/{await run.get_attribute('data-run')}/")
    await assert_accessible(page)


async def test_a_page_that_is_not_there_passes(page: Page, complaints: list[str]) -> None:
    await page.goto(f"/s/{uuid.uuid4()}/")
    await assert_accessible(page)
    assert "404" in complaints.pop()


async def test_the_page_of_signing_in_passes(visitor: BrowserContext) -> None:
    page = await visitor.new_page()
    await page.goto("/")
    await assert_accessible(page)


FAINT_IN_THE_DARK = """() => {
    const words = document.createElement("p");
    words.textContent = "Too faint";
    words.style.color = "light-dark(#000, #333)";
    document.querySelector("main").append(words);
}"""
NAMELESS = """() => document.querySelector("main").append(document.createElement("button"))"""


@pytest.mark.parametrize(
    ("fault", "rule"),
    [(FAINT_IN_THE_DARK, "color-contrast"), (NAMELESS, "button-name")],
    ids=["dark", "light"],
)
async def test_a_fault_in_either_scheme_is_noticed(page: Page, fault: str, rule: str) -> None:
    await page.goto("/sessions/")
    await assert_accessible(page)
    await page.evaluate(fault)
    with pytest.raises(AssertionError, match=rule):
        await assert_accessible(page)
