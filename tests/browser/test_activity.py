"""What the model did for an answer: one line, live and later, that unfolds into readable steps."""

import re

from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send

WORDS = """() => {
  window.words = new Set();
  new MutationObserver(() => {
    const line = document.querySelector(".run[aria-busy] .activity .words");
    if (line) window.words.add(line.textContent);
  }).observe(document.querySelector(".transcript"), { childList: true, subtree: true, characterData: true });
}"""


async def test_the_line_says_what_is_done_and_then_what_was_done(page: Page) -> None:
    await open_session(page)
    await page.evaluate(WORDS)
    run = await send(page, "/think weather in Paris and London")
    await finished(run)
    assert {"Thinking…", "Current temperature…"} <= set(await page.evaluate("() => [...window.words]"))
    line = run.locator(".activity > summary")
    await expect(line).to_have_text(re.compile(r"^\s*Thought for .+ · used 2 tools\s*$"))
    done = await line.inner_text()
    await page.reload()
    await expect(line).to_have_text(done)


async def test_steps_have_titles_and_keep_the_function_inside(page: Page) -> None:
    await open_session(page)
    run = await send(page, "weather in Paris and London")
    await finished(run)
    card = run.locator(".tool").first
    await expect(card).to_be_hidden()
    await run.locator(".activity > summary").click()
    await expect(card.locator("summary")).to_have_text(re.compile(r"Current temperature\s+Paris"))
    await expect(card.get_by_text("get_current_temperature")).to_be_hidden()
    await card.locator("summary").click()
    await expect(card.get_by_text("get_current_temperature")).to_be_visible()


async def test_thinking_is_said_once(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/think /slow /stall 15 please")
    await expect(run.locator(".activity .words")).to_have_text("Thinking…")
    await expect(run.get_by_text("Thinking…").locator("visible=true")).to_have_count(1)
    await page.keyboard.press("Escape")
    await finished(run)
