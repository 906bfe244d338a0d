"""Caching and money in the chat: below an answer, below the composer, in the header."""

import re

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow

pytestmark = pytest.mark.usefixtures("inspecting")

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}


async def open_cached_session(page: Page) -> Locator:
    """A session whose second answer came from a cache; the article of that answer."""
    await page.goto("/")
    await page.get_by_role("button", name="See how it works").click()
    await page.get_by_role("button", name="Pay once for long instructions").click()
    await finished(page.locator(".run"))
    await expect(page.locator("[data-warm]")).to_be_visible(timeout=20_000)
    run = await send(page, "And for the day after?")
    await finished(run)
    return run


async def test_a_hit_shows_a_solid_static_layer_and_the_cached_share(page: Page) -> None:
    run = await open_cached_session(page)
    await expect(run.locator(".cost rect").first).to_have_attribute("fill", "var(--layer-static)")
    await expect(run.locator(".sum")).to_have_text(
        re.compile(r"cache hit\s+[1-9]\d %\s+would have cost \$0\.\d+")
    )
    await expect(run.locator(".cost rect").last).to_have_attribute("fill", "url(#hatch-trigger)")


async def test_the_ribbon_opens_the_inspector_at_its_exchange(page: Page) -> None:
    run = await open_cached_session(page)
    await run.locator(".cost").click()
    await page.wait_for_url("**/inspect/2/**")


async def test_the_card_is_opened_read_and_closed_by_keyboard(page: Page) -> None:
    run = await open_cached_session(page)
    await run.locator(".sum").press("Enter")
    card = run.locator(".card")
    await expect(card).to_contain_text(re.compile(r"[\d,]+ prompt = [\d,]+ new \+ [\d,]+ cached"))
    await expect(card).to_contain_text("Our bytes: ")
    await expect(card).to_contain_text("The provider: ")
    # The layers of the ribbon lead to their places first.
    for _ in range(await card.get_by_role("link", name=re.compile("open this layer")).count() + 1):
        await page.keyboard.press("Tab")
    await expect(card.get_by_role("link", name="Open in the inspector")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await expect(run.locator(".sum")).to_be_focused()


async def test_escape_closes_a_card_before_it_stops_an_answer(page: Page) -> None:
    await open_session(page)
    first = await send(page, "Hello there")
    await finished(first)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    card = page.locator(".run").first.locator(".card")
    await page.locator(".run").first.locator(".sum").press("Enter")
    await expect(card).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await expect(run).to_have_attribute("aria-busy", "true")
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")


async def test_the_estimate_grows_with_what_is_written(page: Page) -> None:
    await open_cached_session(page)
    await page.reload()  # the line that came with the answer before may still be replaced
    line = page.locator("#outlook .estimate")
    await expect(line).to_contain_text(
        re.compile(r"Next: ~\$0\.\d+, \d+ % cached; cache stays warm ~\d+:\d\d")
    )
    cost = line.locator('[data-usd="warm"]')
    before = await cost.inner_text()
    await page.get_by_label("Message").fill("a long story " * 400)
    await expect(cost).not_to_have_text(before)
    await page.get_by_label("Message").fill("")
    await expect(cost).to_have_text(before)


async def test_the_cache_cools_while_nobody_writes(page: Page) -> None:
    await open_cached_session(page)
    warm = await page.locator('[data-usd="warm"]').inner_text()
    await page.clock.install()
    await page.reload()
    await expect(page.locator("[data-warm]")).to_be_visible()
    await page.clock.fast_forward("02:00:00")
    await expect(page.locator("[data-cold]")).to_be_visible()
    await expect(page.locator("[data-warm]")).to_be_hidden()
    cold = await page.locator('[data-usd="cold"]').inner_text()
    assert float(cold.strip("$")) > float(warm.strip("$"))


async def test_the_header_sums_the_session_up_after_every_answer(page: Page) -> None:
    await open_session(page)
    totals = page.locator("#session-totals")
    await expect(totals).to_be_hidden()
    await finished(await send(page, "Hello there"))
    await expect(totals).to_have_text(re.compile(r"\$0\.\d+ · \d+ % cached"))
    before = await totals.inner_text()
    await finished(await send(page, "And again"))
    await expect(totals).not_to_have_text(before)
    await totals.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Spending")


async def test_a_budget_counts_nothing_of_the_emulator(page: Page) -> None:
    await open_session(page)
    await page.get_by_role("button", name="Chat settings").click()
    await page.get_by_role("tab", name="Limits").click()
    await page.get_by_label("Budget of the chat, US dollars").fill("0.0001")
    async with page.expect_navigation():
        await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#outlook")).to_contain_text("of budget left")
    await finished(await send(page, "Hello there"))
    await expect(page.locator("#outlook")).to_contain_text("$0.00010 of budget left")
    await expect(page.locator("#outlook").get_by_role("note")).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_nothing_jumps_when_an_answer_ends(page: Page, size: ViewportSize) -> None:
    await page.set_viewport_size(size)
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    height = "foot => foot.getBoundingClientRect().height"
    reserved = await run.locator(".foot").evaluate(height)
    await page.keyboard.press("Escape")
    await finished(run)
    await expect(run.locator(".sum")).to_be_visible()
    assert await run.locator(".foot").evaluate(height) == reserved


async def test_cards_are_accessible_and_fit_a_phone(page: Page) -> None:
    await page.set_viewport_size(NARROW)
    run = await open_cached_session(page)
    for button, card in (
        (run.locator(".sum"), run.locator(".card")),
        (page.locator("#outlook-opens"), page.locator("#outlook-card")),
    ):
        await button.click()
        await expect(card.locator("section").first).to_be_visible()
        assert await overflow(page) == 0
        await assert_accessible(page)
        await page.keyboard.press("Escape")
