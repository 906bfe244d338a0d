"""From a failing run to its error and to what was said: with a reason, for a while, before the person."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.server import Server, manage

PASSWORD = "looking-glass-7"
REASON = "Ticket 12: an answer of yours broke off"
PEOPLE = f"""
from django.contrib.auth.models import Permission, User
User.objects.create_user("watched", password="{PASSWORD}")
viewer = User.objects.create_user("viewer", password="{PASSWORD}", is_staff=True)
viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
person = User.objects.create_user("reader", password="{PASSWORD}", is_staff=True)
names = ("view_session", "view_run", "view_exchange", "read_content")
person.user_permissions.set(Permission.objects.filter(codename__in=names))
"""
EXPIRE = """
from django.utils import timezone
from sessions_app.models import ContentGrant
ContentGrant.objects.update(expires_at=timezone.now())
"""
SECRET = "the gooseberries are ripe"


@pytest.fixture(scope="session")
def people(server: Server) -> None:
    done = manage(server.folder, "shell", "-v", "0", "-c", PEOPLE)
    assert done.returncode == 0, done.stderr


async def signed_in(context: BrowserContext, name: str) -> Page:
    page = await context.new_page()
    await page.goto("/sign-in")
    await page.get_by_label("Username").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/")
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def watched(people: None, new_context: Callable[..., Any]) -> AsyncIterator[Page]:
    yield await signed_in(await new_context(), "watched")


@pytest_asyncio.fixture(loop_scope="session")
async def reader(people: None, new_context: Callable[..., Any]) -> AsyncIterator[Page]:
    yield await signed_in(await new_context(), "reader")


@pytest_asyncio.fixture(loop_scope="session")
async def viewer(people: None, new_context: Callable[..., Any]) -> AsyncIterator[Page]:
    yield await signed_in(await new_context(), "viewer")


async def test_from_a_failing_run_to_its_content_and_the_person_sees_who_read_it(
    watched: Page, reader: Page, server: Server
) -> None:
    await open_session(watched)
    await finished(await send(watched, SECRET))
    await finished(await send(watched, "/error 403"))
    chat = watched.url
    assert (answer := await reader.goto(chat)) and answer.status == 404

    await reader.goto("/admin/")
    await (
        reader.locator("section[aria-labelledby=overview-failures]")
        .get_by_role("link", name="BadKey")
        .click()
    )
    await reader.locator("#result_list tbody th a").first.click()
    await reader.locator(".field-exchange_links a").last.click()
    await expect(reader.get_by_text("BadKey 403")).to_be_visible()
    assert SECRET not in await reader.content()

    await reader.get_by_role("link", name="Read the content").click()
    await reader.get_by_label("Why do you have to read this?").fill("short")
    await reader.get_by_role("button", name="Read").click()
    await expect(reader.get_by_label("Why do you have to read this?")).to_be_visible()
    await reader.get_by_label("Why do you have to read this?").fill(REASON)
    await reader.get_by_role("button", name="Read").click()
    await expect(reader).to_have_url(f"{chat.rstrip('/')}/inspect/2/")
    await expect(reader.get_by_role("note")).to_contain_text(REASON)
    await reader.goto(chat)
    await expect(reader.locator(".bubble").first).to_have_text(SECRET)
    await expect(reader.get_by_label("Message", exact=True)).to_have_count(0)

    await watched.goto("/account/readings/")
    rows = watched.locator(".readings tbody tr")
    await expect(rows.filter(has_text="opened content")).to_contain_text(["reader"])
    await expect(rows.filter(has_text=REASON)).not_to_have_count(0)
    await expect(rows.filter(has_text="page: exchange 2")).to_have_count(1)
    await expect(rows.get_by_role("link").first).to_have_attribute("href", chat.removeprefix(server.url))

    done = manage(server.folder, "shell", "-v", "0", "-c", EXPIRE)
    assert done.returncode == 0, done.stderr
    assert (answer := await reader.goto(chat)) and answer.status == 404


async def test_who_may_only_view_is_offered_no_way_to_content(watched: Page, viewer: Page) -> None:
    await open_session(watched)
    await finished(await send(watched, SECRET))
    public = watched.url.rstrip("/").rsplit("/", 1)[1]
    await viewer.goto(f"/admin/sessions_app/session/?q={public[:8]}")
    await viewer.get_by_role("link", name=public[:8]).click()
    await expect(viewer.locator(".field-model .readonly")).to_be_visible()
    await expect(viewer.get_by_role("link", name="Read the content")).to_have_count(0)
    for place in (viewer.url.replace("/change/", "/read/"), watched.url):
        answer = await viewer.goto(place)
        assert answer is not None and answer.status in (403, 404)
        assert SECRET not in await viewer.content()
