"""Text that attacks the page, in a real browser: stored, streamed, and on every page that shows it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from sessions_app.inspector.tabs import TABS
from tests.browser.conftest import collect_complaints, sign_in, switch_view
from tests.browser.hostile_talk import ALL, ASKED, PAYLOADS, SHORT, hostile_export, write_recording
from tests.browser.talks import bring_in
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_panels import unfold
from tests.server import Server

TRAP = """
  window.ran = [];
  for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => window.ran.push(name);
"""
"""What the texts would call is noted instead."""

DANGERS = """() => {
  const harmless = /^(https?:|mailto:|data:image.(png|gif|jpeg|webp);base64,)/;
  const places = ["href", "src", "action", "formaction", "xlink:href", "srcdoc", "data"];
  const isDanger = ({ name, value }) =>
    /^(on|hx-on)/.test(name) || (places.includes(name) && !harmless.test(URL.parse(value, location)?.href));
  const found = [...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(isDanger));
  const ours = '.suggestions[src^="/s/"][sandbox="allow-popups allow-popups-to-escape-sandbox"]';
  found.push(...document.querySelectorAll(`iframe:not(${ours}), object, embed, base`));
  found.push(...document.querySelectorAll("link:not(head *), meta:not(head *)"));
  found.push(...document.querySelectorAll("script:not([src]), style:not(head *)"));
  return [...window.ran, ...found.map((one) => one.outerHTML.slice(0, 300))];
}"""
"""What ran, and what could: handlers, addresses of other kinds, elements that load or embed. The search
suggestions have a frame of ours, in which no script runs."""


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, replay = tmp_path_factory.mktemp("hostile"), tmp_path_factory.mktemp("replay")
    write_recording(replay)
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01", PIPEWEB_REPLAY=str(replay)) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cookies(browser: Browser, hostile_server: Server) -> list[Any]:
    context = await browser.new_context()
    await sign_in(await context.new_page(), hostile_server.link)
    found = await context.cookies()
    await context.close()
    return list(found)


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    browser: Browser, hostile_server: Server, cookies: list[Any], complaints: list[str]
) -> AsyncIterator[Page]:
    """What is dangerous on it, reaches another machine or is complained of fails the test."""
    context = await browser.new_context(base_url=hostile_server.url)
    asked: list[str] = []
    collect_complaints(context, complaints)
    context.on("request", lambda request: asked.append(request.url))
    await context.add_init_script(TRAP)
    await context.add_cookies(cookies)
    page = await context.new_page()
    yield page
    try:
        await assert_harmless(page)
    finally:
        await context.close()
    assert [url for url in asked if not url.startswith((f"{hostile_server.url}/", "data:", "blob:"))] == []
    # The browser complains of each script and image that the frame of search suggestions does not load.
    blocked = ("frame is sandboxed", 'directive: "img-src data:"')
    assert [one for one in complaints if not any(told in one for told in blocked)] == []


async def assert_harmless(page: Page) -> None:
    await expect(page.locator(".htmx-request")).to_have_count(0)
    assert await page.evaluate(DANGERS) == []
    assert len(page.context.pages) == 1


async def open_talk(page: Page) -> None:
    await bring_in(page, hostile_export())


@pytest.mark.parametrize(
    "html",
    ['<b onclick="x()">x</b>', '<a href="javascript:alert(1)">x</a>', "<base href=/>", "<iframe></iframe>"],
)
async def test_the_watch_sees_what_is_dangerous(page: Page, complaints: list[str], html: str) -> None:
    await page.goto("/")
    await page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", html)
    assert len(await page.evaluate(DANGERS)) == 1
    await page.goto("/")
    complaints.clear()


async def test_a_stored_conversation_is_text(page: Page) -> None:
    await open_talk(page)
    await expect(page.get_by_role("heading", level=1)).to_have_text(SHORT)
    await page.get_by_role("link", name="Show earlier messages").click()
    await expect(page.locator(".run")).to_have_count(len(PAYLOADS))
    await assert_harmless(page)
    for thought in await page.locator(".activity > summary").all():
        await thought.click()
    await assert_harmless(page)
    await switch_view(page, "Inspect")
    await page.get_by_role("button", name="Context", exact=True).click()
    await expect(page.locator("#panel-todos")).to_be_visible()
    for key in ("todos", "scratchpad", "logs", "artifacts", "file_references"):
        await expect(await unfold(page, key)).to_contain_text("alert(1)")


async def test_lists_searches_and_the_palette_show_text(page: Page) -> None:
    await open_talk(page)
    for address in ("/", "/sessions/?q=onerror", "/sessions/?q=%3Cscript%3Ealert(1)", "/spending/"):
        await page.goto(address)
        await expect(page.get_by_role("main")).to_be_visible()
        await assert_harmless(page)
    await page.goto("/")
    await page.keyboard.press("Control+k")
    await page.keyboard.type("onerror")
    await expect(page.locator("dialog[open]")).to_contain_text("onerror")


async def test_a_streamed_answer_is_text_while_it_comes_and_afterwards(page: Page) -> None:
    await open_talk(page)
    talk = page.url
    run = await send(page, ASKED)
    await expect(run.locator(".text")).not_to_be_empty()
    while await run.get_attribute("aria-busy"):
        await assert_harmless(page)
    await finished(run)
    await assert_harmless(page)
    await page.reload()
    await expect(run.locator(".text").first).to_contain_text("alert(1)")
    await expect(run.locator(".tool .function").first).to_contain_text(SHORT)
    await assert_harmless(page)
    for part in ("", "1/?view=raw", *(f"1/?tab={tab.id}" for tab in TABS), "1/?tab=layers&view=raw"):
        await page.goto(f"{talk}inspect/{part}")
        await expect(page.get_by_role("main")).to_be_visible()
        await assert_harmless(page)


async def test_names_of_people_and_of_the_library_are_text(page: Page) -> None:
    await page.goto("/admin/auth/user/add/")
    await page.get_by_label("Username:").fill(SHORT)
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator(".errorlist").first).to_be_visible()
    await assert_harmless(page)
    await page.goto("/admin/auth/user/")
    await page.get_by_role("link", name="owner", exact=True).click()
    await page.get_by_label("First name:").fill(SHORT)
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.locator("#user-tools")).to_contain_text(SHORT)
    await assert_harmless(page)
    for kind in ("command", "role", "skill"):
        await page.goto("/admin/sessions_app/prompttext/add/")
        await page.get_by_label("Kind:").select_option(kind)
        await page.get_by_label("Name:").fill(SHORT)
        await page.get_by_label("Body:").fill(ALL)
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.locator("#result_list")).to_contain_text(SHORT)
        await assert_harmless(page)
    await open_session(page)
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.get_by_role("dialog", name="Chat settings")).to_contain_text(SHORT)
    await page.keyboard.press("Escape")
    await page.get_by_label("Message", exact=True).press_sequentially("/img")
