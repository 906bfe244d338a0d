"""The admin of a team in a real browser: a second factor first, then sessions of somebody else."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import collect_complaints
from tests.browser.test_team import PASSWORD, confirm
from tests.server import Server, manage
from tests.team.people import earlier_code_of

PEOPLE = f"""
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from sessions_app.models import Session
secret = make_password({PASSWORD!r})
User.objects.create(username="eve", password=secret, is_staff=True, is_superuser=True)
ben = User.objects.create(username="ben", password=secret)
for _ in range(2): Session.objects.create(owner=ben, model="gemini-3-flash-preview")
"""
LIST = "/admin/sessions_app/session/?q=ben"


@pytest.fixture(scope="module")
def staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("staffed")
    variables = {"PIPEWEB_ACCOUNTS": "team", "PIPEWEB_SECOND_FACTOR": "staff"}
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01", **variables) as server:
        made = manage(folder, "shell", "--no-imports", "-c", PEOPLE, **variables)
        assert made.returncode == 0, made.stderr
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def eve(browser: Browser, staffed: Server) -> AsyncIterator[Page]:
    """A member of staff who has turned on the second step, for which the first page asked."""
    complaints: list[str] = []
    context = await browser.new_context(base_url=staffed.url)
    collect_complaints(context, complaints)
    page = await context.new_page()
    await page.goto("/sign-in")
    await page.get_by_label("Username").fill("eve")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()
    await page.wait_for_url("**/account/security/")
    await page.goto("/admin/")
    await page.wait_for_url("**/account/security/")
    await page.get_by_role("link", name="Turn on…").click()
    if await page.get_by_role("button", name="Go on").count():
        await confirm(page)
    await page.get_by_text("It cannot scan?").click()
    secret = (await page.locator(".secret").inner_text()).replace(" ", "")
    await page.get_by_label("Type the six digits").fill(earlier_code_of(secret))
    await page.get_by_role("button", name="Turn it on").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    yield page
    await context.close()
    assert complaints == []


async def act(page: Page, action: str, query: str = "") -> None:
    """Chooses the first session of the list for an action, whose page asks first."""
    await page.goto(f"{LIST}{query}")
    await page.locator("#result_list input.action-select").first.check()
    await page.get_by_label("Action:").select_option(label=action)
    await page.get_by_role("button", name="Go").click()
    await expect(page.locator("#content")).to_contain_text(
        "1 session" if "Erase" not in action else "Sessions: 1"
    )


async def carry_out(page: Page, action: str, query: str = "") -> None:
    await act(page, action, query)
    await page.get_by_role("button", name=action).click()
    await expect(page.locator(".messagelist")).to_be_visible()


async def test_the_admin_opens_after_the_second_step_is_turned_on(eve: Page) -> None:
    await eve.goto(LIST)
    await expect(eve.locator("#result_list tbody tr")).to_have_count(2)


async def test_a_session_is_archived_and_its_payloads_purged_after_a_page_that_asks(eve: Page) -> None:
    archived = "&archived_at__isempty=0"
    await act(eve, "Archive selected sessions")
    await eve.get_by_role("link", name="No, take me back").click()
    await eve.goto(LIST + archived)
    await expect(eve.locator("#result_list")).to_have_count(0)
    await carry_out(eve, "Archive selected sessions")
    await eve.goto(LIST + archived)
    await expect(eve.locator("#result_list tbody tr")).to_have_count(1)
    await carry_out(eve, "Purge the payloads of selected sessions", archived)


async def test_content_is_exported_for_a_reason_only(eve: Page) -> None:
    action = "Export the content of selected sessions"
    await act(eve, action)
    await eve.get_by_label("Why do you have to read this?").fill("Ticket 7: an answer was cut")
    await eve.get_by_role("button", name=action).click()
    async with eve.expect_download() as download:
        await eve.get_by_role("link", name=".json").click()
    assert (await (await download.value).path()).stat().st_size > 0
    await eve.goto("/admin/sessions_app/auditentry/")
    await expect(eve.locator("#result_list")).to_contain_text("Ticket 7: an answer was cut")


async def test_a_session_is_erased(eve: Page) -> None:
    await act(eve, "Erase selected sessions, with everything in them")
    await eve.get_by_role("button", name="Yes, I’m sure").click()
    await expect(eve.locator(".messagelist")).to_be_visible()
    await eve.goto(LIST)
    await expect(eve.locator("#result_list tbody tr")).to_have_count(1)
