"""Dialogs by the keyboard alone: what has the focus when one opens, and where Escape gives it back to."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_focus import talked
from tests.browser.test_plus import add_to_workspace

ADDED, CHAT, ANSWER = "Add files and more", "More for this chat", "More for this answer"


async def choose(page: Page, menu: str, item: str) -> None:
    await page.get_by_label(menu).last.press("Enter")
    await page.get_by_role("button", name=item).press("Enter")


@pytest.mark.parametrize(
    ("menu", "item", "focused"),
    [
        (ADDED, "Web page…", "#web-page [name=url]"),
        (ADDED, "From the workspace…", "#workspace [name=path] >> nth=0"),
        (ADDED, "Tools…", "#settings [name=tools] >> nth=0"),
        (CHAT, "Share…", "#share [name=content]:checked"),
        (CHAT, "Move to folder…", "#folder [name=folder]:checked"),
        (ANSWER, "Answer again with…", "#again [data-closes-dialog]"),
        (ANSWER, "Shorten this answer…", "#rewrite [name=text]"),
        (ANSWER, "Compress everything before…", "#rewrite [name=text]"),
        (ANSWER, "Delete this turn…", "#rewrite [name=what]:checked"),
    ],
)
async def test_the_first_field_has_the_focus_and_escape_gives_it_back(
    page: Page, menu: str, item: str, focused: str
) -> None:
    await add_to_workspace(page)
    await talked(page)
    await finished(await send(page, "Second words"))
    await choose(page, menu, item)
    await expect(page.locator(focused)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog[open]")).to_have_count(0)
    await expect(page.get_by_label(menu).last).to_be_focused()


async def test_a_dialog_without_a_field_has_it_where_it_is_closed(page: Page) -> None:
    await talked(page)
    await choose(page, ANSWER, "Compress everything before…")
    await expect(page.locator("#rewrite .actions [data-closes-dialog]")).to_be_focused()


async def test_a_link_that_was_made_is_copied_by_one_key(page: Page) -> None:
    await talked(page)
    await choose(page, CHAT, "Share…")
    await page.get_by_role("button", name="Make the link").press("Enter")
    await expect(page.locator("#share [data-copy]")).to_be_focused()


async def test_the_settings_open_at_their_tabs_and_return_at_what_is_wrong(page: Page) -> None:
    await open_session(page)
    opener = page.get_by_role("button", name="Chat settings")
    await opener.press("Enter")
    await expect(page.get_by_role("tab", name="Assistant")).to_be_focused()
    await page.get_by_role("tab", name="Advanced").click()
    await page.get_by_label("Time zone").fill("Nowhere")
    await page.get_by_role("tab", name="Model").click()
    await page.get_by_role("button", name="Save").press("Enter")
    await expect(page.get_by_label("Time zone")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(opener).to_be_focused()


async def test_a_dialog_that_could_not_be_filled_is_closed_by_one_key(
    page: Page, complaints: list[str]
) -> None:
    await open_session(page)
    await page.route("**/web-page/", lambda route: route.abort())
    await choose(page, ADDED, "Web page…")
    close = page.locator("#web-page").get_by_role("button", name="Close")
    await expect(close).to_be_focused()
    await close.press("Enter")
    await expect(page.get_by_label(ADDED)).to_be_focused()
    complaints.clear()
