"""While a control is pressed the page holds still; what came meanwhile is shown after its release."""

import re

from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.browser.test_chat import finished, open_session, send


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
