"""What an answer cost, and the page of spending, in a real browser."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send

pytestmark = pytest.mark.usefixtures("inspecting")


async def test_an_answer_shows_its_cost_and_leads_to_the_sum(page: Page) -> None:
    await open_session(page)
    run = await send(page, "Hello there")
    await finished(run)
    cost = run.locator(".sum")
    await expect(cost).to_contain_text(re.compile(r"%\s+would have cost \$0\.\d+"))
    await cost.press("Enter")
    card = run.locator(".card")
    await expect(card).to_contain_text(re.compile(r"[\d,]+ new × \$[\d.]+ \+ .* = \$0\."))
    await card.get_by_role("link", name="Spending").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Spending")
    await expect(page.get_by_role("cell", name="gemini-3.8-flash")).to_be_visible()


async def test_the_cache_tab_sets_two_facts_side_by_side(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello there"))
    run = await send(page, "And again")
    await finished(run)
    await run.get_by_role("link", name="Inspect").click()
    await page.get_by_role("link", name="Cache", exact=True).click()
    verdict = page.locator(".verdict").first
    await expect(verdict).to_contain_text("Our bytes: all that exchange 1 sent")
    await expect(verdict).to_contain_text("The provider: ")
    await expect(
        page.get_by_role("row", name=re.compile("Tool declarations.*in the named cache"))
    ).to_be_visible()
