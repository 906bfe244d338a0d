"""A phone: Back closes what lies over the page, the talk has its room, and everything is in reach."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FloatRect, Locator, Page, expect

from sessions_app.media import COUNT_LIMIT
from tests.browser.access import assert_accessible
from tests.browser.conftest import open_account
from tests.browser.test_attachments import PICTURE, chips, choose
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_layout import PHONE
from tests.browser.test_provider_tools import switch_on
from tests.browser.test_sharing import make_link, share
from tests.server import Server

SMALL = {"width": 390, "height": 420}
"""What a keyboard leaves of a small phone."""

OVER = "dialog[open], details.menu[open], .frame[data-open], :popover-open"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> str:
    window = await browser.new_context(base_url=server.url)
    await window.add_cookies(signed_in_cookies)
    page = await window.new_page()
    await open_session(page)
    await finished(await send(page, "/long Tell me about bees"))
    address = page.url
    await window.close()
    return address


@pytest_asyncio.fixture(loop_scope="session")
async def phone(page: Page, talk: str) -> Page:
    """A page before which another was open."""
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await page.goto("/spending/")
    await page.goto(talk)
    return page


async def from_menu(page: Page, name: str) -> None:
    await page.get_by_label("More for this chat").click()
    await page.locator(".menu[open]").get_by_role("button", name=name).click()


async def row_menu(page: Page) -> None:
    await page.get_by_role("button", name="Chats", exact=True).click()
    await page.locator(".side-list li").first.hover()
    await page.locator(".side-list li .menu > summary").first.click()


async def page_dialog(page: Page) -> None:
    await page.get_by_label("Add files and more").click()
    await page.get_by_role("button", name="Web page…").click()


SHEETS: dict[str, tuple[int, Callable[[Page], Awaitable[Any]]]] = {
    "sidebar": (1, lambda page: page.get_by_role("button", name="Chats", exact=True).click()),
    "settings": (1, lambda page: page.get_by_role("button", name="Chat settings").click()),
    "menu of the chat": (1, lambda page: page.get_by_label("More for this chat").click()),
    "menu of an answer": (1, lambda page: page.get_by_label("More for this answer").last.click()),
    "what can be added": (1, lambda page: page.get_by_label("Add files and more").click()),
    "share": (1, lambda page: from_menu(page, "Share…")),
    "folders": (1, lambda page: from_menu(page, "Move to folder…")),
    "web page": (1, page_dialog),
    "cost of an answer": (1, lambda page: page.locator(".run").last.locator(".usage").click()),
    "palette": (1, lambda page: page.keyboard.press("Control+k")),
    "shortcuts": (1, lambda page: page.keyboard.press("Control+/")),
    "account in the sidebar": (2, open_account),
    "menu of a chat in the sidebar": (2, row_menu),
}
"""What lies over the page, with how many times Back closes it."""


@pytest.mark.parametrize("name", SHEETS)
async def test_back_closes_each_sheet_and_stays_on_the_page(phone: Page, talk: str, name: str) -> None:
    steps, opens = SHEETS[name]
    await phone.locator(".run .answer").last.click()
    await opens(phone)
    await expect(phone.locator(OVER)).to_have_count(steps)
    await depth(phone, steps)
    for left in reversed(range(steps)):
        await phone.go_back()
        await expect(phone.locator(OVER)).to_have_count(left)
        assert phone.url.startswith(talk)
    await phone.go_back()
    await expect(phone).to_have_url(re.compile("/spending/$"))


async def depth(page: Page, count: int) -> None:
    await page.wait_for_function("(count) => (history.state?.over ?? 0) === count", arg=count)


async def test_what_is_closed_otherwise_leaves_no_step_behind(phone: Page) -> None:
    await phone.get_by_role("button", name="Chat settings").click()
    await depth(phone, 1)
    await phone.locator("#settings").get_by_label("Close", exact=True).click()
    await depth(phone, 0)
    await phone.go_back()
    await expect(phone).to_have_url(re.compile("/spending/$"))


async def test_a_link_of_a_sheet_leads_on_and_back_leads_to_the_page(phone: Page, talk: str) -> None:
    await open_account(phone)
    await phone.get_by_role("link", name="Shared links").click()
    await expect(phone).to_have_url(re.compile("/links/$"))
    await phone.go_back()
    await expect(phone).to_have_url(re.compile(re.escape(talk)))
    await expect(phone.get_by_label("Message")).to_be_visible()
    await depth(phone, 0)


async def box_of(place: Locator) -> FloatRect:
    box = await place.bounding_box()
    assert box
    return box


async def test_above_the_keyboard_the_talk_keeps_sixty_percent(phone: Page) -> None:
    await phone.set_viewport_size(SMALL)  # type: ignore[arg-type]
    talk, composer = await box_of(phone.locator(".scroller")), await box_of(phone.locator(".composer"))
    assert talk["height"] + composer["height"] >= 0.6 * SMALL["height"], (talk, composer)
    assert talk["height"] >= composer["height"]
    assert composer["y"] + composer["height"] <= SMALL["height"]


async def test_many_files_leave_the_message_above_the_keyboard(phone: Page) -> None:
    await phone.set_viewport_size(SMALL)  # type: ignore[arg-type]
    await choose(phone, *[PICTURE] * COUNT_LIMIT)
    await expect(phone.locator("[data-attachment]")).to_have_count(COUNT_LIMIT)
    message, last = phone.get_by_label("Message"), chips(phone).last
    box = await box_of(message)
    assert box["y"] + box["height"] <= SMALL["height"]
    await expect(last).to_be_in_viewport()


async def test_a_keyboard_that_only_covers_the_page_makes_it_smaller(phone: Page) -> None:
    """As on iOS: the layout stays, what is visible shrinks."""
    await phone.evaluate(
        """() => {
            Object.defineProperty(visualViewport, "height", { value: 420, configurable: true });
            visualViewport.dispatchEvent(new Event("resize"));
        }"""
    )
    composer = phone.locator(".composer")
    await expect(phone.locator("body")).to_have_css("height", "420px")
    box = await box_of(composer)
    assert box["y"] + box["height"] <= 420


@pytest.mark.parametrize("address", ["/", "/sessions/", "/spending/", "/links/", "/new", "/key"])
async def test_nothing_is_wider_than_the_phone(phone: Page, address: str) -> None:
    await phone.goto(address)
    width = await phone.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


async def test_a_link_of_a_long_title_is_as_wide_as_the_phone(phone: Page) -> None:
    await finished(await send(phone, "w" * 300))
    await share(phone)
    await make_link(phone)
    await phone.goto("/links/")
    assert await phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def test_what_can_be_added_is_a_sheet_from_below(phone: Page) -> None:
    await phone.get_by_label("Add files and more").click()
    sheet = phone.locator(".plus .items")
    await expect(sheet).to_be_visible()
    box = await box_of(sheet)
    assert (box["x"], box["width"]) == (0, PHONE["width"])
    assert box["y"] + box["height"] == PHONE["height"]
    await assert_accessible(phone, within=".composer")


async def test_on_home_send_stands_beside_what_is_chosen(phone: Page) -> None:
    await phone.set_viewport_size({"width": 320, "height": 700})
    await phone.goto("/")
    add, send_button = phone.get_by_label("Add files and more"), phone.locator(".composer .send")
    assert (await box_of(add))["y"] == (await box_of(send_button))["y"]


async def test_several_tools_leave_the_message_its_line(phone: Page) -> None:
    await open_session(phone)
    message = phone.get_by_label("Message")
    alone = await box_of(message)
    for name in ("Search the web", "Read links", "Run code"):
        await switch_on(phone, name)
    beside = await box_of(message)
    assert (beside["width"], beside["height"]) == (alone["width"], alone["height"])


async def test_everything_of_a_chat_is_in_reach(phone: Page) -> None:
    await phone.get_by_label("More for this chat").click()
    for name in ("Rename", "Pin", "Share…", "Move to folder…", "Archive", "Delete"):
        await expect(phone.locator(".menu[open]").get_by_role("button", name=name)).to_be_in_viewport()
    await phone.keyboard.press("Escape")
    await open_account(phone)
    for name in ("Spending", "Shared links", "Import a chat…", "Archive", "Admin"):
        await expect(phone.locator(".account-menu").get_by_role("link", name=name)).to_be_in_viewport()
    for name in ("Simple", "Inspect", "Keyboard shortcuts", "Sign out"):
        await expect(phone.locator(".account-menu").get_by_role("button", name=name)).to_be_in_viewport()


async def test_escape_closes_one_thing_at_a_time(phone: Page) -> None:
    await row_menu(phone)
    await phone.keyboard.press("Escape")
    await expect(phone.locator(OVER)).to_have_count(1)
    await expect(phone.get_by_role("navigation", name="Chats")).to_be_visible()
    await phone.keyboard.press("Escape")
    await expect(phone.locator(OVER)).to_have_count(0)


async def test_a_tap_beside_the_sidebar_closes_it(phone: Page) -> None:
    await phone.get_by_role("button", name="Chats", exact=True).click()
    await expect(phone.locator(".shade")).to_be_visible()
    await phone.mouse.click(PHONE["width"] - 20, PHONE["height"] / 2)
    await expect(phone.get_by_role("navigation", name="Chats")).to_be_hidden()
    await expect(phone.locator(".shade")).to_be_hidden()


async def test_a_title_is_written_with_room_for_it(phone: Page) -> None:
    await phone.get_by_label("More for this chat").click()
    await phone.get_by_role("button", name="Rename").click()
    title = phone.get_by_role("textbox", name="Title")
    await title.fill("All about the bees of a garden")
    assert (await box_of(title))["width"] > PHONE["width"] / 2
    await title.press("Enter")
    await expect(phone.get_by_role("heading", name="All about the bees of a garden")).to_be_visible()
    await expect(phone.get_by_label("More for this chat")).to_be_focused()
