"""The inspector in a real browser, on the session that every new user finds."""

import hashlib
import json
import re
from pathlib import Path

from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.browser.access import assert_accessible

TABS = ["Layers", "Response", "Signatures", "Cache", "Diff", "Wire", "Stream", "Pipeline", "Renditions"]


async def open_list(page: Page) -> None:
    """The exchanges of the demo session."""
    await page.goto("/sessions/")
    await page.locator("main").get_by_role("link", name="A first look at the four layers").first.click()
    await page.wait_for_url("**/s/**")
    await page.goto(page.url.split("#")[0] + "inspect/")


async def open_newest(page: Page, tab: str = "Layers") -> None:
    await open_list(page)
    async with page.expect_navigation():
        await page.locator("#rows tbody").first.locator(".asked a").last.click()
    if tab != "Layers":
        await choose(page, tab)


async def choose(page: Page, tab: str) -> None:
    """Opens a tab and waits until all of it is there: its styles, and the scripts that listen to keys."""
    link = tab_link(page, tab)
    async with page.expect_navigation():
        await link.click()
    await expect(link).to_have_attribute("aria-current", "page")


def tab_link(page: Page, tab: str) -> Locator:
    return page.get_by_role("navigation", name="Views of this exchange").get_by_role("link", name=tab)


async def overflow(page: Page) -> int:
    """Pixels by which the page is wider than the window."""
    return int(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


async def test_the_list_shows_a_hit_with_its_ribbon(page: Page) -> None:
    await open_list(page)
    newest = page.locator("#rows tbody").first.locator("tr").last
    await expect(newest.get_by_text("hit", exact=True)).to_be_visible()
    await expect(newest.get_by_role("group")).to_have_attribute("aria-label", re.compile("static .* cached"))


async def test_the_second_message_reads_the_static_layer_from_the_cache(page: Page) -> None:
    await open_newest(page)
    await expect(page.get_by_text("named in the cache, not sent")).to_be_visible()
    await expect(page.locator(".layer-head h2")).to_have_text(["Static", "Dynamic", "Buffered", "Trigger"])


async def test_every_signature_that_was_sent_is_equal(page: Page) -> None:
    await open_newest(page, "Signatures")
    sent = page.locator("section", has=page.get_by_role("heading", name="Sent in this exchange")).last
    await expect(sent.locator(".badge").first).to_have_text("equal")
    await expect(page.get_by_text("alarm")).to_have_count(0)


async def test_the_request_is_proved_and_downloads_as_sent(page: Page, tmp_path: Path) -> None:
    await open_newest(page, "Wire")
    sha256 = await page.locator(".proof code").inner_text()
    async with page.expect_download() as coming:
        await page.get_by_role("link", name=re.compile("Download .*B$")).click()
    download = await coming.value
    await download.save_as(tmp_path / "request.json")
    assert hashlib.sha256((tmp_path / "request.json").read_bytes()).hexdigest() == sha256
    await expect(page.get_by_text("proved")).to_be_visible()


async def test_a_hash_can_be_copied(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_newest(page, "Signatures")
    button = page.get_by_role("button", name="Copy the sha256").first
    value = await button.get_attribute("data-copy-text")
    await button.click()
    await expect(button).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == value


async def test_a_rendition_is_copied_whole(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_newest(page, "Renditions")
    rendition = page.locator("details", has=page.get_by_text("Anthropic", exact=True))
    await rendition.locator("summary").click()
    button = rendition.locator("button")
    await button.click()
    await expect(button).to_have_text("Copied")
    copied = json.loads(await page.evaluate("navigator.clipboard.readText()"))
    assert copied["messages"][-1]["role"] == "user" and copied["tools"][0]["input_schema"]


async def test_a_long_message_is_read_whole_on_request(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    box = page.get_by_role("textbox", name="Message")
    await box.fill("long " * 5000 + "THE-VERY-END")
    await box.press("Enter")
    await expect(page.locator(".run").last).not_to_have_attribute("aria-busy", "true")
    await page.goto(page.url.split("#")[0] + "inspect/1/")
    trigger = page.locator(".layer").last
    await expect(trigger).not_to_contain_text("THE-VERY-END")
    await trigger.get_by_role("link", name="Show the other").click()
    await expect(trigger).to_contain_text("THE-VERY-END")


async def test_an_empty_session_explains_itself(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    await page.goto(page.url.split("#")[0] + "inspect/")
    await expect(page.get_by_role("heading", name="Nothing has been sent yet")).to_be_visible()


async def test_a_chunk_of_the_stream_leads_to_its_bytes(page: Page) -> None:
    await open_newest(page, "Stream")
    await page.locator(".arrivals tbody a").last.click()
    await expect(page.locator("details.chunk[open]").last.locator("pre")).to_be_in_viewport()


async def test_a_narrow_screen_never_scrolls_sideways(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await open_list(page)
    assert await overflow(page) <= 0
    await open_newest(page)
    for tab in TABS:
        await choose(page, tab)
        assert await overflow(page) <= 0, tab


async def test_every_tab_of_a_cache_hit_is_accessible(page: Page) -> None:
    await open_newest(page)
    for tab in TABS:
        await choose(page, tab)
        await assert_accessible(page)
