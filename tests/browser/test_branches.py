"""Branches in a real browser: edit, switch, answer again, correct, fork, links to a turn."""

import re

from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.browser.test_chat import finished, open_session, send


async def talked(page: Page) -> Locator:
    """A session with two answered messages; its articles."""
    await open_session(page)
    await finished(await send(page, "First words"))
    await finished(await send(page, "Second words"))
    runs = page.locator(".run")
    await expect(runs.last.locator(".menu")).to_be_visible()
    return runs


async def reword(page: Page, run: Locator, text: str) -> None:
    await run.hover()
    await run.get_by_role("button", name="Edit your words").click()
    await page.get_by_label("New wording").fill(text)


async def choose(run: Locator, item: str) -> None:
    await run.get_by_label("More for this answer").click()
    await run.get_by_text(item).click()


async def test_editing_a_message_keeps_the_old_branch_in_reach(page: Page) -> None:
    runs = await talked(page)
    await reword(page, runs.first, "Other words")
    await expect(page.locator(".stays")).to_have_text("The old wording and 1 later message stay on branch 1.")
    await page.keyboard.press("Control+Enter")
    await expect(runs).to_have_count(1)
    await finished(runs.first)
    await expect(runs.first.locator(".bubble")).to_have_text("Other words")
    await expect(runs.first.locator(".choice-of")).to_contain_text("2/2")
    await runs.get_by_role("button", name="Branch before").click()
    await expect(page.locator(".bubble")).to_have_text(["First words", "Second words"])
    await page.reload()
    await expect(page.locator(".bubble")).to_have_text(["First words", "Second words"])


async def test_escape_leaves_the_edit_and_nothing_else(page: Page) -> None:
    runs = await talked(page)
    await reword(page, runs.last, "Never sent")
    await page.keyboard.press("Escape")
    await expect(page.locator(".rewording")).to_have_count(0)
    await expect(runs.last.locator(".bubble")).to_have_text("Second words")


async def test_arrow_up_edits_the_last_message(page: Page) -> None:
    await talked(page)
    await page.get_by_label("Message").press("ArrowUp")
    await expect(page.get_by_label("New wording")).to_have_value("Second words")


async def test_another_answer_is_a_branch_that_can_be_compared(page: Page) -> None:
    runs = await talked(page)
    await runs.last.get_by_role("button", name="Answer again").click()
    arrows = page.locator(".step .choice-of")
    await expect(arrows).to_contain_text("2/2")
    await finished(runs.last)
    await page.get_by_role("button", name="Branch before").click()
    await expect(arrows).to_contain_text("1/2")
    await expect(page.get_by_role("button", name="Branch after")).to_be_focused()


async def test_switching_keeps_the_message_where_it_was(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "/long please"))
    await finished(await send(page, "Middle words"))
    runs = page.locator(".run")
    await reword(page, runs.last, "Changed words")
    await page.keyboard.press("Control+Enter")
    await expect(runs.last.locator(".choice-of")).to_contain_text("2/2")
    await finished(await send(page, "/long and more"))
    arrow = runs.nth(1).get_by_role("button", name="Branch before")
    await arrow.scroll_into_view_if_needed()
    before = await runs.nth(1).evaluate("(one) => one.getBoundingClientRect().top")
    await arrow.click()
    await expect(runs).to_have_count(2)
    after = await runs.nth(1).evaluate("(one) => one.getBoundingClientRect().top")
    room = await page.locator(".scroller").evaluate("(b) => b.scrollHeight - b.scrollTop - b.clientHeight")
    assert abs(after - before) < 2 or room < 2


async def test_what_stands_beside_the_talk_follows_the_switch(page: Page) -> None:
    runs = await talked(page)
    await reword(page, runs.first, "Other words")
    await page.keyboard.press("Control+Enter")
    await expect(runs.first.locator(".choice-of")).to_contain_text("2/2")
    await finished(runs.first)
    async with page.expect_response("**/outlook/"), page.expect_response("**/gauge/"):
        await page.get_by_role("button", name="Branch before").click()


async def test_a_second_tab_follows_the_switch(page: Page, context: BrowserContext) -> None:
    runs = await talked(page)
    await reword(page, runs.first, "Other words")
    await page.keyboard.press("Control+Enter")
    await expect(runs.first.locator(".choice-of")).to_contain_text("2/2")
    other = await context.new_page()
    await other.goto(page.url)
    await expect(other.locator(".bubble")).to_have_text(["Other words"])
    await page.get_by_role("button", name="Branch before").click()
    await expect(other.locator(".bubble")).to_have_text(["First words", "Second words"])


async def test_an_edit_reaches_the_second_tab_live(page: Page, context: BrowserContext) -> None:
    runs = await talked(page)
    other = await context.new_page()
    await other.goto(page.url)
    await expect(other.locator(".run")).to_have_count(2)
    await reword(page, runs.first, "Other words")
    await page.get_by_role("button", name="Send", exact=True).click()
    await expect(other.locator(".bubble")).to_have_text(["Other words"])
    await finished(other.locator(".run"))


async def test_no_branch_is_switched_while_it_answers(page: Page) -> None:
    runs = await talked(page)
    await reword(page, runs.last, "/slow other words")
    await page.keyboard.press("Control+Enter")
    await expect(runs.last.locator(".text")).not_to_be_empty()
    await reword(page, runs.first, "Not now")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("alert")).to_contain_text("is answering")
    await expect(page.get_by_label("New wording")).to_have_value("Not now")
    await page.get_by_role("button", name="Cancel").click()
    await page.keyboard.press("Escape")
    await finished(runs.last)


async def test_an_answer_is_corrected_beside_the_models_own(page: Page) -> None:
    runs = await talked(page)
    await choose(runs.first, "Edit this answer…")
    await expect(page.get_by_label("New wording")).to_have_value(re.compile("I am an emulator"))
    await page.get_by_label("New wording").fill("My **own** answer")
    await page.get_by_role("button", name="Save as a branch").click()
    await expect(runs).to_have_count(1)
    await expect(runs.locator(".text strong")).to_have_text("own")
    await expect(runs.locator(".mark")).to_contain_text("In your words")
    await expect(runs.locator(".step .choice-of")).to_contain_text("2/2")
    await finished(await send(page, "Go on"))


async def test_a_fork_goes_on_by_itself(page: Page) -> None:
    runs = await talked(page)
    first = page.url
    await choose(runs.first, "Fork from here")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Fork of First words")
    assert page.url != first
    await expect(page.locator(".bubble")).to_have_text(["First words"])
    await finished(await send(page, "Elsewhere"))
    await page.goto(first)
    await expect(page.locator(".bubble")).to_have_text(["First words", "Second words"])


async def test_a_link_to_another_branch_is_read_and_can_be_taken_up(page: Page) -> None:
    runs = await talked(page)
    await runs.last.get_by_label("More for this answer").click()
    link = await runs.last.locator("[data-copy-link]").get_attribute("href")
    await page.keyboard.press("Escape")
    await reword(page, runs.first, "Other words")
    await page.keyboard.press("Control+Enter")
    await expect(runs.first.locator(".choice-of")).to_contain_text("2/2")
    await page.goto(str(link))
    await expect(page.locator(".bubble")).to_have_text(["First words", "Second words"])
    await expect(page.get_by_text("You are reading another branch")).to_be_visible()
    await page.get_by_role("button", name="Go on from here").click()
    await expect(page.get_by_label("Message")).to_be_visible()
    await expect(page.locator(".bubble")).to_have_text(["First words", "Second words"])
