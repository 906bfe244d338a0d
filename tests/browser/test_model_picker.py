"""The model of a chat and of one answer, chosen by mouse and by keyboard, wide and on a phone."""

import re

from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_plus import open_plus
from tests.browser.test_provider_tools import switch_on

PHONE = {"width": 390, "height": 844}
OTHER = "Gemini 3.5 Flash-Lite"


def button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Model:"))


def option(page: Page, title: str) -> Locator:
    return page.get_by_role("dialog", name="Model").get_by_role("radio", name=re.compile(f"^{title} "))


async def open_list(page: Page) -> Locator:
    await button(page).click()
    dialog = page.get_by_role("dialog", name="Model")
    await expect(dialog.locator("form.models")).to_be_visible()
    return dialog


async def test_a_model_has_its_use_its_price_and_its_levels(page: Page) -> None:
    await page.goto("/")
    dialog = await open_list(page)
    lite = dialog.locator(".model", has_text="Gemini 2.5 Flash-Lite")
    await expect(lite.locator(".use")).to_contain_text("decides by itself how long to think")
    await expect(lite.locator(".price")).to_have_text(re.compile(r"^\$\d+\.\d\d in · \$\d+\.\d\d out$"))
    await expect(lite.locator(".levels")).to_have_count(0)
    await expect(dialog.locator(".model", has_text="Gemini Flash Latest").locator(".future")).to_contain_text(
        re.compile("Gemini .+ answers")
    )
    await option(page, "Gemini 3.6 Flash").check()
    shown = dialog.locator(".levels").locator("visible=true")
    await expect(shown.get_by_role("radio")).to_have_count(5)
    await expect(shown).to_contain_text("Minimal")


async def test_home_begins_a_chat_with_the_chosen_model_and_level(page: Page) -> None:
    await page.goto("/")
    dialog = await open_list(page)
    await option(page, OTHER).check()
    await dialog.get_by_role("radio", name="High").locator("visible=true").check()
    await dialog.get_by_role("button", name="Done").click()
    await expect(button(page)).to_contain_text(f"{OTHER} High")
    await page.get_by_label("Message").fill("Hello")
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await expect(button(page)).to_contain_text(f"{OTHER} High")


async def test_home_begins_with_what_it_shows_after_coming_back(page: Page) -> None:
    await page.goto("/")
    await open_list(page)
    await option(page, OTHER).check()
    await page.keyboard.press("Escape")
    await page.wait_for_function("() => !history.state")
    await page.goto("/sessions/")
    await page.go_back()
    shown = await button(page).locator(".title").inner_text()
    name = await page.locator("#start [name=model]").input_value()
    assert name == shown.lower().replace(" ", "-")


async def test_the_list_is_used_without_a_mouse(page: Page) -> None:
    await open_session(page)
    await button(page).focus()
    await page.keyboard.press("Enter")
    await expect(option(page, "Gemini 3.8 Flash")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowRight")
    dialog = page.get_by_role("dialog", name="Model")
    await expect(dialog.get_by_role("radio", name="Low").locator("visible=true")).to_be_checked()
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("ArrowDown")
    await expect(option(page, "Gemini 3.6 Flash")).to_be_checked()
    await expect(dialog.get_by_role("radio", name="Low").locator("visible=true")).to_be_checked()
    await expect(dialog.get_by_role("status")).to_contain_text("from your next message on")
    await page.keyboard.press("Enter")
    await expect(dialog).to_be_hidden()
    await expect(button(page)).to_be_focused()
    await page.wait_for_function("() => !history.state")
    await page.reload()
    await expect(button(page)).to_contain_text("Gemini 3.6 Flash Low")


async def test_what_is_told_of_the_model_follows_the_choice(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    await open_list(page)
    await option(page, OTHER).check()
    await expect(page.locator("#gauge .figures")).to_have_attribute("title", re.compile("flash-lite"))
    await expect(page.locator("#outlook [data-cold]")).not_to_have_attribute("hidden", "")


async def test_another_page_of_the_chat_has_the_choice_once_it_is_looked_at(page: Page) -> None:
    await open_session(page)
    other = await page.context.new_page()
    await other.goto(page.url)
    await open_list(page)
    await option(page, OTHER).check()
    await page.keyboard.press("Escape")
    await switch_on(page, "Search the web")
    await other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(button(other)).to_contain_text(OTHER)
    await other.get_by_role("button", name="Search the web: on. Switch off").click()
    await expect(other.locator("#own-on button")).to_have_count(0)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(page.locator("#own-on button")).to_have_count(0)
    await open_plus(page)
    await expect(page.locator("#own-tools").get_by_label("Search the web")).not_to_be_checked()


async def test_back_closes_the_list_of_a_phone_and_stays_on_the_page(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await open_session(page)
    address = page.url
    dialog = await open_list(page)
    await page.go_back()
    await expect(dialog).to_be_hidden()
    assert page.url == address
    await open_list(page)
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await page.wait_for_function("() => !history.state?.over")
    await page.go_back()
    await expect(page).to_have_url(re.compile("/new$"))


async def test_on_a_phone_the_list_rises_from_the_lower_edge(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await open_session(page)
    dialog = await open_list(page)
    box = await dialog.bounding_box()
    assert box and (box["x"], box["width"]) == (0, 390)
    assert abs(box["y"] + box["height"] - PHONE["height"]) < 1
    await assert_accessible(page)
    await page.go_back()
    await expect(dialog).to_be_hidden()


async def test_the_list_on_home_passes(page: Page) -> None:
    await page.goto("/")
    await open_list(page)
    await assert_accessible(page)


async def test_while_an_answer_comes_the_choice_is_for_the_next(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    dialog = await open_list(page)
    await option(page, OTHER).check()
    await expect(dialog.get_by_role("status")).to_contain_text("The answer in progress stays")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await page.keyboard.press("Escape")
    await finished(run)
    await expect(run.locator(".by")).to_have_text("Gemini 3.8 Flash")
    later = await send(page, "Hello")
    await finished(later)
    await expect(later.locator(".by")).to_have_count(0)


async def test_an_answer_by_another_model_stands_beside_the_first(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    chosen = await button(page).inner_text()
    run = page.locator(".run").last
    await run.get_by_label("More for this answer").click()
    await run.get_by_role("button", name="Answer again with").click()
    others = page.get_by_role("dialog", name="Answer again with")
    await expect(others.locator("[data-model='gemini-3.8-flash']")).to_be_disabled()
    await others.locator("[data-model='gemini-3.5-flash-lite']").click()
    await expect(others).to_be_hidden()
    await expect(page.locator(".run .by")).to_have_text(OTHER)
    await expect(page.locator(".run").get_by_role("group", name="Branches")).to_contain_text("2/2")
    assert await button(page).inner_text() == chosen
    await page.get_by_role("button", name="Branch before").click()
    await expect(page.locator(".run .by")).to_have_count(0)
