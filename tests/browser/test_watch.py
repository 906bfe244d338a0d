"""The watch that every browser test stands under, and that the page holds still while text comes."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send

BREACHES = {
    "an inline style": "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')",
    "an inline script": "document.head.append(Object.assign(document.createElement('script'), {text: '1'}))",
    "an error that is printed": "console.error('inline trouble')",
    "an error that is thrown": "setTimeout(() => { throw new Error('inline trouble') })",
}

JUMPS = """() => {
  window.jumps = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries())
      for (const { node, previousRect: from, currentRect: to } of hadRecentInput ? [] : sources) {
        const settled = node?.nodeType === 1 && !node.closest(".foot, .tail") && to.height > 0;
        if (settled && Math.abs(to.top - from.top) > 4) window.jumps.push([node.outerHTML, from.top, to.top]);
      }
  }).observe({ type: "layout-shift", buffered: false });
}"""
"""Notes what moved on the page without being scrolled, but for the growing edge of the text."""


@pytest.mark.parametrize("breach", BREACHES)
async def test_the_watch_hears(page: Page, complaints: list[str], breach: str) -> None:
    await page.goto("/")
    await page.evaluate(f"() => {{ {BREACHES[breach]} }}")
    await expect(page.locator("body")).to_be_visible()
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert len(complaints) == 1 and "inline" in complaints.pop()


@pytest.mark.parametrize(("width", "slowness"), [(390, 8), (1440, 1)])
async def test_nothing_jumps_while_an_answer_comes(page: Page, width: int, slowness: int) -> None:
    """A phone is slow: what it draws is behind what has come."""
    await page.set_viewport_size({"width": width, "height": 900})
    await open_session(page)
    await finished(await send(page, "/long please"))
    await page.get_by_label("Message").fill("/long /think again")
    session = await page.context.new_cdp_session(page)
    await session.send("Emulation.setCPUThrottlingRate", {"rate": slowness})
    await page.evaluate(JUMPS)
    await page.get_by_label("Message").press("Enter")
    await expect(page.locator(".run")).to_have_count(2)
    await finished(page.locator(".run").last)
    assert await page.evaluate("() => window.jumps") == []
