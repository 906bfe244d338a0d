"""Faults of the wire in a real browser: words in place of the answer, what came stays, Retry works."""

from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send


async def test_a_broken_connection_keeps_what_came_and_retry_answers(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/drop once")
    await expect(run.get_by_role("alert")).to_contain_text("The connection broke")
    await expect(run.locator(".text")).not_to_be_empty()
    await run.get_by_role("button", name="Retry").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await finished(page.locator(".run").last)
    await expect(page.locator(".run .bubble")).to_have_text("/drop once")


async def test_a_blocked_prompt_is_explained_before_and_after_a_reload(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "/blocked"))
    for _ in range(2):
        run = page.locator(".run")
        await expect(run.locator(".bubble")).to_have_text("/blocked")
        await expect(run.get_by_role("alert")).to_contain_text("Rephrase the message")
        await expect(run.get_by_role("button", name="Retry")).to_be_visible()
        await page.reload()
