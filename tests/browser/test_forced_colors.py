"""Forced colours (the contrast themes of Windows): what is chosen is seen without colours of ours."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.test_chat import finished, open_session, send

pytestmark = pytest.mark.usefixtures("inspecting")

LOOK = """one => {
    const canvas = getComputedStyle(document.documentElement).backgroundColor;
    const opaque = (colour) => (/, 0\\)$/.test(colour) ? canvas : colour.replace(/^rgba(.*),.*/, "rgb$1)"));
    return ["", "::before"].map((part) => getComputedStyle(one, part)).map((style) =>
        [opaque(style.backgroundColor), opaque(style.borderBottomColor), style.translate].join());
}"""
"""What a contrast theme leaves to be seen of an element and of what stands before its text."""

OPENED: dict[str, tuple[Callable[[Page], Awaitable[Any]], str, str]] = {
    "tabs of settings": (
        lambda page: page.get_by_role("button", name="Chat settings").click(),
        '[role="tab"][aria-selected="true"]',
        '[role="tab"]:not([aria-selected="true"])',
    ),
    "thinking": (
        lambda page: page.locator(".topbar .picks").click(),
        ".levels label:has(:checked):visible",
        ".levels label:not(:has(:checked)):visible",
    ),
    "palette": (
        lambda page: page.keyboard.press("Control+k"),
        '.palette li[aria-selected="true"]',
        '.palette li:not([aria-selected="true"])',
    ),
    "view": (
        lambda page: page.locator(".account-menu > summary").click(),
        '.view-switch [aria-pressed="true"]',
        '.view-switch [aria-pressed="false"]',
    ),
}
"""How it is opened, what is chosen there, what is not."""


async def looks(page: Page, chosen: str, other: str) -> tuple[str, str]:
    return (
        str(await page.locator(chosen).first.evaluate(LOOK)),
        str(await page.locator(other).first.evaluate(LOOK)),
    )


@pytest.mark.parametrize("name", OPENED)
async def test_what_is_chosen_is_seen(page: Page, name: str) -> None:
    opening, chosen, other = OPENED[name]
    await page.emulate_media(forced_colors="active")
    await open_session(page)
    await opening(page)
    one, another = await looks(page, chosen, other)
    assert one != another


async def test_a_panel_is_seen_to_be_on_or_off(page: Page) -> None:
    await page.emulate_media(forced_colors="active")
    await open_session(page)
    await page.get_by_role("button", name="Context").click()
    switch = page.locator(".panel > .switch").first
    background, knob = await switch.evaluate(LOOK)
    assert background.split(",")[:3] != knob.split(",")[:3]
    await switch.click()
    await page.wait_for_function("(one) => !one.checked", arg=await switch.element_handle())
    assert await switch.evaluate(LOOK) != [background, knob]


@pytest.mark.parametrize(
    ("chosen", "other"),
    [
        (".tabs > a[aria-current]", ".tabs > a:not([aria-current])"),
        (".switch > a[aria-current]", ".switch > a:not([aria-current])"),
    ],
)
async def test_the_tab_of_the_inspector_is_seen(page: Page, chosen: str, other: str) -> None:
    await page.emulate_media(forced_colors="active")
    await open_session(page)
    await finished(await send(page, "Hello"))
    await page.goto(f"{page.url}inspect/1/?tab=layers")
    one, another = await looks(page, chosen, other)
    assert one != another
