"""What would have saved money, in a real browser: opened in the list of exchanges."""

import re

from playwright.async_api import Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow

LONG = "A loaf wants flour, water, salt and time. " * 600


async def test_a_loss_is_told_with_its_cause_where_the_requests_are_listed(page: Page) -> None:
    await open_session(page)
    for text in (LONG, "And how much salt?", "/vanish And how long does it bake?"):
        await finished(await send(page, text))
    await page.goto(page.url.split("?")[0] + "inspect/")
    await page.get_by_text("What would have saved money here").click()
    found = page.locator(".savings-found")
    await expect(found.locator("tbody tr")).to_have_count(2)
    await expect(found).to_contain_text("In 1 of 3 requests the provider reused less")
    for width in (1440, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await overflow(page) <= 0
    await assert_accessible(page)
    await found.get_by_role("link", name="Request").first.click()
    await expect(page).to_have_url(re.compile(r"/inspect/\d+/\?tab=diff$"))
