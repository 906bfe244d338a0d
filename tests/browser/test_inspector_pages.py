"""How much of the inspector a screen holds, and that its pages follow the session on a second screen."""

from playwright.async_api import BrowserContext, Locator, Page, ViewportSize, expect

from tests.browser.access import assert_accessible
from tests.browser.test_inspector import open_list, open_newest, overflow
from tests.browser.test_inspector_more import say, send, start_session

DESK = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=390, height=844)
LINE = 32
"""Pixels that one line may be high."""

SOON = 20_000
"""Milliseconds; a page asks every two seconds, and a busy machine takes its time."""

BOXES = (
    """rows => rows.map((row) => row.getBoundingClientRect()).map(({ bottom, height }) => [bottom, height])"""
)


async def boxes(rows: Locator) -> list[list[float]]:
    """Bottom and height of each row."""
    return list(await rows.evaluate_all(BOXES))


async def start_tools(page: Page, runs: int) -> str:
    """A session with runs of two requests each; the address of its list."""
    address = await start_session(page)
    for _ in range(runs):
        await say(page, "weather in Paris and London")
    return address + "inspect/"


async def test_a_screen_holds_twenty_five_lines_of_the_list(page: Page) -> None:
    address = await start_tools(page, 10)
    await page.set_viewport_size(DESK)
    await page.goto(address)
    rows = page.locator("#rows tbody tr")
    found = await boxes(rows)
    assert sum(bottom <= DESK["height"] for bottom, _ in found) >= 25
    assert max(height for _, height in found) <= LINE
    await page.set_viewport_size({"width": 1024, "height": 900})
    assert max(height for _, height in await boxes(rows)) <= LINE
    assert await overflow(page) <= 0
    await page.set_viewport_size(NARROW)
    assert max(height for _, height in await boxes(rows)) <= 2 * LINE
    assert await overflow(page) <= 0
    await assert_accessible(page)


OVERHANGING = """badges => badges.filter((badge) =>
    badge.getBoundingClientRect().right > badge.closest("td").getBoundingClientRect().right
).map((badge) => badge.textContent)"""


async def test_no_badge_of_the_list_is_cut_off(page: Page) -> None:
    address = await start_session(page)
    await send(page, "/maxtokens Hello")
    await expect(page.locator(".run")).to_have_count(2)  # A cut answer is gone on with.
    await expect(page.locator(".run").last).not_to_have_attribute("aria-busy", "true")
    await page.set_viewport_size(DESK)
    await page.goto(address + "inspect/")
    badges = page.locator("#rows td .badge")
    await expect(badges.filter(has_text="max tokens").first).to_be_visible()
    for width in (1440, 1100):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await badges.evaluate_all(OVERHANGING) == []


async def test_a_list_opened_while_nothing_happens_notices_a_run(page: Page, context: BrowserContext) -> None:
    address = await start_session(page)
    await say(page, "Hello")
    watching = await context.new_page()
    await watching.goto(address + "inspect/")
    await expect(watching.locator("#rows tbody tr")).to_have_count(1)
    await expect(watching.locator("[data-live]")).to_have_count(0)
    await page.bring_to_front()
    await send(page, "weather in Paris and London")
    await expect(watching.locator("#exchange-2")).to_be_visible(timeout=SOON)
    # The second request puts the run under a heading.
    await expect(watching.locator("#exchange-3")).to_contain_text("complete", timeout=SOON)
    await expect(watching.locator("#rows .heading")).to_contain_text("2 requests")
    await expect(watching.locator("#totals")).to_contain_text("3 requests")


async def test_an_open_exchange_goes_from_streaming_to_its_end(page: Page, context: BrowserContext) -> None:
    address = await start_session(page)
    await say(page, "Hello")
    watching = await context.new_page()
    await watching.set_viewport_size(NARROW)
    await watching.goto(address + "inspect/1/?tab=stream")
    await expect(watching.locator("#head [rel=next]")).to_have_count(0)
    await page.bring_to_front()
    await send(page, "/slow /stall 15 tell me")
    await watching.locator("#head [rel=next]").click(timeout=SOON)
    head = watching.locator("#head")
    summary = head.locator("summary")
    await expect(summary).to_contain_text("streaming", timeout=SOON)
    await summary.click()
    await expect(head.locator(".facts")).to_contain_text("so far, the last after")
    await expect(head).not_to_contain_text("No answer has come yet")
    await expect(summary).to_contain_text("complete", timeout=60_000)
    # What the reader had opened is open.
    await expect(head.locator(".equation .price")).to_be_visible()
    await expect(watching.locator("[data-live]")).to_have_count(0)


async def test_a_list_stops_asking_when_its_session_is_gone(
    page: Page, context: BrowserContext, complaints: list[str]
) -> None:
    address = await start_session(page)
    await say(page, "Hello")
    watching = await context.new_page()
    await watching.goto(address + "inspect/")
    await page.get_by_label("More for this chat").click()
    page.on("dialog", lambda dialog: dialog.accept())
    await page.get_by_role("button", name="Delete").click()
    await expect(watching.get_by_text("This list no longer follows the session")).to_be_visible(timeout=SOON)
    await expect(watching.locator("main [hx-trigger^='every']")).to_have_count(0)
    assert "404" in complaints.pop()


async def test_a_list_stops_asking_when_its_person_signed_out(page: Page, context: BrowserContext) -> None:
    await open_list(page)
    await context.clear_cookies()
    await expect(page.get_by_text("This list no longer follows the session")).to_be_visible(timeout=SOON)
    await expect(page.locator("#rows")).to_be_visible()


async def test_the_head_is_one_line_on_a_phone_until_it_is_opened(page: Page) -> None:
    await page.set_viewport_size(NARROW)
    await open_newest(page)
    fold, verdict = page.locator("#head-fold"), page.locator("#head .verdict").first
    folded = await fold.bounding_box()
    assert folded is not None and folded["height"] <= LINE + 8
    await expect(verdict).not_to_be_visible()
    await fold.locator("summary").click()
    await expect(verdict).to_be_visible()
    await assert_accessible(page)


async def test_the_head_needs_no_opening_on_a_desk(page: Page) -> None:
    await page.set_viewport_size(DESK)
    await open_newest(page)
    await expect(page.locator("#head .verdict").first).to_be_visible()
    await expect(page.locator("#head-fold > summary")).not_to_be_visible()
    await expect(page.locator("#head .price")).to_contain_text("$")


async def test_a_stage_is_one_line_and_tells_more_when_it_is_opened(page: Page) -> None:
    await page.set_viewport_size(DESK)
    await open_newest(page, "Pipeline")
    rows = page.locator(".stages tbody tr")
    assert max(height for _, height in await boxes(rows)) <= LINE
    more = rows.filter(has_text="Plan the cache").locator("details")
    await more.locator("summary").click()
    await expect(more.locator("li").first).to_be_visible()
    await assert_accessible(page)
