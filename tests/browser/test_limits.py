"""A limit that is reached, and a sign-out in another tab: said on the page, and nothing written is lost."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, FilePayload, Page, expect

from tests.browser.conftest import open_account, sign_in
from tests.browser.test_chat import finished, open_session, send
from tests.server import Server, manage

NAME, PASSWORD = "guest", "looking-glass-7"
GUEST = f"""
from django.contrib.auth.models import User
from sessions_app.models import PersonalLimits
person = User.objects.create_user("{NAME}", password="{PASSWORD}")
PersonalLimits.objects.create(user=person, sends_per_minute=1, sessions=2, upload_mb_per_day=0)
"""


@pytest.fixture(scope="session")
def guest(server: Server) -> str:
    """A person with small limits."""
    done = manage(server.folder, "shell", "-v", "0", "-c", GUEST)
    assert done.returncode == 0, done.stderr
    return NAME


@pytest_asyncio.fixture(loop_scope="session")
async def narrow(visitor: BrowserContext, guest: str) -> AsyncIterator[Page]:
    """A page of that person."""
    page = await visitor.new_page()
    await page.goto("/sign-in")
    await page.get_by_label("Username").fill(guest)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/")
    yield page


async def test_the_second_message_of_a_minute_is_refused_and_kept_and_so_is_a_session_too_many(
    narrow: Page, complaints: list[str]
) -> None:
    await open_session(narrow)
    await finished(await send(narrow, "Hello"))
    await send(narrow, "And now?")
    card = narrow.get_by_role("alert")
    await expect(card).to_contain_text("Messages sent in the last minute: 1. Your limit is 1.")
    await expect(card).to_contain_text(re.compile(r"The next can be sent in \d+ s\."))
    await expect(narrow.get_by_label("Message")).to_have_value("And now?")
    await expect(narrow.locator(".run")).to_have_count(1)
    await narrow.reload()
    await expect(narrow.get_by_label("Message")).to_have_value("And now?")

    await open_session(narrow)
    await narrow.goto("/new")
    await narrow.get_by_role("button", name="Create chat").click()
    await expect(narrow.get_by_role("main")).to_contain_text("Chats: 2. Your limit is 2.")
    await narrow.goto("/")
    await send(narrow, "Something new")
    await expect(narrow.get_by_role("alert")).to_contain_text("Chats: 2. Your limit is 2.")
    await expect(narrow.get_by_label("Message")).to_have_value("Something new")
    assert len(complaints) == 2 and all("429" in complaints.pop() for _ in range(2))


async def test_a_file_over_a_limit_is_told_where_it_was_chosen(narrow: Page, complaints: list[str]) -> None:
    file: FilePayload = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"text"}
    await narrow.goto("/sessions/")
    await narrow.get_by_label("More for the list").click()
    await narrow.get_by_role("button", name="Import a chat").click()
    await narrow.get_by_label("File", exact=True).set_input_files(file)
    await narrow.get_by_role("button", name="Import", exact=True).click()
    await expect(narrow.locator("#import-problem")).to_contain_text("Your limit is")
    assert complaints and all("429" in complaint for complaint in complaints)
    complaints.clear()


async def test_a_page_says_that_its_person_signed_out_in_another_tab_and_keeps_the_draft(
    visitor: BrowserContext, server: Server
) -> None:
    page = await visitor.new_page()
    await sign_in(page, server.new_link())
    await open_session(page)
    await finished(await send(page, "Hello"))
    await page.get_by_label("Message").fill("Half a thought")
    tab = await page.context.new_page()
    await tab.goto(page.url)
    await open_account(tab)
    await tab.get_by_role("button", name="Sign out").click()
    await tab.wait_for_url("**/sign-in*")
    banner = page.locator("p.banner, .talk > .banner").filter(has_text="You were signed out.")
    await expect(banner).to_be_visible()
    await expect(banner.get_by_role("link", name="Sign in")).to_have_attribute(
        "href", re.compile(r"^/sign-in\?next=/s/")
    )
    await send(page, "Half a thought, and more")
    await expect(page.get_by_label("Message")).to_have_value("Half a thought, and more")
    await expect(page.locator(".run")).to_have_count(1)


async def test_a_page_that_is_signed_out_does_not_say_that_it_is_answered(
    visitor: BrowserContext, server: Server
) -> None:
    page = await visitor.new_page()
    await sign_in(page, server.new_link())
    await open_session(page)
    run = await send(page, "/slow /stall 20 please")
    await expect(run.locator(".text")).not_to_be_empty()
    await expect(run.locator(".status")).to_be_visible()
    tab = await visitor.new_page()
    await tab.goto("/")
    await open_account(tab)
    await tab.get_by_role("button", name="Sign out").click()
    await expect(page.locator("p.banner")).to_contain_text("You were signed out.")
    await expect(run.locator(".status")).to_be_hidden()
    await expect(page.locator(".announcer")).to_have_text("")
