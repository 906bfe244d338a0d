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
