"""The inspecting view on a phone: nothing is cut off, and what belongs together stands together."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_layout import PHONE
from tests.browser.test_phone import box_of

pytestmark = pytest.mark.usefixtures("inspecting")


async def test_the_menu_of_an_answer_is_whole(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await open_session(page)
    await finished(await send(page, "Hello"))
    await page.get_by_label("More for this answer").click()
    await expect(page.locator(".foot .menu .items")).to_be_in_viewport(ratio=1)


async def test_cancel_stands_beside_save(page: Page) -> None:
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await open_session(page)
    await page.get_by_role("button", name="Chat settings").click()
    settings = page.get_by_role("dialog", name="Chat settings")
    save = await box_of(settings.get_by_role("button", name="Save"))
    cancel = await box_of(settings.get_by_role("button", name="Cancel"))
    assert cancel["y"] == save["y"]
