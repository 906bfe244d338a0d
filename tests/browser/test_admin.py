"""The admin in a real browser: it works under the strict content policy."""

import re

import pytest
from playwright.async_api import Page, expect

LISTS = ["Sessions", "Turns", "Runs", "Exchanges", "Raw chunks", "Cache entries", "Prompt texts"]


@pytest.mark.parametrize("name", LISTS)
async def test_each_list_opens_its_rows(page: Page, name: str) -> None:
    await page.goto("/admin/")
    await page.locator("#content-main").get_by_role("link", name=name, exact=True).click()
    await page.locator("#result_list tbody th a").first.click()
    await expect(page.locator("#content h1")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"/\d+/change/"))


async def test_a_search_by_owner_finds_the_demo_session(page: Page) -> None:
    await page.goto("/admin/sessions_app/session/")
    await page.locator("#searchbar").fill("owner")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#result_list tbody tr").first).to_contain_text("owner")


async def test_evidence_offers_no_way_to_edit_it(page: Page) -> None:
    await page.goto("/admin/sessions_app/rawchunk/")
    await page.locator("#result_list tbody th a").first.click()
    await expect(page.locator("#content input[type=text], #content textarea")).to_have_count(0)
    await expect(page.get_by_role("link", name="Delete")).to_have_count(0)


async def test_a_session_is_erased_after_a_page_that_asks(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    chat = page.url
    short = chat.rstrip("/").rsplit("/", 1)[1][:8]
    await page.goto(f"/admin/sessions_app/session/?q={short}")
    await page.get_by_role("link", name=short).click()
    await page.get_by_role("link", name="Delete").click()
    await expect(page.get_by_text("Sessions: 1")).to_be_visible()
    await page.get_by_role("button", name="Yes, I’m sure").click()
    await expect(page.get_by_text("was deleted successfully")).to_be_visible()


LINES_OF_A_SUM = """cells => cells.map((cell) => {
    cell.textContent = "would have cost ≥\u00a0$0.0288";
    const digits = document.createRange();
    digits.setStart(cell.firstChild, cell.textContent.indexOf("≥"));
    digits.setEnd(cell.firstChild, cell.textContent.length);
    return digits.getClientRects().length;
})"""


async def test_no_sum_of_the_overview_is_broken_within_its_digits(page: Page) -> None:
    await page.goto("/admin/")
    cells = page.locator("section[aria-labelledby=overview-spending] > table td:not([colspan])")
    await expect(cells.first).to_be_visible()
    for width in (1440, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        assert set(await cells.evaluate_all(LINES_OF_A_SUM)) == {1}, width


async def test_a_list_shows_its_last_column_and_the_second_of_a_moment(page: Page) -> None:
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto("/admin/sessions_app/exchange/")
    moment = page.locator("#result_list .field-started_at").first
    await expect(moment).to_have_text(re.compile(r"^\d+ [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d$"))
    over = await page.locator("#changelist .results").evaluate("e => e.scrollWidth - e.clientWidth")
    assert over <= 0
