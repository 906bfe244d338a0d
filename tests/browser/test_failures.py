"""What a page could not load or save says so, and no dialog offers what it was opened for before."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.talks import open_talk
from tests.browser.test_attachments import PAPER, PICTURE, choose

ASKS = "**/delete/"
TALK = [("First", "One."), ("Second", "Two.")]


async def ask_to_delete(page: Page, run: int) -> None:
    article = page.locator("article.run").nth(run)
    await article.locator(".tools details.menu summary").click()
    await article.get_by_role("button", name="Delete this turn").click()


async def abort(route: Route) -> None:
    await route.abort()


async def refuse(route: Route) -> None:
    await route.fulfill(status=500, body="A server that fails.")


@pytest.mark.parametrize("fails", [abort, refuse])
async def test_a_dialog_that_was_not_loaded_says_so_and_offers_nothing_older(
    page: Page, complaints: list[str], fails: Callable[[Route], Awaitable[None]]
) -> None:
    await open_talk(page, TALK)
    await ask_to_delete(page, 0)
    dialog = page.locator("#rewrite")
    await expect(dialog.get_by_text("First")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.route(ASKS, fails)
    await ask_to_delete(page, 1)
    await expect(dialog.get_by_role("alert")).to_contain_text("could not be loaded")
    await expect(dialog.get_by_role("button")).to_have_text(["Close"])
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).not_to_be_visible()
    await expect(page.locator(".bubble")).to_have_text(["First", "Second"])  # The page stands as it was.
    complaints.clear()


async def test_a_dialog_that_loads_has_no_buttons_of_what_it_showed_before(page: Page) -> None:
    await open_talk(page, TALK)
    await ask_to_delete(page, 0)
    dialog, may_go = page.locator("#rewrite"), asyncio.Event()
    await expect(dialog.get_by_role("button", name="Delete")).to_be_visible()
    await page.keyboard.press("Escape")

    async def wait(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await page.route(ASKS, wait)
    await ask_to_delete(page, 1)
    await expect(dialog).to_have_attribute("aria-busy", "true")
    await expect(dialog.get_by_role("button")).to_have_count(0)
    may_go.set()
    await expect(dialog.get_by_text("Second")).to_be_visible()
    await expect(dialog).not_to_have_attribute("aria-busy", "true")


async def test_of_two_answers_for_a_dialog_the_one_that_was_asked_for_last_counts(page: Page) -> None:
    await open_talk(page, TALK)
    may_go, asked = asyncio.Event(), []

    async def hold_the_first(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            await may_go.wait()
        await route.continue_()

    await page.route(ASKS, hold_the_first)
    await ask_to_delete(page, 0)
    await page.keyboard.press("Escape")
    await ask_to_delete(page, 1)
    dialog = page.locator("#rewrite")
    await expect(dialog.get_by_text("Second")).to_be_visible()
    async with page.expect_response(ASKS):
        may_go.set()
    await page.wait_for_load_state("networkidle")
    await expect(dialog.get_by_text("Second")).to_be_visible()
    await expect(dialog.get_by_text("First")).to_have_count(0)


async def test_settings_that_were_not_saved_stay_and_the_dialog_says_so(
    page: Page, complaints: list[str]
) -> None:
    await open_talk(page, TALK)
    await page.get_by_role("button", name="Chat settings").click()
    purpose = page.locator("#settings").get_by_label("Purpose")
    await purpose.fill("To plan a garden")
    await page.route("**/settings/", abort)
    await page.get_by_role("button", name="Save").click()
    said = page.locator("#settings").get_by_role("alert")
    await expect(said).to_contain_text("could not be saved")
    await expect(purpose).to_have_value("To plan a garden")
    await page.unroute("**/settings/")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#settings")).not_to_be_visible()
    await expect(said).to_have_count(0)
    complaints.clear()


async def test_who_is_signed_out_reads_it_in_the_place_of_what_was_asked_for(page: Page) -> None:
    await open_talk(page, TALK)
    await page.context.clear_cookies()
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.locator("#settings").get_by_role("alert")).to_contain_text("Sign in again")
    await expect(page.locator("#settings").get_by_label("Password")).to_have_count(0)


async def test_a_chat_that_was_deleted_elsewhere_leaves_the_draft_on_the_page(
    page: Page, complaints: list[str]
) -> None:
    await open_talk(page, TALK)
    other = await page.context.new_page()
    await other.goto(page.url)
    await other.get_by_label("More for this chat").click()
    await other.get_by_role("button", name="Delete", exact=True).click()
    await expect(other.get_by_text("is deleted.")).to_be_visible()
    await page.locator("form.composer textarea").fill("A long thought")
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.locator("#settings").get_by_role("alert")).to_contain_text("deleted elsewhere")
    await page.keyboard.press("Escape")
    await expect(page.locator("form.composer textarea")).to_have_value("A long thought")
    complaints.clear()


async def test_what_failed_stays_over_the_page_until_it_works_or_is_closed(
    page: Page, complaints: list[str]
) -> None:
    await open_talk(page, TALK)
    said = page.get_by_role("alert").filter(has_text="could not be saved")
    title = page.get_by_role("textbox", name="Title")
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Rename").click()
    await title.fill("A garden")
    await page.route("**/rename/**", abort)
    await title.press("Enter")
    await expect(said).to_be_visible()
    await page.locator(".bubble").first.click()
    await expect(said).to_be_visible()  # Another click is no answer to it.
    await title.focus()
    await page.keyboard.press("Escape")
    await expect(said).to_have_count(0)
    await title.press("Enter")
    await said.get_by_role("button", name="Close").click()
    await expect(said).to_have_count(0)
    await expect(title).to_be_focused()
    await title.press("Enter")
    await expect(said).to_be_visible()
    await page.unroute("**/rename/**")
    await title.press("Enter")
    await expect(page.get_by_role("heading", name="A garden")).to_be_visible()
    await expect(said).to_have_count(0)
    complaints.clear()


SIGN_IN_AGAIN = "Sign in again in another tab"


async def sign_out(page: Page) -> None:
    """Every request is answered with the page of the sign-in, under status 200."""
    await page.context.clear_cookies(name="pipeweb_session")


async def lose_the_line(page: Page) -> None:
    await page.route("**/*", abort)


LOSSES = [(lose_the_line, "Check the connection"), (sign_out, SIGN_IN_AGAIN)]


@pytest.mark.parametrize(("lose", "words"), LOSSES)
async def test_an_answer_that_cannot_be_fetched_to_be_edited_is_not_replaced(
    page: Page, complaints: list[str], lose: Callable[[Page], Awaitable[None]], words: str
) -> None:
    await open_talk(page, TALK)
    await lose(page)
    article = page.locator("article.run").first
    await article.locator(".tools details.menu summary").click()
    await article.get_by_role("button", name="Edit this answer").click()
    await expect(page.locator(".transcript > .ending")).to_contain_text(words)
    await expect(page.locator(".rewording")).to_have_count(0)
    await expect(article.locator(".text")).to_have_text("One.")
    assert not any("fetch" in complaint for complaint in complaints)
    complaints.clear()


@pytest.mark.parametrize(("lose", "words"), LOSSES)
async def test_a_file_that_could_not_be_taken_off_stays_and_that_is_said(
    page: Page, complaints: list[str], lose: Callable[[Page], Awaitable[None]], words: str
) -> None:
    await open_talk(page, TALK)
    await choose(page, PICTURE, {"name": "a.txt", "mimeType": "text/plain", "buffer": b"a"})
    picture, text = page.locator("[data-attachment]"), page.locator("#open-files li")
    await expect(picture).to_have_count(1)
    await expect(text).to_have_count(1)
    await lose(page)
    said = page.get_by_role("alert").filter(has_text="could not be saved")
    for chip in (picture, text):
        await chip.get_by_role("button").last.click()
        await expect(said).to_contain_text(words)
        await expect(chip).to_have_count(1)
        await said.get_by_role("button", name="Close").click()
    assert not any("fetch" in complaint for complaint in complaints)
    complaints.clear()


async def test_each_file_that_did_not_arrive_is_named(page: Page, complaints: list[str]) -> None:
    await open_talk(page, TALK)
    await page.route("**/attachments/", abort)
    await choose(page, PICTURE, PAPER)
    for name in ("sunset.png", "paper.pdf"):
        await expect(page.locator(".chip.refused .problem", has_text=name)).to_be_visible()
    complaints.clear()


@pytest.mark.parametrize(("lose", "words"), LOSSES)
async def test_a_search_that_fails_offers_nothing_that_was_found_for_other_words(
    page: Page, complaints: list[str], lose: Callable[[Page], Awaitable[None]], words: str
) -> None:
    await open_talk(page, TALK)
    await page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Go somewhere")
    await palette.get_by_role("combobox").fill("imported")
    found = palette.locator("[data-found]")
    await expect(found.first).to_be_visible()
    await lose(page)
    await palette.get_by_role("combobox").fill("something else")
    await expect(palette.get_by_role("alert")).to_contain_text(words)
    await expect(found).to_have_count(0)
    await expect(palette.get_by_label("Password")).to_have_count(0)
    await page.unroute_all()
    complaints.clear()
