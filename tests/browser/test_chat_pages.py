"""What stands around the talk: the list, settings, files, narrow windows, dark mode, accessibility."""

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import open_account
from tests.browser.test_chat import finished, open_session, send
from tests.server import Server

NARROW = {"width": 390, "height": 844}


async def overflow(page: Page) -> int:
    width: int = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    return width


async def test_settings_are_changed_in_a_dialog(page: Page) -> None:
    await open_session(page)
    await page.get_by_role("button", name="Chat settings").click()
    await page.get_by_label("Purpose").fill("Plan a garden")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".empty")).to_contain_text("Plan a garden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_narrow_window_never_scrolls_sideways(page: Page, scheme: str) -> None:
    await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    await page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await open_session(page)
    await finished(await send(page, "/long " + "unbroken" * 40))
    assert await overflow(page) == 0
    for address in ("/", "/new"):
        await page.goto(address)
        assert await overflow(page) == 0


async def test_the_session_list_is_a_drawer_in_a_narrow_window(page: Page) -> None:
    await page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await open_session(page)
    side = page.get_by_role("navigation", name="Chats")
    await expect(side).to_be_hidden()
    await page.get_by_role("button", name="Chats").click()
    await expect(side).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(side).to_be_hidden()


async def test_touch_targets_are_large_enough(
    browser: Browser, server: Server, signed_in_cookies: list[Any]
) -> None:
    context = await browser.new_context(base_url=server.url, viewport=NARROW, has_touch=True, is_mobile=True)  # type: ignore[arg-type]
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await page.goto("/")
    # A box is touched by its whole label.
    touched = "main button, main a.button, main label.choice, main input:not([type=checkbox])"
    too_low = "(all) => all.filter((one) => one.getBoundingClientRect().height < 43.9)"
    shown = page.locator(touched).locator("visible=true")
    small = await shown.evaluate_all(f"(all) => ({too_low})(all).map((one) => one.outerHTML)")
    assert small == []
    await context.close()


async def test_a_chosen_theme_is_there_before_the_first_paint(page: Page) -> None:
    await page.emulate_media(color_scheme="light")
    await page.goto("/")
    toggle = page.locator("[data-theme-toggle]")
    for _ in range(2):
        await open_account(page)
        await toggle.click()
    await expect(toggle).to_have_attribute("aria-label", "Colour theme: dark")
    await page.reload(wait_until="commit")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await expect(page.locator("html")).to_have_css("background-color", "rgb(25, 24, 22)")
