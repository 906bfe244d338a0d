"""Assistants that a person makes, changes, copies, deletes and picks."""

import re
import uuid

from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished


async def make(page: Page, name: str) -> None:
    await page.goto("/assistants/")
    await page.get_by_role("link", name="New assistant").click()
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_label("Or an emoji").fill("🥐")
    await page.get_by_role("textbox", name="Instructions").fill("Amounts in grams.")
    await page.get_by_role("combobox", name="Model").select_option("gemini-3.5-flash-lite")
    await page.get_by_role("combobox", name="Thinking level").select_option("LOW")
    await page.get_by_label("Starters").fill("Scale a loaf\nPlan the dough")
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url("**/assistants/")


def card(page: Page, name: str) -> Locator:
    return page.locator("li.card", has=page.get_by_role("heading", name=name, exact=True))


async def act(page: Page, name: str, deed: str) -> None:
    await card(page, name).get_by_label(f"More for {name}").click()
    await card(page, name).get_by_text(deed, exact=True).click()


async def pick(page: Page, name: str) -> None:
    await page.get_by_role("button", name=re.compile("^Assistant:")).click()
    dialog = page.get_by_role("dialog", name="Assistant")
    await dialog.get_by_role("radio", name=re.compile(name)).check()
    await assert_accessible(page)
    await dialog.get_by_role("button", name="Done").click()


async def test_a_picked_assistant_shows_its_starters_and_begins_the_chat(page: Page) -> None:
    name = f"Baker {uuid.uuid4().hex[:6]}"
    await make(page, name)
    await page.goto("/")
    await pick(page, name)
    await expect(page.locator(".starter[data-starter]")).to_have_text(["Scale a loaf", "Plan the dough"])
    await expect(page.get_by_role("button", name=re.compile("^Model:"))).to_contain_text("Flash-Lite Low")
    await pick(page, "No assistant")
    await expect(page.locator(".starter[data-starter]")).to_have_count(4)
    await pick(page, name)
    await page.get_by_role("button", name="Scale a loaf").click()
    await page.wait_for_url("**/s/**")
    await finished(page.locator(".run"))
    await expect(page.get_by_role("button", name=re.compile("^Model:"))).to_contain_text("Flash-Lite Low")
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.get_by_label("Instructions")).to_have_value("Amounts in grams.")


async def test_a_chat_keeps_its_copy_when_the_assistant_is_deleted(page: Page) -> None:
    name = f"Clerk {uuid.uuid4().hex[:6]}"
    await make(page, name)
    await card(page, name).get_by_role("link", name="New chat").click()
    await page.get_by_role("button", name="Plan the dough").click()
    await page.wait_for_url("**/s/**")
    chat = page.url
    await page.goto("/assistants/")
    await act(page, name, "Delete…")
    asked = page.get_by_role("dialog", name="Delete this assistant")
    await asked.get_by_role("button", name="Cancel").click()
    await expect(card(page, name)).to_be_visible()
    await act(page, name, "Delete…")
    await asked.get_by_role("button", name="Delete it").click()
    await expect(page.get_by_text(f"“{name}” is deleted.")).to_be_visible()
    await expect(card(page, name)).to_have_count(0)
    await page.goto(chat)
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.get_by_label("Instructions")).to_have_value("Amounts in grams.")


async def test_an_assistant_is_changed_and_duplicated(page: Page) -> None:
    name = f"Tutor {uuid.uuid4().hex[:6]}"
    await make(page, name)
    await act(page, name, "Duplicate")
    await expect(page.get_by_label("Name", exact=True)).to_have_value(f"{name} (copy)")
    await page.get_by_label("Name", exact=True).fill(f"{name} two")
    await page.get_by_label("In one line").fill("Explains")
    await page.get_by_role("button", name="Save").click()
    await expect(card(page, f"{name} two")).to_contain_text("Explains")
    await act(page, f"{name} two", "Edit")
    await assert_accessible(page)
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("You have an assistant of this name.")).to_be_visible()


async def test_customise_is_filled_in_by_an_assistant(page: Page) -> None:
    name = f"Judge {uuid.uuid4().hex[:6]}"
    await make(page, name)
    await page.goto("/new")
    await page.get_by_role("combobox", name="Assistant").select_option(label=name)
    await expect(page.get_by_label("Instructions")).to_have_value("Amounts in grams.")
    await expect(page.get_by_role("combobox", name="Assistant")).to_have_text(re.compile(name))
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    await expect(page.get_by_role("button", name=re.compile("^Model:"))).to_contain_text("Flash-Lite Low")
