"""While a control is pressed the page holds still; what came meanwhile is shown after its release."""

import asyncio
import re

from playwright.async_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_panels import open_drawer


async def press(page: Page, control: Locator) -> tuple[float, float]:
    """Presses a control and keeps it pressed; where it is. What moves before that is aimed at again."""
    while True:
        await control.hover()
        await page.mouse.down()
        if await control.evaluate("(one) => one.matches(':active')"):
            held = await control.bounding_box()
            assert held
            return held["x"], held["y"]
        await page.mouse.move(0, 0)
        await page.mouse.up()


async def open_twice(page: Page, context: BrowserContext) -> Page:
    """A second page of a new session, which shows what the first one holds back."""
    await open_session(page)
    other = await context.new_page()
    await other.goto(page.url)
    return other


async def length(run: Locator) -> int:
    return len(await run.locator(".steps").inner_text())


async def test_a_button_in_a_growing_answer_stays_under_the_pointer(
    page: Page, context: BrowserContext
) -> None:
    other = await open_twice(page, context)
    run = await send(page, "/long /slow please")
    growing = run.locator(".code").first
    wrap = growing.get_by_role("button", name="Wrap")
    await expect(wrap).to_be_visible()
    there = other.locator(".run")
    await expect(there.locator(".code").first).to_be_visible()
    place = await press(page, wrap)
    shown, before = await run.inner_text(), await length(there)
    while await length(there) < before + 200 and await there.get_attribute("aria-busy"):
        await other.wait_for_timeout(50)
    box = await wrap.bounding_box()
    assert box and (box["x"], box["y"]) == place
    assert await run.inner_text() == shown
    await page.mouse.up()
    await expect(wrap).to_have_attribute("aria-pressed", "true")
    await expect(run).not_to_have_text(shown)
    await page.keyboard.press("Escape")
    await finished(run)


async def test_what_grew_just_before_the_press_moves_nothing_until_the_release(page: Page) -> None:
    """The page follows an answer's end in its next frame, when a button may be pressed already."""
    await open_session(page)
    run = await send(page, "/long please")
    await finished(run)
    await expect(page.locator("[data-following]")).to_be_attached()
    copy = run.get_by_role("button", name="Copy as Markdown").last
    await copy.evaluate("(one) => one.addEventListener('click', () => { one.dataset.clicked = 1 })")
    await page.evaluate(
        """() => document.addEventListener("pointerdown", () => {
          const grown = document.createElement("div");
          grown.style.height = "300px";
          document.querySelector(".transcript").append(grown);
        }, { once: true, capture: true })"""
    )
    place = await press(page, copy)
    await page.wait_for_timeout(200)
    box = await copy.bounding_box()
    assert box and (box["x"], box["y"]) == place
    await page.mouse.up()
    await expect(copy).to_have_attribute("data-clicked", "1")
    await expect(page.locator(".transcript > div:last-child")).to_be_in_viewport(ratio=1)


async def test_a_release_that_the_page_does_not_see_holds_nothing_up(page: Page) -> None:
    await open_session(page)
    stop = page.get_by_role("button", name="Stop (Esc)")
    run = await send(page, "Hello /slow")
    await press(page, stop)
    await page.evaluate("document.dispatchEvent(new PointerEvent('pointermove', { buttons: 0 }))")
    await finished(run)
    await expect(run.locator(".ending")).to_have_count(0)


async def test_stop_does_not_become_send_under_the_pointer(page: Page, context: BrowserContext) -> None:
    other = await open_twice(page, context)
    await send(page, "/slow please")
    await page.get_by_role("textbox", name="Message").fill("half a thought")
    await press(page, page.get_by_role("button", name="Stop (Esc)"))
    await other.keyboard.press("Escape")
    await expect(other.locator(".ending")).to_contain_text("Stopped.")
    await page.mouse.up()
    await expect(page.locator(".ending")).to_contain_text("Stopped.")
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_enabled()
    await expect(page.locator(".run")).to_have_count(1)
    assert await page.get_by_role("textbox", name="Message").input_value() == "half a thought"


async def test_a_button_of_an_answer_that_ends_meanwhile_is_clicked(
    page: Page, context: BrowserContext
) -> None:
    other = await open_twice(page, context)
    run = await send(page, "/think /slow please")
    thoughts = run.locator(".activity > summary")
    await expect(thoughts).to_be_visible()
    await press(page, thoughts)
    await other.keyboard.press("Escape")
    await expect(other.locator(".ending")).to_contain_text("Stopped.")
    await page.mouse.up()
    await finished(run)
    await expect(run.locator(".activity")).to_have_attribute("open", "")


async def test_a_link_of_a_list_that_grows_meanwhile_is_followed(page: Page, context: BrowserContext) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    chat = await context.new_page()
    await chat.goto(page.url)
    await page.goto(page.url.split("#")[0] + "inspect/")
    link = page.locator("#rows tbody .asked a").first
    place = await press(page, link)
    async with page.expect_response("**/news/**"):
        await finished(await send(chat, "Once more"))
    for _ in range(2):
        async with page.expect_response("**/news/**"):
            pass
    box = await link.bounding_box()
    assert box and (box["x"], box["y"]) == place
    await page.mouse.up()
    await expect(page).to_have_url(re.compile("/inspect/1/"))


async def test_what_follows_an_answer_comes_after_the_release(page: Page, inspecting: None) -> None:
    """The answer to a request of the page that came while a button was pressed is not lost."""
    await open_session(page)
    await finished(await send(page, "Hello"))
    opens = page.locator("#outlook-opens")
    await opens.evaluate("(one) => { one.dataset.old = 1 }")
    arrived = await held_back(page, "**/outlook/")
    async with page.expect_request("**/outlook/"):
        await page.evaluate("document.body.dispatchEvent(new CustomEvent('session-changed'))")
    await press(page, opens)
    async with page.expect_response("**/outlook/"):
        arrived.set()
    await page.wait_for_timeout(200)
    await expect(opens).to_have_attribute("data-old", "1")
    async with page.expect_response("**/outlook/"):
        await page.mouse.up()
    await expect(page.locator("#outlook-opens:not([data-old])")).to_be_visible()


async def test_a_part_that_is_read_while_another_control_is_pressed_is_shown(
    page: Page, inspecting: None
) -> None:
    await open_drawer(page)
    arrived = await held_back(page, "**/panels/todos/")
    head = page.locator("li.panel > details > summary", has=page.locator("#head-todos"))
    part = page.locator("#body-todos")
    async with page.expect_request("**/panels/todos/"):
        await head.click()
    await press(page, head)
    async with page.expect_response("**/panels/todos/"):
        arrived.set()
    await page.wait_for_timeout(200)
    await expect(part).to_contain_text("Reading…")
    await page.mouse.move(0, 0)
    await page.mouse.up()
    await expect(part).not_to_contain_text("Reading…")


async def held_back(page: Page, address: str) -> asyncio.Event:
    """Answers to requests for it come when the event is set."""
    arrived = asyncio.Event()

    async def wait(route: Route) -> None:
        await arrived.wait()
        await route.continue_()

    await page.route(address, wait)
    return arrived
