"""Capture in a real browser: an address is made, a program asks, and the list follows."""

import asyncio
import re
import urllib.error
import urllib.request
from typing import Any

from playwright.async_api import FilePayload, Page, expect

from tests.browser.access import assert_accessible
from tests.capture.conversations import body_of, model, user
from tests.capture.har_files import archive, devtools_entry, mitmproxy_entry

GENERATE = "/v1beta/models/gemini-3-flash-preview:generateContent"
FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")


def _post(url: str, body: bytes, headers: dict[str, str]) -> int:
    named = {"x-goog-api-key": "emulator", "User-Agent": "loaf-agent/1.0", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, named), timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


async def ask(base: str, *contents: Any, **headers: str) -> int:
    return await asyncio.to_thread(_post, base + GENERATE, body_of(contents, tools=None), headers)


async def make_address(page: Page, name: str) -> str:
    await page.goto("/capture/")
    await page.get_by_role("textbox", name="Name").fill(name)
    await page.get_by_label("Leads to").select_option("emulator")
    await page.get_by_role("button", name="Make the address").click()
    return await page.locator("#made-address").inner_text()


async def test_a_program_is_pointed_at_an_address_and_its_requests_appear(page: Page) -> None:
    base = await make_address(page, "Laptop")
    assert base in await page.locator("#lines-curl").inner_text()
    await page.get_by_role("button", name="Copy the address").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await ask(base, FIRST) == 200
    session = page.locator(".captured-session", has_text="loaf-agent at Laptop")
    await expect(session.locator("tbody tr")).to_have_count(1)
    assert await ask(base, FIRST, model("Double it."), SECOND) == 200
    await expect(session.locator("tbody tr")).to_have_count(2)
    await expect(session.locator("tbody tr").last).to_contain_text("goes on")
    await assert_accessible(page)
    await session.get_by_role("link", name="Request 2").click()
    await expect(page.get_by_role("heading", name="Exchange 2")).to_be_visible()
    await expect(page.get_by_text("all that exchange 1 sent").first).to_be_visible()


async def test_a_captured_session_is_read_as_a_chat_and_nothing_can_be_written(page: Page) -> None:
    base = await make_address(page, "Read only")
    assert await ask(base, FIRST, **{"X-Pipeweb-Session": "reading"}) == 200
    session = page.locator(".captured-session", has_text="reading")
    await session.get_by_role("link", name="reading", exact=True).click()
    await expect(page.get_by_text("1 request, to be read only")).to_be_visible()
    await expect(page.get_by_text("How do I scale the loaf to two kilograms?").first).to_be_visible()
    await expect(page.locator("textarea")).to_have_count(0)
    await page.get_by_role("link", name="Inspector", exact=True).click()
    await expect(page.locator("table.exchanges tbody tr")).to_have_count(1)


async def test_a_session_is_split_and_joined_again(page: Page) -> None:
    base = await make_address(page, "By hand")
    named = {"X-Pipeweb-Session": "grouped"}
    assert await ask(base, FIRST, **named) == 200
    assert await ask(base, FIRST, model("Double it."), SECOND, **named) == 200
    session = page.locator(".captured-session", has_text="grouped")
    await expect(session.locator("tbody tr")).to_have_count(2)
    await session.get_by_role("link", name="Join or split").click()
    await assert_accessible(page)
    await page.get_by_role("button", name="Split here").click()
    await expect(page.get_by_text("1 request, to be read only")).to_be_visible()
    await page.locator("summary[aria-label='More for this session']").click()
    await page.get_by_role("link", name="Join or split…").click()
    await page.get_by_role("button", name="Join", exact=True).click()
    await expect(page.get_by_text("2 requests, to be read only")).to_be_visible()


async def test_a_refused_request_says_why_and_a_revoked_address_is_gone(page: Page) -> None:
    base = await make_address(page, "Short-lived")
    assert await ask(base, FIRST, Origin="http://a.example") == 403
    await expect(page.get_by_text("Requests of web pages are not relayed").first).to_be_visible()
    await page.get_by_role("button", name=re.compile("Revoke Short-lived")).click()
    await expect(page.get_by_role("heading", name="Short-lived")).to_have_count(0)


async def test_a_har_file_is_imported_and_its_requests_appear(page: Page) -> None:
    await page.goto("/capture/")
    entries = [devtools_entry(body_of([FIRST])), mitmproxy_entry(b"", url="https://example.org/")]
    file: FilePayload = {"name": "talk.har", "mimeType": "application/json", "buffer": archive(*entries)}
    form = page.locator(".har-import")
    for said in ("Recorded 1 request in 1 session.", "This file was imported on"):
        await form.get_by_label("File").set_input_files(file)
        await form.get_by_role("button", name="Import").click()
        await expect(page.get_by_text(said)).to_be_visible()
    await expect(page.locator(".captured-session", has_text="Mozilla")).to_have_count(1)
    await assert_accessible(page)


async def test_what_belongs_to_no_session_is_erased_after_a_question(page: Page) -> None:
    base = await make_address(page, "To erase")
    for _ in range(2):
        assert await asyncio.to_thread(_post, f"{base}/v1beta/none:generateContent", b"{}", {}) == 404
    rows = page.locator(".captured-session tbody tr", has_text="at To erase")
    await expect(rows).to_have_count(2)
    await rows.first.get_by_role("link").click()
    await page.get_by_role("button", name="Erase…").click()
    asked = page.get_by_role("dialog", name="Erase this request")
    await assert_accessible(page)
    await asked.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("button", name="Erase…")).to_be_focused()
    await page.keyboard.press("Enter")
    await asked.get_by_role("button", name="Erase it").click()
    await expect(page.get_by_text("The request is erased.")).to_be_visible()
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Erase all of these…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Erase all of them").click()
    await expect(rows).to_have_count(0)


async def test_a_phone_names_the_figures_of_a_request(page: Page) -> None:
    base = await make_address(page, "On a phone")
    assert await ask(base, FIRST, **{"X-Pipeweb-Session": "narrow"}) == 200
    await page.set_viewport_size({"width": 390, "height": 844})
    cells = page.locator(".captured-session", has_text="narrow").locator("td.number[data-label]")
    await expect(cells).to_have_count(3)
    named = "cells => cells.map((one) => getComputedStyle(one, '::before').content)"
    assert await cells.evaluate_all(named) == ['"Sent "', '"Cached "', '"Received "']
