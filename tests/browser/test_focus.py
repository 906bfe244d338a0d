"""The keyboard: where the focus is after something closes, what Escape closes, what a drawer covers."""

from playwright.async_api import Locator, Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_layout import PHONE

WITHIN = "(id) => document.getElementById(id).contains(document.activeElement)"


async def talked(page: Page, text: str = "First words") -> None:
    await open_session(page)
    await finished(await send(page, text))


async def title_of(page: Page) -> Locator:
    """The field of a new title, once its form can be answered."""
    title = page.get_by_role("textbox", name="Title")
    await expect(title).to_be_focused()
    await expect(page.locator(".renaming.htmx-added, .htmx-settling")).to_have_count(0)
    return title


async def test_a_dialog_of_a_menu_gives_the_focus_back_to_the_menu(page: Page) -> None:
    await talked(page)
    for menu, item in (("More for this chat", "Share…"), ("More for this answer", "Answer again with…")):
        await page.get_by_label(menu).press("Enter")
        await page.get_by_role("button", name=item).press("Enter")
        await expect(page.locator("dialog[open]")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog[open]")).to_have_count(0)
        await expect(page.get_by_label(menu)).to_be_focused()


async def test_escape_leaves_a_new_title_and_nothing_else(page: Page) -> None:
    await talked(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Rename").click()
    await (await title_of(page)).press("Escape")
    await expect(page.get_by_role("heading", level=1)).to_have_text("First words")
    await expect(page.get_by_label("More for this chat")).to_be_focused()
    await expect(run).to_have_attribute("aria-busy", "true")
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")


async def test_a_new_title_in_the_sidebar_leaves_the_focus_at_its_row(page: Page) -> None:
    await talked(page, "Words of a row")
    row = page.get_by_role("navigation", name="Chats").locator("li:has([aria-current])")
    for key in ("Escape", "Enter"):
        await row.get_by_label("More for").press("Enter")
        await row.get_by_role("button", name="Rename").press("Enter")
        await (await title_of(page)).press(key)
        await expect(row.get_by_role("link")).to_be_focused()


async def test_a_new_name_that_is_typed_takes_the_place_of_the_old_one(page: Page) -> None:
    await talked(page, "Words of a name")
    await page.get_by_label("More for this chat").press("Enter")
    await page.get_by_role("button", name="Rename").press("Enter")
    await title_of(page)
    await page.keyboard.type("Typed over the old one")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Typed over the old one")


async def test_escape_takes_the_words_of_a_search_first(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    search = page.get_by_label("Search all that was said")
    await search.fill("okapi")
    await search.press("Escape")
    assert await search.input_value() == ""
    assert await page.get_by_role("button", name="Stop (Esc)").is_visible()
    await search.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")


async def test_a_drawer_keeps_the_focus_until_it_closes_and_gives_it_back(page: Page) -> None:
    await talked(page)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    opener = page.get_by_role("button", name="Chats", exact=True)
    await opener.press("Enter")
    stops = await page.locator("#side :is(a, button, input, summary):visible").count()
    for _ in range(stops + 5):
        await page.keyboard.press("Tab")
        assert await page.evaluate(f"({WITHIN})('side') || document.activeElement === document.body")
    await page.keyboard.press("Escape")
    await expect(opener).to_be_focused()
    assert await page.locator("[inert]").count() == 0


async def test_a_drawer_covers_nothing_where_there_is_room_beside_it(page: Page) -> None:
    await talked(page)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Chats", exact=True).click()
    assert await page.locator("[inert]").count() > 0
    await page.set_viewport_size({"width": 1280, "height": 800})
    await expect(page.locator("[inert]")).to_have_count(0)


async def test_a_stop_button_that_ends_leaves_the_focus_at_the_message(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.get_by_role("button", name="Stop (Esc)").press("Enter")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
    await expect(page.get_by_role("textbox", name="Message")).to_be_focused()


async def test_a_control_that_goes_with_its_answer_leaves_the_focus_at_the_message(page: Page) -> None:
    await talked(page)
    message = page.get_by_role("textbox", name="Message")
    await page.get_by_role("button", name="Answer again", exact=True).press("Enter")
    await expect(page.get_by_role("button", name="Branch before")).to_be_visible()
    await expect(message).to_be_focused()
    await page.get_by_role("button", name="Edit your words").press("Enter")
    await page.keyboard.type(" and others")
    await page.keyboard.press("Control+Enter")
    # Until the server has it, the new wording stands below the old one.
    await expect(page.locator(".bubble").last).to_have_text("First words and others")
    await expect(page.locator(".bubble")).to_have_count(1)
    await finished(page.locator(".run").last)
    await expect(message).to_be_focused()


async def test_a_fold_of_an_answer_has_the_focus_when_its_answer_ends(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow /think please")
    await run.locator("summary").first.press("Enter")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
    await expect(run.locator("summary").first).to_be_focused()
