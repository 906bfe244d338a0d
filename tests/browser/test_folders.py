"""Folders of the sidebar: by pointer, by keyboard, on a phone; what is remembered."""

import re
import uuid

from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_layout import PHONE


def side_of(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Chats")


def folder_of(page: Page, name: str) -> Locator:
    return side_of(page).get_by_role("region", name=name, exact=True)


async def make_folder(page: Page) -> str:
    """A new folder, made in the sidebar; its name."""
    name = f"Folder {uuid.uuid4().hex[:6]}"
    await side_of(page).get_by_role("button", name="New folder").click()
    await expect(page.get_by_label("Name", exact=True)).to_be_focused()
    await page.keyboard.type(name)
    await page.keyboard.press("Enter")
    await expect(folder_of(page, name)).to_be_visible()
    return name


async def chat_named(page: Page) -> str:
    """A new chat that is open; its title."""
    title = f"Chat {uuid.uuid4().hex[:6]}"
    await open_session(page)
    await finished(await send(page, title))
    await expect(page.get_by_role("heading", level=1)).to_have_text(title)
    return title


SENDS_WHAT_APPEARS = """
() => new MutationObserver(() => {
  const form = document.querySelector("#folder form");
  if (!form || form.dataset.sent) return;
  form.dataset.sent = "on";
  form.elements.name.value = "Sent at once";
  form.requestSubmit();
}).observe(document.getElementById("folder"), { childList: true, subtree: true })
"""


async def choose_in_menu(page: Page, menu: Locator, item: str) -> None:
    await menu.scroll_into_view_if_needed()
    await menu.locator("xpath=ancestor::*[self::li or self::section][1]").hover()
    await menu.click()
    await page.locator(".menu[open]").get_by_text(item).click()


async def test_a_form_works_from_the_moment_in_which_it_is_there(page: Page) -> None:
    await open_session(page)
    address = page.url
    await page.evaluate(SENDS_WHAT_APPEARS)
    await side_of(page).get_by_role("button", name="New folder").click()
    await expect(folder_of(page, "Sent at once")).to_be_visible()
    assert page.url == address


async def test_a_chat_is_dragged_into_a_folder_and_out_of_it(page: Page) -> None:
    title = await chat_named(page)
    folder = folder_of(page, await make_folder(page))
    await side_of(page).get_by_role("link", name=title).drag_to(folder.locator("summary").first)
    entry = folder.get_by_role("link", name=title)
    await expect(entry).to_be_visible()
    await expect(page.locator(".side-groups")).not_to_contain_text(title)
    await page.reload()
    await expect(entry).to_be_visible()
    await entry.drag_to(page.locator(".side-groups h2").first)
    await expect(page.locator(".side-groups")).to_contain_text(title)
    await expect(entry).to_have_count(0)


async def test_a_chat_is_moved_by_the_keyboard_alone(page: Page) -> None:
    title = await chat_named(page)
    folder = folder_of(page, await make_folder(page))
    await side_of(page).get_by_label(f"More for “{title}”").focus()
    await page.keyboard.press("Enter")
    while not await page.evaluate("document.activeElement.textContent.includes('Move to folder')"):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    dialog = page.locator("#folder")
    await expect(dialog.get_by_role("radio", name="No folder")).to_be_focused()
    await assert_accessible(page, within="#folder")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await expect(folder.get_by_role("link", name=title)).to_be_visible()
    await expect(page.get_by_text(re.compile(rf"“{title}” is in “Folder"))).to_be_visible()


async def test_a_chat_goes_into_a_folder_that_is_made_for_it(page: Page) -> None:
    title = await chat_named(page)
    await choose_in_menu(page, side_of(page).get_by_label(f"More for “{title}”"), "Move to folder…")
    name = f"Folder {uuid.uuid4().hex[:6]}"
    await page.get_by_label("Or into a new folder").fill(name)
    await page.locator("#folder").get_by_role("button", name="Move").click()
    await expect(folder_of(page, name).get_by_role("link", name=title)).to_be_visible()


async def test_on_a_phone_a_chat_is_moved_by_its_menu(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    title = await chat_named(page)
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Move to folder…").click()
    name = f"Folder {uuid.uuid4().hex[:6]}"
    await page.get_by_label("Or into a new folder").fill(name)
    await page.locator("#folder").get_by_role("button", name="Move").click()
    await page.get_by_role("button", name="Chats", exact=True).click()
    await expect(folder_of(page, name).get_by_role("link", name=title)).to_be_visible()


async def test_a_folder_stays_collapsed_and_is_renamed_and_deleted(page: Page) -> None:
    await page.goto("/")
    name = await make_folder(page)
    folder = folder_of(page, name)
    async with page.expect_response("**/collapse/"):
        await folder.locator("summary").first.click()
    await page.reload()
    await expect(folder.get_by_text("No chat is listed here.")).to_be_hidden()
    await choose_in_menu(page, folder.get_by_label("More for the folder"), "Rename…")
    await page.get_by_label("Name", exact=True).fill(f"{name} renamed")
    await page.get_by_label("Name", exact=True).press("Enter")
    folder = folder_of(page, f"{name} renamed")
    await choose_in_menu(page, folder.get_by_label("More for the folder"), "Delete the folder")
    await expect(page.get_by_text(f"The folder “{name} renamed” is deleted.")).to_be_visible()
    await expect(folder).to_have_count(0)


async def test_a_chat_begins_in_a_folder_and_all_chats_filter_by_it(page: Page) -> None:
    await page.goto("/")
    name = await make_folder(page)
    await choose_in_menu(page, folder_of(page, name).get_by_label("More for the folder"), "New chat here")
    await expect(page.get_by_text(f"in {name}")).to_be_visible()
    title = f"Chat {uuid.uuid4().hex[:6]}"
    await page.get_by_label("Message").fill(title)
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await finished(page.locator(".run"))
    await expect(folder_of(page, name).get_by_role("link", name=title)).to_be_visible()
    await page.goto("/sessions/")
    await page.get_by_role("navigation", name="Folders").get_by_role("link", name=name).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(name)
    await expect(page.locator(".session-list > li")).to_have_count(1)


async def test_several_chats_are_moved_together(page: Page) -> None:
    titles = [await chat_named(page) for _ in range(2)]
    await page.goto("/sessions/")
    await page.get_by_label("More for the list").click()
    await page.get_by_text("Choose several").click()
    for title in titles:
        await page.get_by_label(f"Choose “{title}”").check()
    await page.locator("#chosen").get_by_role("button", name="Move to folder…").click()
    name = f"Folder {uuid.uuid4().hex[:6]}"
    await page.get_by_label("Or into a new folder").fill(name)
    await page.locator("#folder").get_by_role("button", name="Move").click()
    await expect(page.get_by_text(f"2 chats are in “{name}”.")).to_be_visible()
    await expect(folder_of(page, name).locator("li")).to_have_count(2)
