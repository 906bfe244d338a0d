"""The open block is formatted while it grows, and nothing jumps."""

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.test_chat import finished, open_session, send

SHIFTS = """() => {
  window.shift = 0;
  const isEnd = ({ node }) => node === null || node.closest?.(".foot");
  new PerformanceObserver((list) => {
    for (const { sources, value } of list.getEntries()) if (!sources.every(isEnd)) window.shift += value;
  }).observe({ type: "layout-shift", buffered: false });
}"""
"""Adds up what moved, but for the line below the answer: it is pushed by what grows above it.

Chrome counts that although the page scrolls by as much in the same frame. What follows an input at once
counts too, so that a slow machine measures the same frames as a fast one.
"""

FORMS = """() => {
  window.forms = new Set();
  new MutationObserver(() => {
    for (const node of document.querySelectorAll(".open *")) window.forms.add(node.localName);
  }).observe(document.querySelector(".transcript"), { childList: true, subtree: true });
}"""
"""Notes the elements that open blocks have had."""


@pytest.mark.parametrize("width", [390, 1440])
async def test_the_layout_holds_while_an_answer_comes(page: Page, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 900})
    await open_session(page)
    await finished(await send(page, "/long please"))
    await page.get_by_label("Message").fill("/long /think again")
    await page.evaluate(SHIFTS)
    await page.get_by_label("Message").press("Enter")
    await expect(page.locator(".run")).to_have_count(2)
    await finished(page.locator(".run").last)
    assert await page.evaluate("() => window.shift") <= 0.01


async def test_lists_tables_and_marks_are_formatted_before_they_end(page: Page) -> None:
    await open_session(page)
    await page.evaluate(FORMS)
    await finished(await send(page, "/long please"))
    forms = set(await page.evaluate("() => [...window.forms]"))
    assert {"p", "ul", "li", "strong", "table", "td", "pre"} <= forms


async def test_a_reload_and_a_second_tab_show_the_open_block_formatted(
    page: Page, context: BrowserContext
) -> None:
    """However long the tabs take to load: the answer waits in its middle until it is stopped."""
    await open_session(page)
    run = await send(page, "/slow /stall 90 please")
    await expect(run.locator(".open p").first).not_to_be_empty()
    other = await context.new_page()
    await other.goto(page.url)
    await page.reload()
    for tab in (page, other):
        await expect(tab.locator(".open p").first).not_to_be_empty()
    await page.keyboard.press("Escape")
    for tab in (page, other):
        await finished(tab.locator(".run"))
        await expect(tab.locator(".open")).to_have_count(0)
