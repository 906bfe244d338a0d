"""Sharing in a real browser: preview, link, what somebody without an account reads, and revoking."""

import re
from collections.abc import Callable
from typing import Any

from playwright.async_api import BrowserContext, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.conftest import collect_complaints
from tests.browser.lines import Line
from tests.browser.test_chat import finished, open_session, send

FLIGHT = "Check flight status for AA100 and book a taxi 2 hours before if delayed"
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da63fcff1f0003030200efa2a75b0000000049454e44ae426082"
)


async def share(page: Page) -> None:
    """Opens the dialog of the session in view."""
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Share…").click()
    await expect(page.locator("#share .transcript")).to_be_visible()


async def make_link(page: Page) -> str:
    await page.get_by_role("button", name="Make the link").click()
    made = page.locator("#made-link")
    await expect(made).to_be_visible()
    return await made.inner_text()


async def somebody(new_context: Callable[..., Any], complaints: list[str], **options: Any) -> BrowserContext:
    """Another browser, in which nobody is signed in; it runs no scripts."""
    context: BrowserContext = await new_context(java_script_enabled=False, **options)
    collect_complaints(context, complaints)
    return context


async def test_what_was_previewed_is_what_somebody_reads(
    page: Page, new_context: Callable[..., Any], complaints: list[str]
) -> None:
    await open_session(page)
    await finished(await send(page, FLIGHT))
    await share(page)
    preview = page.locator("#share .transcript")
    await expect(preview.locator(".tool")).to_have_count(0)
    await page.get_by_label("With tools and thoughts").check()
    await expect(preview.locator(".tool").first).to_be_visible()
    await assert_accessible(page, within="#share")
    previewed = await preview.inner_html()
    address = await make_link(page)
    await finished_dialog(page)
    await finished(await send(page, "Said after it was shared"))
    reader = await (await somebody(new_context, complaints)).new_page()
    await reader.goto(address)
    assert await reader.locator(".transcript").inner_html() == previewed
    await reader.locator(".tool summary").first.click()
    await expect(reader.locator(".tool .response").first).to_be_visible()
    await expect(reader.get_by_text("Said after it was shared")).to_have_count(0)


async def finished_dialog(page: Page) -> None:
    await page.locator("#share").get_by_role("button", name="Close").last.click()
    await expect(page.locator("#share")).to_be_hidden()


async def test_a_chosen_picture_is_shown_and_a_withheld_one_only_counted(
    page: Page, new_context: Callable[..., Any], complaints: list[str]
) -> None:
    await open_session(page)
    for name in ("kept.png", "given.png"):
        file = {"name": name, "mimeType": "image/png", "buffer": PICTURE}
        await page.locator("input[type=file]").first.set_input_files(file)  # type: ignore[arg-type]
        await expect(page.locator(".chip", has_text=name)).not_to_have_attribute("aria-busy", "true")
    await finished(await send(page, "Two pictures"))
    await share(page)
    await page.get_by_label(re.compile("given.png")).check()
    await expect(page.locator("#share .transcript")).to_contain_text("1 file not shared")
    address = await make_link(page)
    reader = await (await somebody(new_context, complaints)).new_page()
    await reader.goto(address)
    picture = reader.get_by_alt_text("given.png")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("(one) => one.complete && one.naturalWidth") == 1
    await expect(reader.get_by_text("kept.png")).to_have_count(0)


async def test_a_revoked_link_is_like_anything_that_is_not_yours(
    page: Page, new_context: Callable[..., Any], complaints: list[str]
) -> None:
    await open_session(page)
    await finished(await send(page, "Shared for a moment"))
    await share(page)
    await page.get_by_label("The link ends after").select_option("Never")
    address = await make_link(page)
    reader = await (await somebody(new_context, complaints)).new_page()
    await reader.goto(address)
    await expect(reader.locator(".bubble")).to_have_text("Shared for a moment")
    await page.locator("#share").get_by_role("link", name="Shared links").click()
    card = page.locator(".shared-links li", has_text=address)
    await expect(card).to_contain_text("does not end by itself")
    await assert_accessible(page)
    await card.get_by_role("button", name="Revoke").click()
    await expect(card).to_have_count(0)
    answer = await reader.reload()
    assert answer and answer.status == 404
    await expect(reader.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    complaints.clear()  # the browser reports the 404


async def test_the_page_of_a_link_is_accessible_and_fits_a_phone(page: Page, visitor: BrowserContext) -> None:
    await open_session(page)
    await finished(await send(page, FLIGHT))
    await finished(await send(page, "/long"))
    await share(page)
    await page.get_by_label("With tools and thoughts").check()
    await expect(page.locator("#share .transcript .tool").first).to_be_visible()
    address = await make_link(page)
    reader = await visitor.new_page()
    for width in (390, 1440):
        await reader.set_viewport_size({"width": width, "height": 844})
        await reader.goto(address)
        await assert_accessible(reader)
        assert await reader.evaluate("document.documentElement.scrollWidth") <= width


async def test_the_branch_that_the_page_shows_is_shared_whatever_is_in_view_elsewhere(
    page: Page, context: BrowserContext
) -> None:
    line = Line()
    await line.lay(page)
    await open_session(page)
    await finished(await send(page, "The first"))
    await line.cut()
    other = await context.new_page()
    await other.goto(page.url)
    await finished(await send(other, "Said in another tab"))
    await share(page)
    await expect(page.locator("#share .transcript")).to_contain_text("The first")
    await expect(page.locator("#share .transcript")).not_to_contain_text("Said in another tab")
    await other.reload()
    await share(other)
    await expect(other.locator("#share .transcript")).to_contain_text("Said in another tab")


async def test_a_link_is_made_beside_any_page_and_copied_where_links_are_listed(page: Page) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_session(page)
    await finished(await send(page, "A chat to share from elsewhere"))
    await page.goto("/spending/")
    row = page.locator(".side-list li", has_text="A chat to share from elsewhere").first
    await row.hover()
    await row.locator("summary").click()
    await row.get_by_role("button", name="Share…").click()
    await expect(page.locator("#share .transcript")).to_be_visible()
    link = await make_link(page)
    await page.locator("#share [data-copy]").click()
    assert await page.evaluate("navigator.clipboard.readText()") == link
    await page.goto("/links/")
    copy = page.get_by_role("button", name="Copy", exact=True).first
    await copy.click()
    await expect(page.get_by_role("button", name="Copied").first).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == link
