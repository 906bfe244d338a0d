"""Where the focus is after an answer of htmx took what had it out of the page."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_panels import open_drawer, unfold, upload

pytestmark = pytest.mark.usefixtures("inspecting")


async def test_what_is_added_by_a_button_leaves_the_focus_in_the_field_for_the_next(page: Page) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await todos.get_by_label("New todo").fill("sow")
    await todos.get_by_role("button", name="Add").press("Enter")
    await expect(todos.get_by_text("sow", exact=True)).to_be_visible()
    await expect(todos.get_by_label("New todo")).to_be_focused()


async def test_a_row_that_is_saved_has_the_focus_and_its_panel_when_it_is_removed(page: Page) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await todos.get_by_label("New todo").fill("sow")
    await page.keyboard.press("Enter")
    row = todos.locator("details.edit > summary")
    await row.press("Enter")
    await todos.get_by_label("Todo 1").fill("sow the beans")
    await todos.get_by_role("button", name="Save").press("Enter")
    await expect(row).to_contain_text("sow the beans")
    await expect(row).to_be_focused()
    await row.press("Enter")
    await todos.get_by_role("button", name="Remove").press("Enter")
    await expect(row).to_have_count(0)
    await expect(page.locator("#panel-todos > details > summary")).to_be_focused()


async def test_pages_are_turned_one_after_the_other(page: Page) -> None:
    await open_drawer(page)
    files = await unfold(page, "file_references")
    await upload(page, "long.txt", b"A line of a long text.\n" * 9_000)
    await files.locator("details[id] > summary").first.press("Enter")
    turn = files.get_by_role("button", name="Next")
    await turn.press("Enter")
    await expect(files.locator(".pager")).to_contain_text("Page 2 of 3")
    await expect(turn).to_be_focused()
    await turn.press("Enter")
    await expect(files.locator(".pager")).to_contain_text("Page 3 of 3")
    await expect(files.locator("details[id] > summary").first).to_be_focused()


async def test_more_of_a_text_leaves_the_focus_beside_it(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "long " * 5_000 + "THE-VERY-END"))
    await page.goto(page.url.split("#")[0] + "inspect/1/")
    trigger = page.locator(".layer").last
    await trigger.get_by_role("link", name="Show the other").press("Enter")
    await expect(trigger).to_contain_text("THE-VERY-END")
    assert await page.evaluate("document.querySelector('main').contains(document.activeElement)")
