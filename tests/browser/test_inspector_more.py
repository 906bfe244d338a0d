"""Diff, pipeline, filters, keys, copying and what is live, as a person meets them."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_inspector import open_list, open_newest, tab_link

NARROW = {"width": 390, "height": 844}


async def start_session(page: Page) -> str:
    """A session of its own; the address of its page."""
    await page.goto("/new")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    return page.url.split("#")[0]


async def send(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message")
    await box.fill(text)
    await box.press("Enter")


async def say(page: Page, text: str) -> None:
    """Sends a message and waits for the end of its answer."""
    count = await page.locator(".run").count()
    await send(page, text)
    await expect(page.locator(".run")).to_have_count(count + 1)
    await expect(page.locator(".run").last).not_to_have_attribute("aria-busy", "true")


async def test_the_diff_tells_what_the_second_message_added(page: Page) -> None:
    await open_newest(page, "Diff")
    buffered = page.locator(".layer", has=page.get_by_role("heading", name="Buffered"))
    await expect(buffered.get_by_text("was in trigger")).to_be_visible()
    await expect(buffered.locator("ins .sign").first).to_have_text("+")


async def test_a_large_change_is_compared_when_it_is_opened(page: Page) -> None:
    address = await start_session(page)
    await say(page, "Hello")
    await say(page, "long " * 9000 + "THE-VERY-END")
    await page.goto(address + "inspect/2/?tab=diff")
    trigger = page.locator(".layer").last
    await expect(trigger).not_to_contain_text("THE-VERY-END")
    await trigger.locator("summary").last.click()
    await expect(trigger).to_contain_text("THE-VERY-END")


async def test_another_exchange_is_chosen_for_the_diff(page: Page) -> None:
    await open_newest(page, "Diff")
    number = int(re.findall(r"/inspect/(\d+)/", page.url)[0])
    await page.get_by_label(re.compile("Compare exchange")).select_option("1")
    await page.get_by_role("button", name="Compare").first.click()
    await expect(page).to_have_url(re.compile("with=1"))
    await expect(page.get_by_text(f"+ is in exchange {number} only")).to_be_visible()


async def test_the_pipeline_names_every_stage_with_its_time(page: Page) -> None:
    await open_newest(page, "Pipeline")
    rows = page.locator(".stages tbody tr")
    await expect(rows.first).to_contain_text("Build the trigger")
    await expect(rows.filter(has_text="Check the request")).to_contain_text("ms")
    assert await rows.count() >= 12


async def test_the_request_is_copied_as_curl_by_its_key(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_newest(page, "Response")
    await page.keyboard.press("c")
    await expect(page.locator("[data-keys-curl]")).to_have_text("Copied")
    assert (await page.evaluate("navigator.clipboard.readText()")).startswith("curl -sSN")


async def test_each_program_is_copied_whole(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_newest(page, "Wire")
    for name, begins in (("JavaScript", "const body"), ("Python, google-genai", "import json\nimport os")):
        button = page.get_by_role("button", name=f"Copy as {name}", exact=True)
        await button.click()
        await expect(button).to_have_text("Copied")
        assert (await page.evaluate("navigator.clipboard.readText()")).startswith(begins)


async def test_keys_go_through_exchanges_and_tabs(page: Page) -> None:
    await open_newest(page)
    number = int(re.findall(r"/inspect/(\d+)/", page.url)[0])
    await page.keyboard.press("k")
    await expect(page.get_by_role("heading", name=f"Exchange {number - 1}", exact=True)).to_be_visible()
    await page.wait_for_load_state()
    await page.keyboard.press("j")
    await expect(page.get_by_role("heading", name=f"Exchange {number}", exact=True)).to_be_visible()
    await page.wait_for_load_state()
    await page.keyboard.press("]")
    await expect(tab_link(page, "Response")).to_have_attribute("aria-current", "page")
    await page.wait_for_load_state()
    await page.keyboard.press("d")
    await expect(tab_link(page, "Diff")).to_have_attribute("aria-current", "page")


async def test_keys_rest_while_a_field_has_the_focus(page: Page) -> None:
    await open_list(page)
    await page.get_by_text("Search and filter").click()
    field = page.get_by_label("Text in a request or an answer")
    await field.press_sequentially("j?")
    await expect(field).to_have_value("j?")
    await expect(page.locator("dialog[open]")).to_have_count(0)


async def test_one_switch_turns_the_single_keys_off(page: Page) -> None:
    await open_newest(page)
    await page.keyboard.press("?")
    switch = page.get_by_role("checkbox", name="Single keys")
    await switch.uncheck()
    await page.keyboard.press("Escape")
    assert await page.evaluate("localStorage.getItem('pipeweb.keys')") == "off"
    await page.keyboard.press("d")
    await expect(tab_link(page, "Layers")).to_have_attribute("aria-current", "page")
    await page.get_by_role("button", name="Keys").click()
    await switch.check()
    await page.keyboard.press("Escape")
    await page.keyboard.press("d")
    await expect(tab_link(page, "Diff")).to_have_attribute("aria-current", "page")


async def test_rows_of_the_list_are_walked_and_opened(page: Page) -> None:
    await open_list(page)
    await page.keyboard.press("j")
    await page.keyboard.press("ArrowDown")
    second = page.locator("#rows .asked > a:first-child").nth(1)
    await expect(second).to_be_focused()
    address = await second.get_attribute("href")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**{address}")


async def test_filters_stay_in_the_address_and_go_one_by_one(page: Page) -> None:
    await open_list(page)
    await page.get_by_text("Search and filter").click()
    await page.get_by_label("Text in a request or an answer").fill("cache")
    await page.get_by_label("End", exact=True).select_option("answered")
    await page.get_by_role("button", name="Show", exact=True).click()
    await page.wait_for_url("**?*")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked == {"q": ["cache"], "end": ["answered"], "sort": ["newest"]}
    await page.get_by_role("link", name="Take out: end: answered").click()
    await expect(page.locator(".chip")).to_have_count(1)


async def test_a_match_opens_the_item_that_holds_it(page: Page) -> None:
    await open_list(page)
    await page.goto(page.url + "?q=CURRENT_datetime")
    await page.locator(".match").first.click()
    await expect(page.locator("details.item[open]:target")).to_be_in_viewport()
    await expect(page.locator("details.item[open]:target")).to_contain_text("current_datetime")


async def test_list_and_exchange_follow_a_run(page: Page, context: BrowserContext) -> None:
    address = await start_session(page)
    await say(page, "Hello")
    watching = await context.new_page()
    await watching.goto(address + "inspect/")
    await expect(watching.locator("#rows tbody tr")).to_have_count(1)
    await send(page, "/slow /stall 15 tell me")
    await expect(page.locator(".run").last).to_have_attribute("aria-busy", "true")
    row = watching.locator("#exchange-2")
    await expect(row).to_contain_text(re.compile("waiting|streaming"))
    opened = await context.new_page()
    await opened.goto(address + "inspect/2/?tab=response")
    await expect(row).to_contain_text("complete", timeout=60_000)
    await expect(opened.locator("#head")).to_contain_text("complete")
    await expect(opened.locator("#tab")).to_contain_text("folded from")
    await expect(opened.locator("[data-live]")).to_have_count(0)


async def test_a_ribbon_says_what_it_shows_and_opens_the_exchange(page: Page) -> None:
    await open_list(page)
    ribbon = page.locator("#rows .ribbon").first
    await ribbon.hover()
    await expect(ribbon.locator(".ribbon-words")).to_be_visible()
    await expect(ribbon.locator(".ribbon-words")).to_contain_text("static")
    await ribbon.click()
    await page.wait_for_url(re.compile(r"/inspect/\d+/"))


@pytest.mark.usefixtures("inspecting")
async def test_the_chat_and_the_inspector_draw_one_ribbon(page: Page) -> None:
    await open_newest(page)
    there = await page.locator(".summary .ribbon svg").get_attribute("aria-label")
    await page.get_by_role("link", name="See it in the chat").click()
    here = page.locator(".run .cost .ribbon svg").last
    await expect(here).to_have_attribute("aria-label", there or "")
    await page.locator(".run .cost").last.click()
    await page.wait_for_url(re.compile(r"/inspect/\d+/"))


async def test_the_open_filters_are_accessible(page: Page) -> None:
    await open_list(page)
    await page.get_by_text("Search and filter").click()
    await assert_accessible(page)
