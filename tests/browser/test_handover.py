"""The first message of the home page goes to the session that is made for it, and to no other."""

import re

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.test_chat import finished, open_session, send

TEXT = "For a chat of its own"
NEW = "**/new"


async def other_session(page: Page) -> str:
    await open_session(page)
    return page.url


async def hand_over(page: Page, own: str, *, draft: str) -> str:
    """Leaves TEXT to be sent by the page of `own`, as the home page does; the key in the storage."""
    public = own.rstrip("/").rpartition("/")[2]
    await page.evaluate("([key, text]) => sessionStorage.setItem(key, text)", [f"handover:{public}", TEXT])
    await page.evaluate("([key, text]) => localStorage.setItem(key, text)", [f"draft:{public}", draft])
    return f"handover:{public}"


async def serve_as(route: Route, here: str, other: str) -> None:
    """The page as another person would get it."""
    response = await route.fetch()
    await route.fulfill(response=response, body=(await response.text()).replace(here, other))


async def said_nothing(page: Page, address: str) -> None:
    """Opens the session, whose socket answers, and finds it empty."""
    await page.goto(address)
    await finished(await send(page, "Something else"))
    await expect(page.locator(".run .bubble")).to_have_text("Something else")


@pytest.mark.parametrize("trouble", ["line", "sign-in", "cookies"])
async def test_a_message_without_a_session_stays_with_the_person(
    page: Page, complaints: list[str], trouble: str
) -> None:
    other = await other_session(page)
    cookies = await page.context.cookies()
    await page.goto("/")
    if trouble == "line":
        await page.route(NEW, lambda route: route.abort())
    else:
        await page.context.clear_cookies(name="pipeweb_session" if trouble == "sign-in" else None)
    await expect(page.get_by_role("alert")).to_be_hidden()
    await send(page, TEXT)
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("Message")).to_have_value(TEXT)
    complaints.clear()
    await page.unroute(NEW)
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]
    await said_nothing(page, other)
    await page.goto("/")
    await expect(page.get_by_label("Message")).to_have_value(TEXT)
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await finished(page.locator(".run"))
    await expect(page.locator(".run .bubble")).to_have_text(TEXT)
    await page.goto("/")
    await expect(page.get_by_label("Message")).to_have_value("")


@pytest.mark.parametrize("name", ["assistant", "folder"])
async def test_a_choice_that_was_deleted_meanwhile_is_named_and_the_message_kept(
    page: Page, complaints: list[str], name: str
) -> None:
    await page.goto("/")
    await page.locator(f"#start [name={name}]").evaluate("(field) => { field.value = crypto.randomUUID(); }")
    await send(page, TEXT)
    await expect(page.get_by_role("alert")).to_contain_text("has been deleted meanwhile")
    complaints.clear()
    await page.get_by_role("link", name="New chat").click()
    await expect(page.get_by_label("Message")).to_have_value(TEXT)
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    await expect(page.locator(".run .bubble")).to_have_text(TEXT)


async def test_a_message_that_is_on_its_way_waits_for_its_own_session(page: Page) -> None:
    own, other = await other_session(page), await other_session(page)
    key = await hand_over(page, own, draft=TEXT)
    await said_nothing(page, other)
    await page.goto(own)
    await finished(page.locator(".run"))
    await expect(page.locator(".run .bubble")).to_have_text(TEXT)
    assert await page.evaluate("key => sessionStorage.getItem(key)", key) is None


async def test_a_handed_over_draft_that_was_changed_since_is_not_sent(page: Page) -> None:
    own, other = await other_session(page), await other_session(page)
    await hand_over(page, own, draft=f"{TEXT}, with more to")
    await said_nothing(page, other)
    await page.goto(own)
    await expect(page.get_by_label("Message")).to_have_value(f"{TEXT}, with more to")
    await expect(page.locator(".run")).to_have_count(0)


async def test_the_draft_of_the_home_page_is_its_own_persons(page: Page) -> None:
    await page.goto("/")
    await page.get_by_label("Message").fill("Mine")
    await page.reload()
    await expect(page.get_by_label("Message")).to_have_value("Mine")
    person = await page.locator("main.home").get_attribute("data-person")
    assert (
        person and await page.evaluate("key => localStorage.getItem(key)", f"draft:home:{person}") == "Mine"
    )
    await page.route(
        re.compile(r"/$"), lambda route: serve_as(route, f'data-person="{person}"', 'data-person="0"')
    )
    await page.reload()
    await expect(page.get_by_label("Message")).to_have_value("")
    await page.unroute_all()
    await page.reload()
    await expect(page.get_by_label("Message")).to_have_value("Mine")
    await page.get_by_label("Message").fill("")
