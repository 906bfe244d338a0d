"""What happens while a page fetches the transcript: what it has fetched is older than the events since."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, Route, expect

from tests.browser.lines import Line
from tests.browser.test_branches import reword
from tests.browser.test_chat import DONE, finished, open_session, send

ANSWERING = 'form.composer[data-state="busy"]'
IDLE = 'form.composer[data-state="idle"]'


class SlowPage:
    """Another page of a session, on a line that can be cut. The next transcript that it fetches comes when
    `arrive` is called, as it was when it was asked for.
    """

    def __init__(self, page: Page, line: Line) -> None:
        self.page = page
        self.line = line
        self._was_asked = asyncio.Event()
        self._may_arrive = asyncio.Event()

    async def hold(self) -> None:
        await self.page.route(re.compile(r"/s/[0-9a-f-]+/$"), self._answer, times=1)

    async def asks(self) -> None:
        await asyncio.wait_for(self._was_asked.wait(), 60)

    async def connects_again(self) -> None:
        await self.line.cut()
        self.line.is_cut = False

    def arrive(self) -> None:
        self._may_arrive.set()

    async def _answer(self, route: Route) -> None:
        response = await route.fetch()
        self._was_asked.set()
        await self._may_arrive.wait()
        await route.fulfill(response=response)


@pytest_asyncio.fixture(loop_scope="session")
async def slow(page: Page, context: BrowserContext) -> SlowPage:
    """Beside `page`, which shows a session with an answer."""
    await open_session(page)
    await finished(await send(page, "Hello"))
    line, other = Line(), await context.new_page()
    await line.lay(other)
    await other.goto(page.url)
    await expect(other.locator(DONE)).to_be_visible()
    await asyncio.wait_for(line.greeted.wait(), 60)
    return SlowPage(other, line)


async def ask_anew(page: Page, text: str) -> None:
    """Sends the only message in other words, and waits for the answer."""
    await reword(page, page.locator(".run"), text)
    await page.locator(".rewording").get_by_role("button", name="Send").click()
    await expect(page.locator(".bubble")).to_have_text([text])
    await finished(page.locator(".run"))


async def test_an_answer_that_ends_before_the_page_is_there_leaves_it_idle(
    page: Page, slow: SlowPage
) -> None:
    may_ask = asyncio.Event()

    async def ask_later(route: Route) -> None:
        await may_ask.wait()
        await route.continue_()

    await slow.line.cut()
    await send(page, "/slow please")
    await slow.page.route(re.compile(r"/s/[0-9a-f-]+/$"), ask_later, times=1)
    async with slow.page.expect_request(re.compile(r"/s/[0-9a-f-]+/$")):
        slow.line.is_cut = False
    await page.keyboard.press("Escape")
    await finished(page.locator(".run").last)
    may_ask.set()
    await expect(slow.page.locator(f"{DONE} .ending")).to_contain_text("Stopped.")
    await expect(slow.page.locator(IDLE)).to_be_visible()


async def test_an_answer_that_begins_while_a_page_is_fetched_can_be_stopped_there(
    page: Page, slow: SlowPage
) -> None:
    await slow.hold()
    await slow.connects_again()
    await slow.asks()
    await send(page, "/slow please")
    await expect(page.locator(".run").last.locator(".text")).not_to_be_empty()
    slow.arrive()
    await expect(slow.page.locator(".run").last.locator(".text")).not_to_be_empty()
    await expect(slow.page.locator(ANSWERING)).to_be_visible()
    await slow.page.keyboard.press("Escape")
    await expect(page.locator(".ending")).to_contain_text("Stopped.")


async def test_a_page_that_comes_after_a_later_one_changes_nothing(page: Page, slow: SlowPage) -> None:
    await send(page, "/slow please")
    await expect(slow.page.locator(".run").last.locator(".text")).not_to_be_empty()
    await slow.hold()
    await slow.connects_again()
    await slow.asks()
    await slow.line.cut()
    await page.keyboard.press("Escape")
    await finished(page.locator(".run").last)
    slow.line.is_cut = False
    await expect(slow.page.locator(f"{DONE} .ending")).to_contain_text("Stopped.")
    slow.arrive()
    await slow.page.wait_for_timeout(500)
    await expect(slow.page.locator(IDLE)).to_be_visible(timeout=1_000)
    await expect(slow.page.locator(".run")).to_have_count(2)
    await expect(slow.page.locator("p.banner")).to_be_hidden()


async def test_a_message_sent_while_another_branch_is_fetched_is_shown_with_its_answer(
    page: Page, slow: SlowPage
) -> None:
    await ask_anew(page, "Hello again")
    await expect(slow.page.locator(".bubble")).to_have_text(["Hello again"])
    await finished(slow.page.locator(".run"))
    await slow.hold()
    await page.get_by_role("button", name="Branch before").click()
    await slow.asks()
    await finished(await send(page, "A further question"))
    slow.arrive()
    await expect(slow.page.locator(".bubble")).to_have_text(["Hello", "A further question"])
    await finished(slow.page.locator(".run").last)
    await expect(slow.page.locator(".text")).to_have_count(2)
    await expect(slow.page.locator(IDLE)).to_be_visible()


CUT_ONCE = """() => {
  const whole = Response.prototype.text;
  Response.prototype.text = () => {
    Response.prototype.text = whole;
    return Promise.reject(new TypeError("network error"));
  };
}"""


async def test_a_page_that_breaks_off_in_its_middle_is_fetched_again(page: Page, slow: SlowPage) -> None:
    await slow.line.cut()
    await finished(await send(page, "Said meanwhile"))
    await slow.page.evaluate(CUT_ONCE)
    slow.line.is_cut = False
    await expect(slow.page.locator(".bubble")).to_have_text(["Hello", "Said meanwhile"])
    await finished(await send(slow.page, "And now"))


@pytest.mark.parametrize("way", ["switches", "rewords"])
async def test_a_wording_whose_message_another_page_takes_away_is_in_the_composer(
    page: Page, slow: SlowPage, way: str
) -> None:
    await ask_anew(page, "Hello again")
    await finished(slow.page.locator(".run"))
    await expect(slow.page.locator(".bubble")).to_have_text(["Hello again"])
    await reword(slow.page, slow.page.locator(".run"), "Long thought about")
    if way == "switches":
        await page.get_by_role("button", name="Branch before").click()
    else:
        await ask_anew(page, "Hello for the third time")
    await expect(slow.page.locator(".rewording")).to_have_count(0)
    await expect(slow.page.get_by_label("Message", exact=True)).to_have_value("Long thought about")
