"""Long names beside what has to stay in reach: nothing is pushed off, covered or squeezed."""

from itertools import pairwise

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import choose_view
from tests.browser.test_attachments import PAPER, choose
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow
from tests.browser.test_folders import side_of
from tests.browser.test_layout import PHONE
from tests.browser.test_sharing import share

LONG = "Donaudampfschifffahrtsgesellschaftskapitaen" * 2
LEAST = 24
"""Pixels that a target has at least (WCAG 2.5.8)."""

SCROLLS = "(element) => element.scrollWidth - element.clientWidth"


async def phone(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]


async def edges_of(place: Locator) -> tuple[float, float]:
    box = await place.bounding_box()
    assert box
    return box["x"], box["x"] + box["width"]


async def test_a_folder_and_the_chat_that_is_moved_there_stay_on_a_phone(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, LONG))
    await side_of(page).get_by_role("button", name="New folder").click()
    await page.get_by_label("Name", exact=True).fill(LONG[:60])
    await page.get_by_label("Name", exact=True).press("Enter")
    await expect(side_of(page).get_by_role("region", name=LONG[:60])).to_be_visible()
    await page.get_by_label("More for this chat").click()
    await page.get_by_role("button", name="Move to folder…").click()
    await expect(page.locator("#folder legend")).to_be_visible()
    await phone(page)
    assert await page.locator("#folder").evaluate(SCROLLS) == 0
    await page.goto("/sessions/")
    assert await overflow(page) <= 0


async def test_a_file_with_a_long_name_does_not_make_a_chat_scroll_sideways(page: Page) -> None:
    await open_session(page)
    await choose(page, {**PAPER, "name": f"{LONG}.pdf"})
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    await finished(await send(page, "What is this?"))
    await phone(page)
    assert await page.locator(".scroller").evaluate(SCROLLS) == 0


async def test_controls_keep_their_size_beside_a_long_title(page: Page) -> None:
    await choose_view(page, "Inspect")
    await open_session(page)
    await finished(await send(page, LONG))
    await phone(page)
    for control in await page.locator(".topbar :is(a, button, summary):visible").all():
        left, right = await edges_of(control)
        assert right - left >= LEAST
    await choose_view(page, "Simple")


async def test_the_model_that_answered_stands_beside_or_below_the_line_of_an_answer(page: Page) -> None:
    await choose_view(page, "Inspect")
    await open_session(page)
    await finished(await send(page, "First words"))
    await finished(run := await send(page, "/served who are you"))
    await expect(run.locator(".foot .badge.host")).to_be_visible()
    line = [await edges_of(part) for part in await run.locator(".foot .line > :visible").all()]
    for (_, right), (left, _) in pairwise(line):
        assert right <= left
    for part in (".foot .sum", ".foot .sum > span:last-child"):
        assert await run.locator(part).evaluate(SCROLLS) == 0
    await choose_view(page, "Simple")


async def test_the_preview_of_a_link_is_a_sheet_as_wide_as_a_phone(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "To be shared"))
    await share(page)
    await phone(page)
    assert await edges_of(page.locator("#share")) == pytest.approx((0, PHONE["width"]), abs=1)


async def test_a_long_word_that_nobody_has_said_stays_in_the_list_and_in_the_sidebar(page: Page) -> None:
    await page.goto("/sessions/?q=" + "x" * 90)
    said = page.get_by_text("Nobody has said")
    await page.get_by_role("searchbox").first.fill("y" * 90)
    await expect(said).to_have_count(2)
    for place in await said.all():
        assert await place.evaluate(SCROLLS) == 0
        _, right = await edges_of(place)
        _, end = await edges_of(place.locator(".."))
        assert right <= end
