"""The simple and the inspecting view of the chat, and the switch between them."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from tests.browser.access import assert_accessible
from tests.browser.conftest import choose_view, open_account, switch_view
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow
from tests.server import Server

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}

ROOT = "html"

BOXES = """() => [...document.querySelectorAll(".step, .foot, .tools, .composer")].map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return [one.className, x, y, width, height];
})"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> AsyncIterator[str]:
    """The address of a conversation with thoughts, tools and several requests in an answer."""
    context = await browser.new_context(base_url=server.url)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await open_session(page)
    for text in ("Hello there", "/think weather in Paris and London"):
        await finished(await send(page, text))
    yield page.url
    await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def simple(page: Page, talk: str) -> AsyncIterator[Page]:
    """The conversation in the simple view, which is the owner's again afterwards."""
    await page.goto(talk)
    yield page
    await choose_view(page, "Simple")


def last_run(page: Page) -> Locator:
    return page.locator(".run").last


async def test_the_simple_view_is_the_default_and_the_choice_is_kept(simple: Page) -> None:
    page = simple
    await expect(page.locator(ROOT)).to_have_attribute("data-view", "simple")
    await expect(last_run(page).locator(".sum")).to_be_hidden()
    await expect(page.get_by_role("link", name="Inspector")).to_be_hidden()
    await page.evaluate("window.stays = true")
    await switch_view(page, "Inspect")
    await expect(page.locator("[data-view-switch] [value=inspect]")).to_have_attribute("aria-pressed", "true")
    await expect(last_run(page).locator(".sum")).to_be_visible()
    await expect(page.get_by_role("link", name="Inspector")).to_be_visible()
    assert await page.evaluate("window.stays") is True
    await page.reload()
    await expect(page.locator(ROOT)).to_have_attribute("data-view", "inspect")


async def test_without_scripts_the_switch_reloads_the_page(
    browser: Browser, server: Server, talk: str, signed_in_cookies: list[Any], simple: Page
) -> None:
    context = await browser.new_context(base_url=server.url, java_script_enabled=False)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await page.goto(talk)
    await open_account(page)
    await page.get_by_role("button", name="Inspect", exact=True).click()
    await expect(page.locator(ROOT)).to_have_attribute("data-view", "inspect")
    assert page.url == talk
    await context.close()


@pytest.mark.parametrize("way", ["shortcut", "palette"])
async def test_the_keyboard_switches_the_view(simple: Page, way: str) -> None:
    page = simple
    async with page.expect_response("**/view/"):
        if way == "shortcut":
            await page.keyboard.press("Control+Shift+E")
        else:
            await page.keyboard.press("Control+k")
            await page.keyboard.type("inspect")
            await page.get_by_role("option", name="Switch between Simple and Inspect").click()
    await expect(page.locator(ROOT)).to_have_attribute("data-view", "inspect")


async def test_nothing_moves_when_the_view_is_switched(simple: Page) -> None:
    page = simple
    await page.set_viewport_size(WIDE)
    before = await page.evaluate(BOXES)
    assert len(before) > 4
    await switch_view(page, "Inspect")
    await expect(last_run(page).locator(".sum")).to_be_visible()
    assert await page.evaluate(BOXES) == before
    for line in await page.locator(".foot .sum > span:not(.unseen)").all():
        assert await line.evaluate("line => line.scrollWidth <= line.clientWidth"), await line.inner_text()
    await switch_view(page, "Simple")
    assert await page.evaluate(BOXES) == before


async def test_answers_keep_their_places_on_a_phone(simple: Page) -> None:
    page = simple
    await page.set_viewport_size(NARROW)
    await page.reload()
    places = "() => [...document.querySelectorAll('.run .step')].map((one) => one.offsetTop)"
    before = await page.evaluate(places)
    await switch_view(page, "Inspect")
    assert await page.evaluate(places) == before
    assert await overflow(page) == 0


async def test_a_thin_ribbon_without_words_opens_tokens_cost_and_cache(simple: Page) -> None:
    ribbon = last_run(simple).get_by_role("button", name="Tokens and cost of this answer")
    box = await ribbon.locator("svg").bounding_box()
    assert box and box["width"] == 64 and box["height"] < 10
    assert await ribbon.inner_text() == ""
    await ribbon.click()
    card = last_run(simple).locator(".card")
    await expect(card).to_contain_text(re.compile(r"[\d,]+ tokens read, [\d,]+ written"))
    await expect(card).to_contain_text(re.compile("(Nothing of it|% ) was|read from a cache"))
    await expect(card).to_contain_text(re.compile(r"Money: .*\$0\.\d+"))
    await assert_accessible(simple)
    await card.get_by_role("link", name="Open in the inspector").click()
    await simple.wait_for_url("**/inspect/*/")


async def test_the_requests_of_an_answer_are_one_menu(simple: Page) -> None:
    page = simple
    await switch_view(page, "Inspect")
    menu = last_run(page).locator(".requests")
    count = int((await menu.locator("summary").inner_text()).split()[0])
    assert count > 1
    await menu.locator("summary").click()
    links = menu.get_by_role("link")
    await expect(links).to_have_count(count)
    await links.nth(1).click()
    await page.wait_for_url("**/inspect/3/")


@pytest.mark.parametrize("width", [390, 700, 1024])
async def test_that_menu_stays_in_the_window(simple: Page, width: int) -> None:
    await switch_view(simple, "Inspect")
    await simple.set_viewport_size({"width": width, "height": 900})
    menu = last_run(simple).locator(".requests")
    await menu.locator("summary").click()
    items = menu.locator(".items")
    await expect(items).to_be_visible()
    box = await items.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


async def test_actions_appear_on_tap_on_a_phone(
    browser: Browser, server: Server, talk: str, signed_in_cookies: list[Any], simple: Page
) -> None:
    context = await browser.new_context(base_url=server.url, viewport=NARROW, has_touch=True, is_mobile=True)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await page.goto(talk)
    tools = last_run(page).locator(".foot .tools")
    await expect(tools).to_have_css("opacity", "0")
    await expect(page.locator(".under")).to_have_css("min-height", "0px")
    await expect(page.locator("#outlook .sum, #gauge .figures").first).to_be_hidden()
    await last_run(page).locator(".text").first.tap()
    await expect(tools).to_have_css("opacity", "1")
    await page.locator(".run").first.locator(".text").first.tap()
    await expect(tools).to_have_css("opacity", "0")
    await context.close()


OPENED: dict[str, Callable[[Page], Awaitable[Any]]] = {
    "card": lambda page: last_run(page).locator(".usage, .sum").locator("visible=true").click(),
    "menu": lambda page: page.get_by_label("More for this answer").last.click(),
    "settings": lambda page: page.get_by_role("button", name="Chat settings").click(),
    "all chats": lambda page: page.goto("/sessions/"),
}


@pytest.mark.parametrize("view", ["Simple", "Inspect"])
@pytest.mark.parametrize("name", OPENED)
async def test_both_views_are_accessible(simple: Page, view: str, name: str) -> None:
    page = simple
    await switch_view(page, view)
    await OPENED[name](page)
    await expect(page.locator(".htmx-request")).to_have_count(0)
    await assert_accessible(page)
