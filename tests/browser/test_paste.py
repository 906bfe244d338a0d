"""Long texts of a person: folded in the talk, a file when pasted."""

from playwright.async_api import BrowserContext, Page, expect

from tests.browser.talks import open_talk
from tests.browser.test_chat import finished, open_session

PASTE = """(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const box = document.querySelector("#message");
  box.focus();
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
LONG = "A line of some words to keep.\n" * 5_000


async def test_a_long_message_is_folded_until_all_of_it_is_wanted(
    page: Page, context: BrowserContext
) -> None:
    text = "\n".join(f"line {number}" for number in range(40))
    await open_talk(page, [(text, "Fine."), ("Short", "Fine.")])
    bubble = page.locator(".bubble").first
    folded = await bubble.evaluate("(one) => one.clientHeight")
    await page.get_by_role("button", name="Show all").click()
    assert await bubble.evaluate("(one) => one.clientHeight") > 2 * folded
    await page.get_by_role("button", name="Show less").click()
    assert await bubble.evaluate("(one) => one.clientHeight") == folded
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name="Copy your words").first.click()
    assert await page.evaluate("() => navigator.clipboard.readText()") == text


async def test_a_long_paste_becomes_a_file_that_can_be_text_again(page: Page) -> None:
    await open_session(page)
    await page.evaluate(PASTE, LONG)
    chip = page.locator(".chips [data-attachment]")
    await expect(chip).to_contain_text("Pasted text.txt")
    await expect(page.get_by_label("Message")).to_have_value("")
    await page.reload()
    await chip.get_by_role("button", name="Insert as text").click()
    await expect(chip).to_have_count(0)
    assert await page.get_by_label("Message").input_value() == LONG
    await expect(page.locator("#too-long")).to_contain_text("150,000 characters")


async def test_a_pasted_file_goes_with_the_message(page: Page) -> None:
    await open_session(page)
    await page.evaluate(PASTE, LONG)
    await expect(page.locator(".chips [data-attachment]")).to_have_count(1)
    await page.get_by_label("Message").fill("What is in it?")
    await page.get_by_label("Message").press("Enter")
    run = page.locator(".run")
    await finished(run)
    await expect(run.locator(".said-files")).to_contain_text("Pasted text.txt")
    await expect(run.get_by_role("alert")).to_have_count(0)


async def test_a_short_paste_stays_text(page: Page) -> None:
    await open_session(page)
    await page.evaluate(PASTE, "short")
    await expect(page.locator(".chips li")).to_have_count(0)
