"""Search, links, code and answers as JSON, as a person switches them on and reads what they bring."""

import asyncio
import re

from playwright.async_api import Locator, Page, Route, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow
from tests.browser.test_plus import open_plus

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'


async def switch_on(page: Page, name: str) -> None:
    await open_plus(page)
    await page.locator(".own-tools").get_by_label(name).check()
    await expect(page.get_by_role("button", name=f"{name}: on. Switch off")).to_be_visible()
    await page.keyboard.press("Escape")


async def assert_grounded(page: Page) -> None:
    run = page.locator(".run").last
    marks = run.locator(".text .cited")
    await expect(marks).to_have_text([re.compile("1"), re.compile("2")])
    sources = run.get_by_role("region", name="Sources of this answer")
    await expect(sources.locator("li").first.get_by_role("link")).to_have_attribute("target", "_blank")
    frame = sources.frame_locator("iframe.suggestions")
    await expect(frame.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"^https://www\.google\.com/search")
    )


async def test_a_search_is_switched_on_asked_for_and_read(page: Page) -> None:
    await open_session(page)
    await switch_on(page, "Search the web")
    await finished(await send(page, "What is the latest news about bees?"))
    await assert_grounded(page)
    await page.locator(".run .text .cited a").first.click()
    await expect(page.locator(".cited-sources li:target")).to_be_visible()
    await page.reload()
    await assert_grounded(page)
    await assert_accessible(page, within=".run")
    await expect(page.get_by_role("button", name="Search the web: on. Switch off")).to_be_visible()
    await page.get_by_role("button", name="Search the web: on. Switch off").click()
    await expect(page.get_by_role("button", name="Search the web: on. Switch off")).to_have_count(0)


async def test_a_box_switches_its_own_tool_off_while_another_is_on(page: Page) -> None:
    await open_session(page)
    for name in ("Search the web", "Run code"):
        await switch_on(page, name)
    await open_plus(page)
    await page.locator(".own-tools").get_by_label("Search the web").uncheck()
    await expect(page.get_by_role("button", name="Search the web: on. Switch off")).to_have_count(0)
    await expect(page.get_by_role("button", name="Run code: on. Switch off")).to_be_visible()


async def test_the_menu_stays_open_while_tools_are_chosen(page: Page) -> None:
    for address in ("/", "/new"):
        await page.goto(address)
        if address == "/new":
            await page.get_by_role("button", name="Create chat").click()
            await page.wait_for_url("**/s/**")
        await open_plus(page)
        for name in ("Search the web", "Run code"):
            await page.locator(".own-tools").get_by_label(name).check()
        await page.locator("h1").first.click()
        await expect(page.locator(".plus .items")).to_be_hidden()


async def test_every_click_counts_while_the_first_is_on_its_way(page: Page) -> None:
    await open_session(page)
    await open_plus(page)
    change, may_go = re.compile("/provider-tools/"), asyncio.Event()

    async def slowly(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await page.route(change, slowly)
    search, code = (page.locator(".own-tools").get_by_label(name) for name in ("Search the web", "Run code"))
    async with page.expect_request(change):
        await search.click()
    for box in (code, search):
        await box.click()
    may_go.set()
    await expect(page.get_by_role("button", name="Run code: on. Switch off")).to_be_visible()
    await expect(page.get_by_role("button", name="Search the web: on. Switch off")).to_have_count(0)
    await expect(search).not_to_be_checked()
    await expect(code).to_be_checked()
    await page.reload()
    await expect(page.locator("#own-on button")).to_have_count(1)


async def test_two_tools_are_switched_off_within_one_round_trip(page: Page) -> None:
    await open_session(page)
    for name in ("Search the web", "Run code"):
        await switch_on(page, name)
        await page.keyboard.press("Escape")
    # In one task of the page: the answer to the first click replaces both buttons.
    await page.locator("#own-on button").evaluate_all("(all) => all.forEach((one) => one.click())")
    await expect(page.locator("#own-on button")).to_have_count(0)
    for name in ("Search the web", "Run code"):
        await expect(page.locator(".own-tools").get_by_label(name)).not_to_be_checked()
    await page.reload()
    await expect(page.locator("#own-on button")).to_have_count(0)


async def test_a_click_that_could_not_be_saved_is_taken_back_and_said(
    page: Page, complaints: list[str]
) -> None:
    await open_session(page)
    await switch_on(page, "Run code")
    change = re.compile("/provider-tools/")
    await page.route(change, lambda route: route.abort())
    boxes, said = page.locator(".own-tools"), page.locator(".transcript > .ending")
    search, code = boxes.get_by_label("Search the web"), boxes.get_by_label("Run code")
    for box, is_on in ((search, False), (code, True)):
        await open_plus(page)
        await box.click()
        await expect(box).to_be_checked(checked=is_on)
        await expect(said).to_contain_text("could not be saved")
        await page.keyboard.press("Escape")
    assert any("ERR_FAILED" in one for one in complaints)
    complaints.clear()
    await page.unroute(change)
    await switch_on(page, "Search the web")
    await expect(said).to_have_count(0)
    await expect(page.locator("#own-on button")).to_have_count(2)


async def test_the_frame_of_suggestions_runs_no_script(page: Page) -> None:
    await open_session(page)
    await switch_on(page, "Search the web")
    await finished(await send(page, "Search for bees"))
    frame = page.locator("iframe.suggestions")
    assert await frame.get_attribute("sandbox") == "allow-popups allow-popups-to-escape-sandbox"
    source = await frame.get_attribute("src")
    answer = await page.request.get(source or "")
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_a_search_is_chosen_on_home_before_the_first_message(page: Page) -> None:
    await page.goto("/")
    await open_plus(page)
    await page.locator(".own-tools").get_by_label("Search the web").check()
    await page.keyboard.press("Escape")
    await page.get_by_label("Message").fill("Search for the way of bees")
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await finished(page.locator(".run"))
    await assert_grounded(page)


def blocks(page: Page) -> Locator:
    return page.locator(".run").last.locator(".text .code")


async def test_code_and_its_result_are_blocks_that_can_be_copied(page: Page) -> None:
    await open_session(page)
    await switch_on(page, "Run code")
    await finished(await send(page, "Compute 17*23+4"))
    for _ in range(2):
        await expect(blocks(page)).to_have_count(2)
        await expect(blocks(page).first).to_contain_text("print(result)")
        await expect(blocks(page).last).to_contain_text("395")
        await expect(blocks(page).last.get_by_role("button", name="Copy")).to_be_visible()
        await page.reload()


async def set_schema(page: Page, schema: str) -> None:
    await open_plus(page)
    await page.get_by_role("button", name="Tools…").click()
    form = page.locator("#settings")
    await form.get_by_label("Answer as JSON").fill(schema)
    await form.get_by_role("button", name="Save").click()


async def test_an_answer_by_a_schema_is_shown_as_json_and_checked(page: Page) -> None:
    await open_session(page)
    await set_schema(page, '{"type": "text"}')
    await expect(page.locator("#settings")).to_contain_text("there is no type “text”")
    await page.locator("#settings").get_by_label("Answer as JSON").fill(SCHEMA)
    await page.locator("#settings").get_by_role("button", name="Save").click()
    await expect(page.locator("#settings")).to_be_hidden()
    await finished(await send(page, "The largest city of Mexico?"))
    for _ in range(2):
        await expect(blocks(page)).to_have_count(1)
        await expect(blocks(page)).to_contain_text('"city"')
        await expect(page.locator(".run").last).to_contain_text("Fits the schema")
        await page.reload()


async def test_a_model_that_cannot_says_what_it_leaves_out(page: Page) -> None:
    await open_session(page)
    address = page.url
    await page.goto(address)
    await open_plus(page)
    await page.get_by_role("button", name="Tools…").click()
    form = page.locator("#settings")
    await form.get_by_role("tab", name="Model").click()
    await form.locator("[name=model]").select_option("gemini-2.5-flash")
    await form.get_by_role("button", name="Save").click()
    await expect(form).to_be_hidden()
    await page.goto(address)
    await switch_on(page, "Search the web")
    await open_plus(page)
    await expect(page.locator(".own-tools .note")).to_contain_text("does not take it beside")
    await page.keyboard.press("Escape")
    await finished(await send(page, "Search for bees"))
    await assert_grounded(page)
    await page.goto(f"{address}inspect/1/?tab=pipeline")
    await expect(page.locator("body")).to_contain_text("Offer tools")


async def test_the_menu_fits_a_phone(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 800})
    await open_session(page)
    await switch_on(page, "Search the web")
    await finished(await send(page, "Search for bees"))
    await assert_grounded(page)
    assert await overflow(page) <= 0
    await open_plus(page)
    await expect(page.locator(".own-tools").get_by_label("Read links")).to_be_visible()
    assert await overflow(page) <= 0
