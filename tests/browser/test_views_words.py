"""No word of a prompt's anatomy stands in the simple view; each is explained where it stands in the other."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from sessions_app.wording.terms import EXPLANATIONS
from tests.browser.conftest import choose_view, switch_view
from tests.browser.test_chat import finished, open_session, send
from tests.server import Server

WORDS = re.compile(
    r"\b(static layer|dynamic|buffered|buffer|triggers?|detach(ed|es)?|exchanges?|panels?|ribbons?"
    r"|(thought )?signatures?|prefix(es)?)\b",
    re.IGNORECASE,
)

PLAIN = re.compile(rf"{WORDS.pattern}|\b(sessions?|static|payloads?)\b", re.IGNORECASE)
"""What the simple view says in other words besides."""

CONTENT = (
    ".prose, .bubble, .tool .inside pre, .tool .brief, .tool .name, h1, .entry, .preview, #panels .value"
)
"""What people, models and tools wrote."""

SAID = """(content) => {
    const said = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walk.currentNode; node; node = walk.nextNode()) {
        const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        if (!element.checkVisibility({ visibilityProperty: true }) || element.closest(content)) continue;
        if (["SCRIPT", "STYLE", "TEMPLATE"].includes(element.tagName)) continue;
        if (node === element) {
            for (const name of ["aria-label", "title", "placeholder", "alt"]) {
                if (element.hasAttribute(name)) said.push(element.getAttribute(name));
            }
        } else if (node.textContent.trim()) said.push(node.textContent.trim());
    }
    return said;
}"""
"""Every visible text, and every attribute that is read, of visible elements."""

UNEXPLAINED = """([pattern, content]) => {
    const words = new RegExp(pattern, "i");
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const element = walk.currentNode.parentElement;
        const text = walk.currentNode.textContent.trim();
        if (!words.test(text) || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (element.closest(`${content}, .term, .term-list, .term-card, .layers-picture`)) continue;
        const place = element.closest(".card, .remarks, .ribbon-words, .panels-sum, .mark");
        if (!place?.querySelector(".term-list, .term, small")) found.push(text);
    }
    return found;
}"""

PAGES = [
    "/",
    "/sessions/",
    "/sessions/?archive",
    "/sessions/?q=nowhereatall",
    "/new",
    "/key",
    "/links/",
    "/spending/",
    "/sign-in",
    "/assistants/",
    "/assistants/new/",
]


async def unfold_settings(page: Page) -> None:
    await page.get_by_role("button", name="Chat settings").click()
    await expect(page.locator("#settings [role=tab]")).to_have_count(5)
    show = "(panels) => panels.forEach((panel) => { panel.hidden = false; })"
    await page.locator("#settings [role=tabpanel]").evaluate_all(show)


async def unfold_activity(page: Page) -> None:
    for fold in await page.locator(".run .activity > summary").all():
        await fold.click()
    for fold in await page.locator(".run .activity .fold > summary").all():
        await fold.click()


async def open_of_chat(page: Page, name: str) -> None:
    await page.get_by_label("More for this chat").click()
    await page.locator(".menu[open]").get_by_text(name).click()


async def open_of_account(page: Page) -> None:
    await page.locator(".account-menu > summary").click()


async def open_of_row(page: Page) -> None:
    await page.locator(".side li").first.hover()
    await page.locator(".side li .menu > summary").first.click()


async def open_plus(page: Page, name: str = "") -> None:
    await page.get_by_label("Add files and more").click()
    if name:
        await page.get_by_role("button", name=name).click()


async def open_of_answer(page: Page, name: str) -> None:
    await page.get_by_label("More for this answer").last.click()
    await page.get_by_role("button", name=name).last.click()


PLACES: dict[str, Callable[[Page], Awaitable[Any]]] = {
    "nothing": lambda page: page.locator(".run").last.hover(),
    "settings": lambda page: page.get_by_role("button", name="Chat settings").click(),
    "settings unfolded": unfold_settings,
    "models": lambda page: page.locator(".topbar .picks").click(),
    "another model": lambda page: open_of_answer(page, "Answer again with"),
    "menu of an answer": lambda page: page.get_by_label("More for this answer").last.click(),
    "menu of the chat": lambda page: page.get_by_label("More for this chat").click(),
    "rename": lambda page: open_of_chat(page, "Rename"),
    "share": lambda page: open_of_chat(page, "Share…"),
    "folders": lambda page: open_of_chat(page, "Move to folder…"),
    "new folder": lambda page: page.get_by_role("button", name="New folder").click(),
    "menu in the sidebar": open_of_row,
    "menu of the account": open_of_account,
    "what can be added": open_plus,
    "web page": lambda page: open_plus(page, "Web page…"),
    "card": lambda page: page.locator(".run").last.locator(".usage, .sum").locator("visible=true").click(),
    "activity": unfold_activity,
    "correction": lambda page: open_of_answer(page, "Edit this answer"),
    "summary": lambda page: open_of_answer(page, "Shorten this answer"),
    "compression": lambda page: open_of_answer(page, "Compress everything before"),
    "deletion": lambda page: open_of_answer(page, "Delete this turn"),
    "palette": lambda page: page.keyboard.press("Control+k"),
    "shortcuts": lambda page: page.keyboard.press("Control+/"),
}


async def said_on(page: Page) -> list[str]:
    await expect(page.locator(".htmx-request")).to_have_count(0)
    said: list[str] = await page.evaluate(SAID, CONTENT)
    assert said
    return said


def anatomy(said: list[str]) -> list[str]:
    return [text for text in said if PLAIN.search(text)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def talk(browser: Browser, server: Server, signed_in_cookies: list[Any]) -> AsyncIterator[str]:
    """A conversation with thoughts, tools, an answer in a person's words, a resend and a failure."""
    context = await browser.new_context(base_url=server.url)
    await context.add_cookies(signed_in_cookies)
    page = await context.new_page()
    await open_session(page)
    for text in ("/think weather in Paris and London", "Hello", "/corrupted And now?", "/safety", "And you?"):
        await finished(await send(page, text))
    await open_of_answer(page, "Edit this answer")
    await page.locator(".rewording textarea").fill("In other words.")
    await page.locator(".rewording .primary").click()
    await expect(page.get_by_text("In your words.")).to_be_visible()
    yield page.url.partition("?")[0]
    await context.close()


@pytest.mark.parametrize("name", PLACES)
async def test_a_conversation_has_no_word_of_anatomy_in_the_simple_view(
    page: Page, talk: str, name: str
) -> None:
    await page.goto(talk)
    await PLACES[name](page)
    assert anatomy(await said_on(page)) == []


@pytest.mark.parametrize("address", PAGES)
async def test_a_page_has_no_word_of_anatomy_in_the_simple_view(page: Page, address: str) -> None:
    await page.goto(address)
    assert anatomy(await said_on(page)) == []


async def test_a_page_that_is_not_there_has_no_word_of_anatomy(page: Page, complaints: list[str]) -> None:
    await page.goto("/nowhere/at/all")
    assert anatomy(await said_on(page)) == []
    complaints.clear()


async def test_the_import_has_no_word_of_anatomy(page: Page) -> None:
    await page.goto("/sessions/#import")
    await expect(page.get_by_role("dialog", name="Import a chat")).to_be_visible()
    assert anatomy(await said_on(page)) == []


async def test_an_empty_conversation_has_no_word_of_anatomy_in_the_simple_view(page: Page) -> None:
    await open_session(page)
    assert anatomy(await said_on(page)) == []


async def test_the_walk_sees_words_in_texts_and_attributes(page: Page, talk: str) -> None:
    await page.goto(talk)
    add = "(html) => document.querySelector('.transcript').insertAdjacentHTML('beforeend', html)"
    for html in (
        "<p>static layer</p>",
        "<p>A new session</p>",
        '<i title="A panel">x</i>',
        '<input placeholder="Trigger">',
    ):
        await page.evaluate(add, html)
    await page.evaluate(add, "<p hidden>exchange</p>")
    assert anatomy(await said_on(page)) == ["static layer", "A new session", "A panel", "Trigger"]


@pytest_asyncio.fixture(loop_scope="session")
async def inspected(page: Page, talk: str) -> AsyncIterator[Page]:
    """The conversation in the inspecting view, with the drawer that says what the model reads."""
    await choose_view(page, "Inspect")
    await page.goto(talk)
    await page.get_by_role("button", name="Context", exact=True).click()
    await expect(page.locator("#panels-sum")).to_be_visible()
    yield page
    await choose_view(page, "Simple")


async def unexplained(page: Page) -> list[str]:
    found: list[str] = await page.evaluate(UNEXPLAINED, [WORDS.pattern, CONTENT])
    return found


async def test_the_inspecting_view_explains_each_word_where_it_stands(inspected: Page) -> None:
    page = inspected
    assert await unexplained(page) == []
    await page.locator(".mark .term").click()
    await expect(page.locator("#term-signature")).to_have_text(EXPLANATIONS["signature"])
    await page.keyboard.press("Escape")
    await PLACES["card"](page)
    card = page.locator(".card:popover-open")
    await expect(card).to_contain_text("exchange")
    assert await unexplained(page) == []
    await card.get_by_text("What the words mean").click()
    await expect(card).to_contain_text(EXPLANATIONS["exchange"])


async def test_the_walk_sees_a_word_that_nothing_explains(inspected: Page) -> None:
    add = "(html) => document.querySelector('.transcript').insertAdjacentHTML('beforeend', html)"
    await inspected.evaluate(add, "<p>The prefix</p>")
    assert await unexplained(inspected) == ["The prefix"]


async def test_the_drawer_goes_with_the_inspecting_view(inspected: Page) -> None:
    page = inspected
    await switch_view(page, "Simple")
    await expect(page.locator("#details")).to_be_hidden()
    await expect(page.locator(".frame")).not_to_have_attribute("data-open", "details")
    assert anatomy(await said_on(page)) == []
