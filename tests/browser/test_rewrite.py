"""A person takes things out of a conversation, and finds them again."""

import re

from playwright.async_api import Page, expect


async def talk(page: Page, *texts: str) -> None:
    await page.goto("/")
    first, *others = texts
    await page.get_by_label(re.compile("message", re.I)).first.fill(first)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/s/**")
    await expect(page.locator("article.run[data-status=completed]")).to_have_count(1)
    for number, text in enumerate(others, start=2):
        await page.locator("form.composer textarea").fill(text)
        await page.keyboard.press("Enter")
        await expect(page.locator("article.run[data-status=completed]")).to_have_count(number)


async def choose(page: Page, run: int, item: str) -> None:
    article = page.locator("article.run").nth(run)
    await article.locator(".tools details.menu summary").click()
    await article.get_by_role("button", name=item).click()
    await expect(page.get_by_role("dialog").locator("form")).to_be_visible()


async def test_a_draft_counts_when_it_is_approved_and_the_original_stays_at_hand(page: Page) -> None:
    await talk(page, "Hello", "What time is it?")
    await choose(page, 1, "Shorten this answer")
    await page.get_by_role("button", name="Let the model write a draft").click()
    await expect(page.get_by_text("This draft took")).to_be_visible()
    await page.get_by_label("Summary").fill("It was late.")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("The answer is shortened.")).to_be_visible()  # the page is loaded anew
    await expect(page.get_by_text("Shortened: it stands for 3 turns")).to_be_visible()
    await expect(page.locator("article.run").nth(1).locator(".text")).to_have_text("It was late.")
    await page.get_by_text("The original answer").click()
    await expect(page.locator(".shortened .original")).to_contain_text("current_time")


async def test_what_was_before_becomes_one_summary(page: Page) -> None:
    await talk(page, "Hello", "What time is it?")
    await choose(page, 1, "Compress everything before")
    await page.get_by_label("Summary").fill("We greeted each other.")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("Summary of 2 turns")).to_be_visible()
    await expect(page.locator(".bubble")).to_have_text(["What time is it?"])


async def test_a_deleted_turn_is_found_on_the_branch_as_it_was(page: Page) -> None:
    await talk(page, "Hello", "And again")
    await choose(page, 1, "Delete this turn")
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.locator(".bubble")).to_have_text(["Hello"])
    await page.get_by_role("link", name="See the branch as it was").click()
    await expect(page.locator(".bubble")).to_have_text(["Hello", "And again"])
