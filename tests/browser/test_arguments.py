"""Arguments and templates as a person uses them: from the library to what the model reads."""

import json
import re

from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, send


async def add_role(page: Page, name: str, body: str) -> None:
    """A role of the library, with the preview looked at before it is saved."""
    await page.goto("/admin/sessions_app/prompttext/add/")
    await page.get_by_label("Kind:").select_option("role")
    await page.get_by_label("Name:").fill(name)
    await page.get_by_label("Body:").fill(body)
    await page.get_by_label("Variables:").fill("tone = calm")
    await expect(page.locator(".preview-text")).to_contain_text("Be calm.")
    await expect(page.locator(".preview-body")).to_contain_text("uses system.current_date")
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.wait_for_url("**/prompttext/")


async def open_arguments(page: Page, role: str) -> None:
    await page.goto("/new")
    await page.get_by_label("Purpose").fill("Plan a trip for {{ customer }}.")
    await page.get_by_label("Instructions").fill("{% broken")
    await page.get_by_label(role).check()
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.locator("#settings")).to_contain_text("1 text is sent as written: instructions.")
    await page.get_by_role("link", name="See why").click()
    await page.wait_for_url("**/arguments/")


async def test_a_text_is_written_tried_filled_in_and_moved(page: Page) -> None:
    await add_role(page, "Travel guide", "Be {{ tone }}.\nIt is {{ system.current_date }}.")
    await open_arguments(page, "Travel guide")

    typed = page.get_by_label("Arguments of this session")
    await typed.fill('{"customer": }')
    await expect(page.get_by_role("alert")).to_contain_text("Line 1, column 14")
    await typed.fill('{"customer": "Ada", "message": "mine"}')
    await expect(page.locator("#lists")).to_contain_text("Plan a trip for Ada.")
    await expect(page.locator("#lists")).to_contain_text("“message” is a reserved name")
    await page.get_by_role("button", name="Save arguments").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await page.reload()
    assert json.loads(await typed.input_value()) == {"customer": "Ada", "message": "mine"}

    guide = page.get_by_role("article").filter(has_text="Travel guide")
    await expect(guide).to_contain_text("Line 2 uses system.current_date")
    await guide.get_by_role("button", name=re.compile("Move to the dynamic layer")).click()
    await expect(guide).to_contain_text("Move to the static layer")
    await expect(guide).not_to_contain_text("Line 2 uses")


async def test_what_was_filled_in_reaches_the_model(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_label("Purpose").fill("Greet {{ customer }} in {{ message.language }}.")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    session = page.url
    await page.goto(f"{session}arguments/")
    await page.get_by_label("Arguments of this session").fill('{"customer": "Ada"}')
    await page.get_by_role("button", name="Save arguments").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await page.goto(session)
    await finished(await send(page, "Hello"))
    language = await page.evaluate("navigator.language")
    await page.goto(f"{session}arguments/")
    await expect(page.get_by_role("article")).to_contain_text(f"Greet Ada in {language}.")


async def test_the_page_fits_a_phone(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto("/new")
    await page.get_by_label("Purpose").fill("x" * 300 + " {{ customer }}")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    await page.goto(f"{page.url}arguments/")
    await expect(page.get_by_role("heading", name="Texts", exact=True)).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
