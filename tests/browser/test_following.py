"""An answer and its session from several pages, and from none."""

import asyncio
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Page, Route, expect

from tests.browser.test_chat import DONE, finished, open_session, send

LATER = 60_000
PAPER = {"name": "paper.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 " + b"x" * 1000}


async def test_the_answer_is_written_to_its_end_while_nobody_looks(
    page: Page, context: BrowserContext
) -> None:
    await open_session(page)
    run = await send(page, "/long please")
    await expect(run.locator(".steps")).not_to_be_empty()
    address = page.url
    await page.close()
    back = await context.new_page()
    await back.goto(address)
    await expect(back.locator(f"{DONE} .text")).to_contain_text("Summary", timeout=LATER)
    await expect(back.locator(".run")).to_have_count(1)
    await expect(back.locator(".ending")).to_have_count(0)


async def test_two_pages_see_the_same_words_come(page: Page, context: BrowserContext) -> None:
    await open_session(page)
    other = await context.new_page()
    await other.goto(page.url)
    await send(page, "/slow please")
    there = other.locator(".run")
    await expect(there.locator(".text")).not_to_be_empty(timeout=LATER)
    await expect(there).to_have_attribute("aria-busy", "true")
    await other.keyboard.press("Escape")
    await expect(page.locator(".ending")).to_contain_text("Stopped.", timeout=LATER)
    await expect(there.locator(".ending")).to_contain_text("Stopped.")


async def test_a_session_is_called_after_its_first_words_until_a_person_names_it(
    page: Page, context: BrowserContext
) -> None:
    await open_session(page)
    other = await context.new_page()
    await other.goto(page.url)
    await send(page, "Which beans grow in the shade of a wall?")
    for tab in (page, other):
        await expect(tab.get_by_role("heading", level=1)).to_contain_text("Which beans grow in the shade")
        await expect(tab.locator(".side [aria-current]")).to_contain_text("Which beans grow")
    await finished(page.locator(".run"))


async def test_each_session_has_an_address_of_its_own(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "First of two"))
    first = page.url
    await open_session(page)
    await finished(await send(page, "Second of two"))
    assert page.url != first
    await page.goto(first)
    await expect(page.locator(".bubble")).to_have_text("First of two")
    await page.go_back()
    await expect(page.locator(".bubble")).to_have_text("Second of two")


async def test_a_page_has_what_was_answered_before_it_was_connected(
    page: Page, context: BrowserContext
) -> None:
    await open_session(page)
    may_connect = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_connect.wait()
        await route.continue_()

    slow = await context.new_page()
    await slow.route("**/bundles/chat*.js", hold)
    await slow.goto(page.url, wait_until="commit")
    await expect(slow.get_by_text("Ask anything.")).to_be_visible()
    await finished(await send(page, "Which beans grow in the shade?"))
    async with slow.expect_request("**/outlook/"):
        may_connect.set()
    await expect(slow.locator(".run .bubble")).to_have_text("Which beans grow in the shade?")
    await expect(slow.locator(".run .text")).not_to_be_empty()
    await expect(slow.get_by_role("heading", level=1)).to_contain_text("Which beans grow")


async def test_a_page_that_lacks_nothing_is_not_fetched_again(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    async with page.expect_websocket() as opened:
        await page.reload()
    await (await opened.value).wait_for_event("framereceived")
    await expect(page.locator(".run")).to_have_count(1)
    await page.wait_for_load_state("networkidle")
    assert asked.count(urlsplit(page.url).path) == 1


async def test_files_that_one_page_has_sent_leave_the_message_of_the_other(
    page: Page, context: BrowserContext
) -> None:
    await open_session(page)
    await page.get_by_label("Attach files").set_input_files(PAPER)  # type: ignore[arg-type]
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    other = await context.new_page()
    await other.goto(page.url)
    await expect(other.locator("[data-attachment]")).to_have_count(1)
    await finished(await send(page, "Sent here"))
    await expect(other.locator(".composer [data-attachment]")).to_have_count(0)
    await finished(await send(other, "Sent there"))
    await expect(page.locator(".bubble")).to_have_text(["Sent here", "Sent there"])
