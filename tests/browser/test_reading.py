"""What a reader sees of an answer: thoughts with their time, calls, formulas, code, long conversations."""

import re

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.talks import open_talk
from tests.browser.test_chat import finished, open_session, send

LONG = 300
TALK = [(f"Question {n}", f"Answer {n}, with some words to read. " * 8) for n in range(LONG // 2)]

HIGHLIGHTS = """() => {
  window.coloured = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        window.coloured.push(...(node.querySelectorAll?.(".code code span:not(.tail)") ?? []));
  }).observe(document.querySelector(".transcript"), { childList: true, subtree: true });
}"""

OPENING = """() => {
  const [page] = performance.getEntriesByType("navigation");
  return [page.domContentLoadedEventEnd - page.responseEnd, page.decodedBodySize];
}"""
"""Milliseconds from the last byte of the page to its readiness, and its bytes."""


async def test_what_is_unfolded_in_the_newest_answer_stays_where_it_was(page: Page) -> None:
    await page.set_viewport_size({"width": 1000, "height": 500})
    await open_session(page)
    await finished(await send(page, "Hello"))
    talk, fold = page.locator(".scroller"), page.locator(".run .received > summary")
    await expect(talk).to_have_attribute("data-following", "")
    before = await fold.bounding_box()
    await fold.click()
    await expect(talk).not_to_have_attribute("data-following", "")
    await page.set_viewport_size({"width": 700, "height": 500})
    await fold.click()
    await fold.click()
    await page.set_viewport_size({"width": 1000, "height": 500})
    assert await fold.bounding_box() == before
    await expect(page.locator(".pill")).to_be_hidden()


async def test_the_end_is_followed_again_when_the_fold_is_closed(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    fold = page.locator(".run .received > summary")
    await fold.click()
    await fold.click()
    await expect(page.locator(".scroller")).to_have_attribute("data-following", "")


async def test_thoughts_say_how_long_they_took_live_and_later(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/think /slow please")
    label = run.locator(".activity > summary")
    await expect(label).to_have_text("Thinking…")
    await expect(label).to_have_text(re.compile("Thought for"))
    await expect(run).to_have_attribute("aria-busy", "true")
    live = await label.inner_text()
    await page.keyboard.press("Escape")
    await finished(run)
    await page.reload()
    await expect(label).to_have_text(live)
    await expect(run.locator(".thoughts .inside")).to_be_hidden()


async def test_calls_stay_folded_with_arguments_and_result_after_a_reload(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "weather in Paris and London"))
    await page.reload()
    cards = page.locator(".run .tool")
    await expect(cards).to_have_count(2)
    await expect(cards.first).to_be_hidden()
    await page.locator(".activity > summary").press("Enter")
    await expect(cards.first.locator(".inside")).to_be_hidden()
    await cards.first.locator("summary").press("Enter")
    await expect(cards.first.locator(".inside")).to_contain_text("Paris")
    await expect(cards.first.locator(".state")).to_have_text("done")


async def test_every_answer_says_its_tokens_and_what_was_cached(page: Page) -> None:
    await open_session(page)
    run = await send(page, "Hello")
    await finished(run)
    await run.get_by_role("button", name="Tokens and cost of this answer").click()
    card = run.get_by_role("group", name="What this answer cost")
    await expect(card).to_contain_text(re.compile(r"[\d,]+ tokens read, [\d,]+ written"))
    await expect(card).to_contain_text(re.compile(r"(\d+ % was|of it was) read from a cache"))
    await expect(card).to_contain_text(re.compile(r"would have cost \$0\.\d+"))


async def test_formulas_are_formulas_and_money_is_money(page: Page) -> None:
    answer = "Between $5 to $10, where $x^2 + 1$ holds:\n\n$$\\sum_{i=1}^n i$$"
    await open_talk(page, [("How much?", answer)])
    text = page.locator(".run .text")
    await expect(text.locator("math")).to_have_count(2)
    await expect(text).to_contain_text("Between $5 to $10, where")
    await expect(text.locator("math").first.locator("msup")).to_have_count(1)


async def test_code_is_coloured_once_when_it_closes(page: Page) -> None:
    await open_session(page)
    await page.evaluate(HIGHLIGHTS)
    run = await send(page, "/long /slow please")
    await expect(run.locator(".code code span:not(.tail)").first).to_be_visible(timeout=20_000)
    await expect(run.locator(".text")).to_contain_text("What comes back")
    once = await run.locator(".code code span:not(.tail)").count()
    await expect(run.locator(".text")).to_contain_text("awkward characters")
    assert await page.evaluate("() => window.coloured.length") == once
    await page.keyboard.press("Escape")
    await finished(run)


async def test_a_long_conversation_opens_at_its_end_and_goes_back_on_request(page: Page) -> None:
    await open_talk(page, TALK)
    runs = page.locator(".run")
    await expect(runs.last).to_be_in_viewport()
    assert await runs.count() < LONG // 4
    first = await runs.first.locator(".bubble").inner_text()
    await page.locator(".scroller").evaluate("(box) => box.scrollTo(0, 0)")
    shown = await runs.count()
    place = await page.get_by_text(first, exact=True).bounding_box()
    await page.get_by_role("link", name="Show earlier messages").click()
    await expect(runs).to_have_count(shown * 2)
    after = await page.get_by_text(first, exact=True).bounding_box()
    assert place and after and after["y"] - place["y"] == pytest.approx(0, abs=2)  # It stays in view.


async def test_a_long_conversation_is_there_at_once(page: Page) -> None:
    await open_talk(page, TALK)
    await page.reload(wait_until="load")
    took, size = await page.evaluate(OPENING)
    assert took < 5_000 and size < 500_000, (took, size)


async def test_a_link_to_a_turn_opens_there(page: Page, context: BrowserContext) -> None:
    await open_talk(page, TALK[:20])
    anchor = await page.locator(".bubble").nth(3).get_attribute("id")
    other = await context.new_page()
    await other.goto(f"{page.url}#{anchor}")
    await expect(other.locator(".bubble").nth(3)).to_be_in_viewport()
    await expect(other.locator(".run").last).not_to_be_in_viewport()
    # The talk scrolls, and the page around it stays.
    assert await other.evaluate("() => document.scrollingElement.scrollTop") == 0
    await expect(other.locator("header.topbar")).to_be_in_viewport(ratio=1)
