"""A change that the model makes to a file, as a person sees it and takes it back."""

from playwright.async_api import Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send


async def test_an_edit_is_shown_below_its_call_and_undone(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "write edited.md: hello there"))
    run = await send(page, "in edited.md replace “hello” by “good morning”")
    await finished(run)
    await page.reload()
    card = page.locator("details.tool", has_text="Edit a file")
    await page.locator("details.activity").last.locator("summary").first.click()
    await card.locator("> summary").click()
    fold = card.get_by_text("Change of the file")
    assert await fold.evaluate("(fold) => getComputedStyle(fold, '::after').content") == "none"
    await fold.click()
    # It is read when it comes into view.
    await card.get_by_role("heading", name="Result").scroll_into_view_if_needed()
    change = card.locator(".file-change")
    await expect(change.locator("del")).to_have_text("-hello there")
    await expect(change.locator("ins")).to_have_text("+good morning there")
    await assert_accessible(page)
    await change.get_by_role("button", name="Undo").click()
    await expect(change.get_by_role("status")).to_contain_text("Undone")
    await expect(change.get_by_role("button")).to_have_count(0)
    await finished(await send(page, "read edited.md"))
    await expect(page.locator("details.tool").last.locator(".response")).to_contain_text("hello there")


async def test_a_file_that_is_written_over_comes_back(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "write overwritten.md: first words"))
    await expect(page.get_by_text("Change of the file")).to_have_count(0)
    await finished(await send(page, "write overwritten.md: second words"))
    await page.reload()
    await page.locator("details.activity").last.locator("summary").first.click()
    card = page.locator("details.tool", has_text="Write an artifact").last
    await card.locator("> summary").click()
    await card.get_by_text("Change of the file").click()
    await card.get_by_role("heading", name="Result").scroll_into_view_if_needed()
    change = card.locator(".file-change")
    await expect(change.locator("del")).to_have_text("-first words")
    await change.get_by_role("button", name="Undo").click()
    await expect(change.get_by_role("status")).to_contain_text("Undone")
    await finished(await send(page, "read overwritten.md"))
    await expect(page.locator("details.tool").last.locator(".response")).to_contain_text("first words")
