"""The first visit: from the printed link to the sessions."""

from playwright.async_api import BrowserContext, Page, expect

from tests.browser.conftest import open_account, sign_in
from tests.server import Server


async def test_a_link_from_the_terminal_signs_in(visitor: BrowserContext, server: Server) -> None:
    page = await visitor.new_page()
    await sign_in(page, server.new_link())
    await expect(page).to_have_url(server.url + "/")


async def test_nobody_in_particular_is_sent_to_sign_in(visitor: BrowserContext) -> None:
    page = await visitor.new_page()
    await page.goto("/")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_signing_out_leads_back_to_signing_in(visitor: BrowserContext, server: Server) -> None:
    page = await visitor.new_page()
    await sign_in(page, server.new_link())
    await open_account(page)
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_the_owner_reaches_the_admin_pages(page: Page) -> None:
    await page.goto("/admin/")
    await expect(page.get_by_role("link", name="Sessions", exact=True).first).to_be_visible()
