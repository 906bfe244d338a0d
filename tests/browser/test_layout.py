"""One frame on every page: the sidebar, the bar, home, and both on a phone."""

import re
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, Request, expect

from tests.browser.conftest import open_account
from tests.browser.test_chat import finished, open_session, send

PHONE = {"width": 390, "height": 844}
WITH_KEYBOARD = {"width": 390, "height": 480}
SCROLLS_TO = """
(box, top) => new Promise((done) => {
  box.addEventListener("scroll", () => done(), { once: true });
  box.scrollTo(0, top);
})
"""
"""Two scrolls of one frame are one to the page, in the direction of their sum."""

PAGES = ("/", "/sessions/", "/spending/", "/key", "/links/", "/new")


@pytest_asyncio.fixture(loop_scope="session")
async def phone(page: Page) -> AsyncIterator[Page]:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    yield page


@pytest.mark.parametrize("address", PAGES)
async def test_every_page_has_the_sidebar(page: Page, address: str) -> None:
    await page.goto(address)
    await expect(page.get_by_role("navigation", name="Chats")).to_be_visible()
    await expect(page.get_by_role("link", name="New chat")).to_be_visible()


async def test_new_chat_is_an_empty_focused_composer_and_makes_no_row(page: Page) -> None:
    await page.goto("/sessions/")
    before = await page.locator(".session-list > li").count()
    await page.get_by_role("link", name="New chat").click()
    await expect(page).to_have_url(re.compile(r"/$"))
    await expect(page.get_by_label("Message")).to_be_focused()
    await page.goto("/sessions/")
    assert await page.locator(".session-list > li").count() == before


async def test_a_starter_begins_a_chat(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Plan a trip").click()
    await page.wait_for_url("**/s/**")
    await expect(page.locator(".bubble")).to_contain_text("weekend trip")


async def test_an_action_in_the_sidebar_leads_back_to_the_page(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Pinned from elsewhere"))
    await page.goto("/spending/")
    row = page.get_by_role("navigation", name="Chats").locator("li", has_text="Pinned from elsewhere")
    await row.get_by_label("More for “Pinned from elsewhere”").focus()
    await row.get_by_label("More for “Pinned from elsewhere”").press("Enter")
    await row.get_by_role("button", name="Pin").click()
    await expect(page.locator("section[aria-label=Pinned]")).to_contain_text("Pinned from elsewhere")
    await expect(page).to_have_url("/spending/")


async def test_a_chat_is_renamed_pinned_and_deleted_in_the_sidebar(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Sidebar words"))
    side = page.get_by_role("navigation", name="Chats")
    entry = side.locator("li:has([aria-current])")
    await entry.hover()
    await entry.get_by_label("More for").click()
    await entry.get_by_role("button", name="Rename").click()
    await side.get_by_role("textbox", name="Title").fill("Another name")
    await side.get_by_role("textbox", name="Title").press("Enter")
    named = side.locator("li", has_text="Another name")
    await named.hover()
    await named.get_by_label("More for").click()
    await named.get_by_role("button", name="Pin").click()
    await expect(side.locator("section", has_text="Pinned")).to_contain_text("Another name")
    await named.hover()
    await named.get_by_label("More for").click()
    await named.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("“Another name” is deleted.")).to_be_visible()
    await expect(page.get_by_role("button", name="Undo")).to_be_visible()


async def test_the_search_of_the_sidebar_opens_the_message(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Okapis are shy"))
    await page.goto("/spending/")
    await page.get_by_label("Search all that was said").press_sequentially("okapis")
    found = page.locator("#side-list a", has_text="You in").first
    above, below = found.locator(".where"), found.locator(".excerpt")
    upper, lower = await above.bounding_box(), await below.bounding_box()
    assert upper and lower and lower["y"] >= upper["y"] + upper["height"]
    await below.locator("mark").click()
    await page.wait_for_url("**/s/**")


async def test_back_closes_the_sheet_and_stays_on_the_page(phone: Page) -> None:
    await open_session(phone)
    address = phone.url
    side = phone.get_by_role("navigation", name="Chats")
    await phone.get_by_role("button", name="Chats", exact=True).click()
    await expect(side).to_be_visible()
    await phone.go_back()
    await expect(side).to_be_hidden()
    assert phone.url == address


async def test_everything_is_in_reach_on_a_phone(phone: Page) -> None:
    await open_session(phone)
    await open_account(phone)
    for name in ("Spending", "Admin", "Shared links"):
        await expect(phone.get_by_role("link", name=name)).to_be_visible()


async def test_the_talk_keeps_sixty_percent_above_the_keyboard(phone: Page) -> None:
    await open_session(phone)
    await finished(await send(phone, "Hello there"))
    await phone.set_viewport_size(WITH_KEYBOARD)  # type: ignore[arg-type]
    talk = await phone.locator(".scroller").bounding_box()
    composer = await phone.locator("form.composer").bounding_box()
    assert talk and composer
    assert talk["height"] + composer["height"] >= 0.6 * WITH_KEYBOARD["height"]
    assert composer["y"] + composer["height"] <= WITH_KEYBOARD["height"]


async def test_the_bar_makes_room_while_one_reads_downwards(phone: Page) -> None:
    await open_session(phone)
    await finished(await send(phone, "/long please"))
    bar, scroller = phone.locator(".topbar"), phone.locator(".scroller")
    await scroller.evaluate(SCROLLS_TO, 0)
    await expect(bar).not_to_have_class(re.compile("away"))
    await scroller.evaluate(SCROLLS_TO, 200)
    await expect(bar).to_have_class(re.compile("away"))
    await scroller.evaluate(SCROLLS_TO, 100)
    await expect(bar).not_to_have_class(re.compile("away"))


async def test_a_chat_needs_few_requests_and_the_next_page_fewer(page: Page) -> None:
    await open_session(page)
    chat = page.url
    asked: list[str] = []

    def count(request: Request) -> None:
        asked.append(request.url)

    await page.context.clear_cookies(name="nothing")
    page.on("request", count)
    await page.goto(chat)
    await expect(page.get_by_label("Message")).to_be_focused()
    await page.wait_for_load_state("networkidle")
    assert len(asked) <= 12, Counter(asked)
    scripts = [url for url in asked if "/bundles/chat." in url]
    assert len(scripts) == 2, "one script and one sheet"


async def test_home_does_not_load_the_chat(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto("/")
    await expect(page.get_by_label("Message")).to_be_focused()
    assert not [url for url in asked if re.search(r"/bundles/chat\.[0-9a-f]+\.js", url)]
    assert [url for url in asked if re.search(r"/bundles/home\.[0-9a-f]{12}\.js", url)]


async def test_a_chat_is_renamed_in_the_bar(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Words of the first message"))
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Rename").click()
    box = page.get_by_role("textbox", name="Title")
    await expect(box).to_be_focused()
    await box.fill("A name by hand")
    await box.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("A name by hand")
    await expect(page).to_have_title("A name by hand · Pipeweb")
    await expect(page.locator(".side [aria-current]")).to_have_text(re.compile("A name by hand"))
    await finished(await send(page, "More words"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("A name by hand")


async def test_the_menu_of_a_chat_is_the_same_in_the_sidebar_and_in_the_bar(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Two menus"))
    entry = page.locator(".side li:has([aria-current])")
    for menu in (entry.get_by_label("More for"), page.get_by_label("More for this chat")):
        await entry.hover()
        await menu.click()
        for name in ("Rename", "Pin", "Share…", "Move to folder…", "Delete"):
            await expect(page.locator(".menu[open]").get_by_role("button", name=name)).to_be_visible()
        await page.keyboard.press("Escape")
    await page.get_by_label("More for this chat").click()
    await page.locator(".menu[open]").get_by_role("button", name="Delete").click()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".side")).to_contain_text("Two menus")


LOW = {"width": 640, "height": 400}
"""A laptop of 1280 by 800 at 200 %, or a phone that lies on its side."""

SEEN = """(element) => {
    const { left, top, bottom } = element.getBoundingClientRect();
    const shown = (y) => element.contains(document.elementFromPoint(left + 30, y));
    return shown(top + 3) && shown(bottom - 3);
}"""
"""Whether the first and the last line of an element are on the screen, with nothing over them."""


@pytest.mark.parametrize("menu", ["account", "answer"])
async def test_all_of_a_menu_is_in_reach_on_a_low_screen(page: Page, menu: str) -> None:
    await page.set_viewport_size(LOW)  # type: ignore[arg-type]
    await open_session(page)
    run = await send(page, "Hello")
    await finished(run)
    if menu == "account":
        await open_account(page)
    else:
        await run.locator(".text").hover()
        await run.get_by_label("More for this answer").click()
    items = page.locator("details.menu[open] .items")
    await expect(items).to_be_in_viewport(ratio=1)
    for item in await items.locator(".button:visible").all():
        await item.scroll_into_view_if_needed()
        assert await item.evaluate(SEEN), await item.inner_text()
