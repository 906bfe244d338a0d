"""Writing: keys and input methods, commands of the library, settings that change the next request."""

import json
import uuid
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send

COMPOSING = """(box, how) => {
  if (how === "composing") box.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
  const keyCode = how === "229" ? 229 : 13;
  const isComposing = how === "composing";
  const shared = { bubbles: true, cancelable: true };
  return box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode, isComposing, ...shared }));
}"""


async def sent_request(page: Page, number: int) -> dict[str, Any]:
    answer = await page.request.get(f"{page.url.partition('#')[0]}inspect/{number}/request.json")
    body: dict[str, Any] = json.loads(await answer.text())
    return body


async def test_enter_belongs_to_the_input_method_while_a_word_is_composed(page: Page) -> None:
    await open_session(page)
    box = page.get_by_label("Message", exact=True)
    await box.fill("にほんご")
    for how in ("composing", "229"):
        assert await box.evaluate(COMPOSING, how)
    await expect(box).to_have_value("にほんご")
    await expect(page.locator(".run")).to_have_count(0)
    assert not await box.evaluate(COMPOSING, "done")
    await expect(page.locator(".run .bubble")).to_have_text("にほんご")


async def test_a_command_of_the_library_stands_there_in_full(page: Page) -> None:
    name = f"Review {uuid.uuid4().hex[:6]}"
    await page.goto("/admin/sessions_app/prompttext/add/")
    await page.get_by_label("Kind:").select_option("command")
    await page.get_by_label("Name:").fill(name)
    await page.get_by_label("Body:").fill("Review this week and list what is open.")
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.wait_for_url("**/prompttext/")
    await open_session(page)
    run = await send(page, f"/{name.lower().replace(' ', '-')} Only the garden.")
    full = "Review this week and list what is open.\n\nOnly the garden."
    await expect(run.locator(".bubble")).to_have_text(full)
    await finished(run)
    await expect(run.locator(".bubble")).to_have_text(full)


async def test_model_and_temperature_hold_from_the_next_request_on(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    await page.get_by_role("button", name="Chat settings").click()
    dialog = page.get_by_role("dialog", name="Chat settings")
    await dialog.get_by_role("tab", name="Model").click()
    await dialog.get_by_role("combobox", name="Model").select_option("gemini-2.5-flash")
    await dialog.get_by_label("Temperature", exact=True).fill("0.3")
    await dialog.get_by_label("Top P", exact=True).fill("0.9")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator("[data-model-label]")).to_contain_text("Gemini 2.5 Flash")
    await page.wait_for_load_state("load")
    await finished(await send(page, "Hello again"))
    await expect(page.locator(".run")).to_have_count(2)
    assert "temperature" not in (await sent_request(page, 1)).get("generationConfig", {})
    sent = (await sent_request(page, 2))["generationConfig"]
    assert (sent["temperature"], sent["topP"]) == (0.3, 0.9)
    await page.locator(".run").last.get_by_role("button", name="Tokens and cost of this answer").click()
    await page.locator(".card:popover-open").get_by_role("link", name="Open in the inspector").click()
    await expect(page.get_by_role("main")).to_contain_text("gemini-2.5-flash")


async def test_a_message_is_sent_and_read_without_a_mouse(page: Page) -> None:
    await page.goto("/spending/")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.goto("/")
    await page.get_by_label("Message", exact=True).focus()
    await page.keyboard.type("/think please")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/s/**")
    run = page.locator(".run")
    await finished(run)
    await expect(page.get_by_label("Message", exact=True)).to_be_focused()
    fold = run.locator(".activity > summary")
    for _ in range(40):
        if await fold.evaluate("(one) => one === document.activeElement"):
            break
        await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(run.locator(".thoughts .inside")).to_be_visible()
    await page.keyboard.press("Shift+Escape")
    await expect(page.get_by_label("Message", exact=True)).to_be_focused()


async def test_escape_closes_one_thing_at_a_time_and_stops_last(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.keyboard.press("Control+k")
    await expect(page.locator("dialog[open]")).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog[open]")).to_have_count(0)
    await expect(run).to_have_attribute("aria-busy", "true")
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
