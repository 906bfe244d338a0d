"""Every page, in both views and schemes: no rule of accessibility is broken, nothing scrolls sideways.

A page is a template that extends the frame; `test_every_page_is_looked_at` fails where one is missing here.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from django.template.loader import render_to_string
from playwright.async_api import Browser, Page, Route, expect

from tests.browser.access import assert_accessible
from tests.browser.conftest import choose_view
from tests.browser.test_capture import FIRST, ask, make_address
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow
from tests.browser.test_endings import refused
from tests.browser.test_sharing import make_link, share
from tests.conftest import ROOT
from tests.server import Server

PLAIN = {
    "accounts/readings.html": "/account/readings/",
    "capture/page.html": "/capture/",
    "chat/assistant.html": "/assistants/new/",
    "chat/assistants.html": "/assistants/",
    "chat/home.html": "/",
    "chat/key.html": "/key",
    "chat/money.html": "/spending/",
    "chat/new.html": "/new",
    "chat/own_data.html": "/account/data/",
    "chat/sessions.html": "/sessions/",
    "sharing/links.html": "/links/",
}
OF_A_CHAT = {
    "chat/arguments.html": "arguments/",
    "chat/session.html": "",
    "inspector/exchange.html": "inspect/1/",
    "inspector/exchanges.html": "inspect/",
    "inspector/savings.html": "inspect/savings/",
    "inspector/signatures.html": "inspect/signatures/",
}
OF_A_TEAM = {
    "account/signup_closed.html",
    "accounts/provider.html",
    "accounts/recovery_codes.html",
    "accounts/second_factor.html",
    "accounts/security.html",
    "accounts/step.html",
}
"""Looked at in `test_team.py`."""

OF_A_STATE = {
    "capture/regroup.html",
    "capture/request.html",
    "chat/captured.html",
    "chat/foreign.html",
    "inspector/refused.html",
    "registration/link.html",
    "registration/sign_in.html",
    "sharing/page.html",
}
"""Reached by doing something first."""

ERRORS = {
    "400.html",
    "403.html",
    "403_csrf.html",
    "404.html",
    "429.html",
    "500.html",
    "503.html",
    "507.html",
    "error_page.html",
    "registration/dead_link.html",
    "sharing/busy.html",
    "unreadable_form.html",
}
"""Shown here without the fault that they tell of."""

WORDS = {
    "sentence": "You may send 30 messages a minute.",
    "hint": "Wait a minute.",
    "message": "The disk is full",
}
LONG_WORD = "Donaudampfschifffahrtsgesellschaft" * 3
"""In the message and so in the title of the chat: no page may grow with it."""

PHONE, DESK = 390, 1440
WIDTHS = (320, PHONE, 768, 860, 1200, DESK)
"""The first is that of WCAG 1.4.10 (Reflow). From 833 on the sidebar stands beside the page, which then has
less room than at 768.
"""
EXTENDS = re.compile(r'{% extends "([\w/]+\.html)" %}')


def frames() -> set[str]:
    """The templates that extend the frame of all pages, or another that does."""
    found = {"base.html", "sharing/frame.html"}
    parents = {path: EXTENDS.match(path.read_text()) for path in (ROOT / "templates").rglob("*.html")}
    for _ in range(2):
        found |= {name_of(path) for path, parent in parents.items() if parent and parent[1] in found}
    return found - {"base.html", "sharing/frame.html"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT / "templates"))


async def test_every_page_is_looked_at() -> None:
    assert frames() == {*PLAIN, *OF_A_CHAT} | OF_A_STATE | OF_A_TEAM | ERRORS


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def chat(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> AsyncIterator[str]:
    """The address of a conversation with thoughts and tools."""
    context = await browser.new_context(base_url=server.url)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await open_session(page)
    await finished(await send(page, f"/think {LONG_WORD} weather in Paris and London"))
    yield page.url
    await context.close()


@pytest_asyncio.fixture(loop_scope="session", params=["Simple", "Inspect"])
async def viewing(page: Page, request: pytest.FixtureRequest) -> AsyncIterator[Page]:
    await choose_view(page, request.param)
    yield page
    await choose_view(page, "Simple")


async def assert_fits_and_is_accessible(page: Page) -> None:
    """The width at each size, the rules at one: the inspecting view at a desk, all else on a phone."""
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 900})
        assert await overflow(page) <= 0, width
        is_inspecting = await page.locator("html").get_attribute("data-view") == "inspect"
        if width == (DESK if is_inspecting else PHONE):
            await assert_accessible(page)


@pytest.mark.parametrize("template", sorted(PLAIN))
async def test_a_plain_page(viewing: Page, template: str) -> None:
    await viewing.goto(PLAIN[template])
    await assert_fits_and_is_accessible(viewing)


@pytest.mark.parametrize("template", sorted(OF_A_CHAT))
async def test_a_page_of_a_chat(viewing: Page, chat: str, template: str) -> None:
    await viewing.goto(chat + OF_A_CHAT[template])
    await assert_fits_and_is_accessible(viewing)


async def test_a_message_that_was_refused(page: Page) -> None:
    run = await refused(page)
    await page.goto(f"{page.url}inspect/refused/{await run.get_attribute('data-run')}/")
    await assert_fits_and_is_accessible(page)


async def test_a_captured_request(page: Page) -> None:
    base = await make_address(page, "every page")
    assert await ask(base, FIRST, Origin="http://a.example") == 403
    await page.get_by_role("link", name="POST /v1beta/models").first.click()
    await expect(page.get_by_text("Requests of web pages are not relayed")).to_be_visible()
    await assert_fits_and_is_accessible(page)


async def test_a_captured_session(viewing: Page) -> None:
    base = await make_address(viewing, "every page")
    assert await ask(base, FIRST, **{"X-Pipeweb-Session": "looked at"}) == 200
    session = viewing.locator(".captured-session", has_text="looked at").first
    await session.get_by_role("link", name="looked at", exact=True).click()
    chat = viewing.url
    for path in ("", "inspect/", "inspect/1/", "inspect/signatures/", "inspect/savings/"):
        await viewing.goto(chat + path)
        await assert_fits_and_is_accessible(viewing)
    await viewing.goto("/capture/")
    await assert_fits_and_is_accessible(viewing)
    await session.get_by_role("link", name="Join or split").click()
    await assert_fits_and_is_accessible(viewing)


async def test_a_shared_chat(page: Page, chat: str) -> None:
    await page.goto(chat)
    await share(page)
    await page.goto(await make_link(page))
    await assert_fits_and_is_accessible(page)


async def test_the_page_of_a_sign_in_link(browser: Browser, server: Server) -> None:
    visitor = await browser.new_page(base_url=server.url)
    for address in ("/sign-in", server.new_link()):
        await visitor.goto(address)
        await assert_fits_and_is_accessible(visitor)
    await visitor.close()


@pytest.mark.parametrize("template", sorted(ERRORS - {"error_page.html"}))
async def test_a_page_of_an_error(page: Page, template: str) -> None:
    body = render_to_string(template, WORDS)

    async def answer(route: Route) -> None:
        await route.fulfill(body=body, content_type="text/html")

    await page.route("**/fault", answer)
    await page.goto("/fault")
    await assert_fits_and_is_accessible(page)
