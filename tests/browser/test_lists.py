"""The list of sessions in a real browser: rename, pin, archive, delete and undo, choose several, search; the
palette and the keys."""

import re
from pathlib import Path

from playwright.async_api import BrowserContext, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.talks import import_file
from tests.browser.test_chat import finished, open_session, send


async def spoken(page: Page, text: str) -> str:
    """The address of a new session in which this was said."""
    await open_session(page)
    await finished(await send(page, text))
    return page.url


async def more(page: Page, title: str, item: str) -> None:
    main = page.get_by_role("main")
    await main.get_by_label(f"More for “{title}”").click()
    await main.locator(".menu[open]").get_by_text(item).click()


async def test_a_title_given_by_hand_stays(page: Page) -> None:
    await spoken(page, "Unwanted title")
    await page.goto("/sessions/")
    await more(page, "Unwanted title", "Rename")
    await page.get_by_role("textbox", name="Title").fill("Better title")
    await page.get_by_role("textbox", name="Title").press("Enter")
    await page.get_by_role("main").get_by_role("link", name="Better title").click()
    await finished(await send(page, "More words"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("Better title")


async def test_a_deleted_session_comes_back(page: Page) -> None:
    await spoken(page, "Regretted")
    await page.goto("/sessions/")
    await more(page, "Regretted", "Delete")
    await expect(page.get_by_text("“Regretted” is deleted.")).to_be_visible()
    await expect(page.get_by_role("main").get_by_role("link", name="Regretted")).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("main").get_by_role("link", name="Regretted")).to_be_visible()


async def test_a_pinned_session_stands_first_and_an_archived_one_elsewhere(page: Page) -> None:
    await spoken(page, "Kept above")
    await spoken(page, "Put away")
    await page.goto("/sessions/")
    await page.get_by_role("main").get_by_role("button", name="Pin “Kept above”").click()
    await expect(page.locator(".session-list > li b").first).to_contain_text("Kept above")
    await more(page, "Put away", "Archive")
    await expect(page.get_by_role("main").get_by_role("link", name="Put away")).to_have_count(0)
    await page.goto("/sessions/?archive")
    await expect(page.get_by_role("main").get_by_role("link", name="Put away")).to_be_visible()


async def test_several_sessions_go_together(page: Page) -> None:
    await spoken(page, "Batch one")
    await spoken(page, "Batch two")
    await page.goto("/sessions/")
    await page.get_by_label("More for the list").click()
    await page.get_by_text("Choose several").click()
    await page.get_by_label("Choose “Batch one”").check()
    await page.get_by_label("Choose “Batch two”").check()
    await expect(page.get_by_text("2 chosen")).to_be_visible()
    await page.locator("#chosen").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("2 chats are deleted.")).to_be_visible()


async def test_an_unsent_text_is_marked_in_the_list(page: Page) -> None:
    await spoken(page, "Has a draft")
    await page.get_by_label("Message").fill("Half a thought")
    await page.goto("/sessions/")
    row = page.locator(".session-list > li", has_text="Has a draft")
    await expect(row.get_by_text("Draft", exact=True)).to_be_visible()


async def test_search_finds_words_while_typing_and_opens_the_turn(page: Page) -> None:
    await spoken(page, "Where do zebras cross?")
    await page.goto("/sessions/")
    await page.get_by_label("Search in all that was said").press_sequentially("zebra cr")
    await expect(page.locator("mark").first).to_have_text(re.compile("zebra", re.IGNORECASE))
    await expect(page).to_have_url("/sessions/?q=zebra%20cr")
    await page.locator(".found-list a", has_text="You in").first.click()
    await expect(page).to_have_url(re.compile(r"leaf=.+#t-.+"))
    await expect(page.locator(".bubble:target")).to_have_text("Where do zebras cross?")


async def test_the_palette_goes_places_by_keyboard_alone(page: Page) -> None:
    address = await spoken(page, "Quagga stripes")
    await page.goto("/sessions/")
    await page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Find")
    await expect(box).to_be_focused()
    await box.press_sequentially("quagga")
    found = page.get_by_role("option", name="Quagga stripes").first
    await expect(found).to_have_attribute("aria-selected", "true")
    await box.press("ArrowDown")
    await expect(found).to_have_attribute("aria-selected", "false")
    await box.press("ArrowUp")
    await box.press("Enter")
    await page.wait_for_url(re.compile(re.escape(address)))


async def test_the_palette_does_things(page: Page) -> None:
    await open_session(page)
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Find").fill("keyboard")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+Shift+O")
    await expect(page).to_have_url("/")


FIRST_STATE = """() => {
    const list = document.getElementById("shortcuts");
    new MutationObserver((_, observer) => {
        const control = list.querySelector("[data-single-keys]");
        if (!control) return;
        observer.disconnect();
        list.dataset.first = control.checked;
    }).observe(list, { childList: true, subtree: true });
}"""


async def test_the_switch_of_single_keys_is_right_from_the_start(page: Page) -> None:
    await open_session(page)
    await page.evaluate(FIRST_STATE)
    await page.keyboard.press("Control+/")
    await expect(page.locator("#shortcuts[data-first=true]")).to_be_visible()


async def test_single_keys_can_be_switched_off(page: Page) -> None:
    await open_session(page)
    await page.locator("h1").click()
    await page.keyboard.press("?")
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    await shortcuts.get_by_label("Single keys").uncheck()
    await page.keyboard.press("Escape")
    await expect(shortcuts).to_be_hidden()
    await page.keyboard.press("?")
    await expect(shortcuts).to_be_hidden()
    await page.keyboard.press("Control+/")
    await expect(shortcuts).to_be_visible()
    await shortcuts.get_by_label("Single keys").check()


async def test_a_session_leaves_as_a_file_and_comes_back(page: Page, tmp_path: Path) -> None:
    await spoken(page, "Travelling words")
    await page.goto("/sessions/")
    async with page.expect_download() as download:
        await more(page, "Travelling words", "Export as JSON")
    file = tmp_path / "session.json"
    await (await download.value).save_as(file)
    await import_file(page, file.read_bytes())
    await expect(page.locator(".bubble")).to_have_text("Travelling words")
    await finished(await send(page, "And on"))


async def test_times_are_the_readers(page: Page, context: BrowserContext) -> None:
    await page.goto("/sessions/")
    zone = await page.evaluate("() => Intl.DateTimeFormat().resolvedOptions().timeZone")
    cookies = {cookie["name"]: cookie["value"] for cookie in await context.cookies()}
    assert cookies["pipeweb_zone"] == zone


async def test_a_temporary_session_is_in_no_list_and_goes(page: Page) -> None:
    await page.goto("/")
    words = page.locator(".when-temporary")
    await expect(words).not_to_be_visible()
    await page.get_by_title("Temporary").click()
    await expect(words).to_have_text("Temporary: in no list and no search, erased after a day.")
    box = page.get_by_role("checkbox", name="Temporary")
    await expect(box).to_be_focused()
    await expect(box).to_have_css("clip-path", "inset(50%)")  # It stays unseen, and pushes nothing aside.
    await page.get_by_label("Message").fill("Nobody else")
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await finished(page.locator(".run"))
    address = page.url
    await page.goto("/sessions/")
    await expect(page.get_by_role("link", name="Nobody else")).to_have_count(0)
    await page.goto(address)
    await page.get_by_role("button", name="Erase now").click()
    await expect(page.get_by_text("The temporary chat is erased.")).to_be_visible()


async def test_the_palette_and_the_shortcuts_pass_the_accessibility_rules(page: Page) -> None:
    await spoken(page, "Heard by everyone")
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Find").press_sequentially("heard")
    await expect(page.locator("[data-found] mark").first).to_be_visible()
    await assert_accessible(page)
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+/")
    await assert_accessible(page)
