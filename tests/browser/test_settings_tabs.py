"""The settings of a chat in tabs, in the dialog and before the first message."""

import re

from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import open_session

TITLES = ["Assistant", "Model", "Tools", "Limits", "Advanced"]


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tab", name=re.compile(f"^{name}"))


async def open_settings(page: Page) -> Locator:
    await open_session(page)
    await page.get_by_role("button", name="Chat settings").click()
    dialog = page.get_by_role("dialog", name="Chat settings")
    await expect(dialog.get_by_role("tab")).to_have_text(TITLES)
    return dialog


async def test_the_tabs_are_moved_through_by_keyboard(page: Page) -> None:
    await open_settings(page)
    await tab(page, "Assistant").focus()
    await page.keyboard.press("ArrowRight")
    await expect(tab(page, "Model")).to_be_focused()
    await expect(page.get_by_role("tabpanel", name="Model")).to_be_visible()
    await page.keyboard.press("End")
    await expect(tab(page, "Advanced")).to_have_attribute("aria-selected", "true")
    await page.keyboard.press("ArrowRight")
    await expect(tab(page, "Assistant")).to_be_focused()
    await expect(page.get_by_role("tabpanel")).to_have_count(1)


async def test_every_tab_passes(page: Page) -> None:
    await open_settings(page)
    for title in TITLES:
        await tab(page, title).click()
        await assert_accessible(page)


CUT_OFF = """selects => selects.filter((one) => {
    const style = getComputedStyle(one), ink = document.createElement("canvas").getContext("2d");
    ink.font = style.font;
    const longest = Math.max(...[...one.options].map(({ text }) => ink.measureText(text).width));
    return longest + parseFloat(style.paddingLeft) + 24 > one.clientWidth;
}).map(({ name }) => name)"""
"""Names of the selects that cannot show one of their choices whole, beside the arrow."""


async def test_no_choice_of_a_whole_sentence_is_cut_off(page: Page) -> None:
    dialog = await open_settings(page)
    await tab(page, "Advanced").click()
    assert await dialog.locator("select:visible").evaluate_all(CUT_OFF) == []


async def test_what_the_browser_refuses_opens_its_tab(page: Page) -> None:
    dialog = await open_settings(page)
    await tab(page, "Limits").click()
    await page.get_by_label("Rounds of tools").fill("0")
    await tab(page, "Assistant").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(tab(page, "Limits")).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_label("Rounds of tools")).to_be_focused()


async def test_what_the_server_refuses_opens_its_tab(page: Page) -> None:
    await page.goto("/new")
    await tab(page, "Advanced").click()
    await page.get_by_label("Time zone").fill("Mars/Olympus")
    await tab(page, "Tools").click()
    await page.get_by_role("button", name="Create chat").click()
    await expect(tab(page, "Advanced")).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_role("tabpanel")).to_contain_text("Use a name like Europe/Lisbon.")
    await expect(tab(page, "Advanced")).to_contain_text("to correct")


async def test_save_stays_in_sight_and_back_closes_the_dialog(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 600})
    dialog = await open_settings(page)
    await tab(page, "Tools").click()
    await expect(dialog.get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
    assert await dialog.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    await page.go_back()
    await expect(dialog).to_be_hidden()
    await expect(page).to_have_url(re.compile("/s/"))


async def test_saving_closes_the_dialog_and_leaves_no_entry_behind(page: Page) -> None:
    dialog = await open_settings(page)
    await page.get_by_label("Purpose").fill("Plan a garden")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator(".empty")).to_contain_text("Plan a garden")
    await page.wait_for_function("() => !history.state")
    await page.go_back()
    await expect(page).to_have_url(re.compile("/new$"))


async def test_tools_stand_in_groups_with_their_tokens(page: Page) -> None:
    await open_settings(page)
    await tab(page, "Tools").click()
    group = page.get_by_role("group", name=re.compile(r"^todos \d of \d on · ~\d+ tokens$", re.IGNORECASE))
    await expect(group.get_by_label("Add a todo")).to_be_checked()


async def test_instructions_are_called_so_wherever_they_are_written(page: Page) -> None:
    await open_settings(page)
    await expect(page.get_by_label("Instructions")).to_be_visible()
    await page.goto("/new")
    await expect(page.get_by_label("Instructions")).to_be_visible()
    await expect(page.get_by_text("Background")).to_have_count(0)
