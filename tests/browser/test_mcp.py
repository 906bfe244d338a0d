"""A server of tools, entered by an administrator and switched on in a chat: its person is asked first."""

import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.lines import Line
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_panels import unfold
from tests.mcp.entering import HOSTILE
from tests.server import Server

ECHO = 'call test__echo {"text": "good morning"}'


@pytest.fixture(scope="module")
def mcp_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("mcp")
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01", PIPEWEB_MCP_COMMANDS=sys.executable) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def chat(mcp_server: Server, at_server: Callable[[Server], Awaitable[Page]]) -> Page:
    """A new chat whose server is entered and switched on as people do it."""
    page = await at_server(mcp_server)
    await page.goto("/admin/sessions_app/mcpserver/")
    if not await page.get_by_role("link", name="Test server").count():
        await enter(page)
    await open_session(page)
    await page.locator("html").evaluate("(html) => { html.dataset.view = 'inspect'; }")
    await page.get_by_role("button", name="Context", exact=True).click()
    tools = await unfold(page, "offers")
    await tools.get_by_label("Echo", exact=True).check()
    await expect(tools.get_by_role("heading", name="Test server")).to_contain_text("1 of 2 on")
    return page


async def enter(page: Page) -> None:
    await page.goto("/admin/sessions_app/mcpserver/add/")
    await page.get_by_label("Name:").fill("test")
    await page.get_by_label("Title:").fill("Test server")
    await page.get_by_label("Command:").select_option(sys.executable)
    await page.get_by_label("Arguments:").fill(f"{HOSTILE}\nplain")
    await page.get_by_label("For everybody").check()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("Test server: 2 tools.")).to_be_visible()


async def asked(page: Page) -> tuple[Locator, Locator]:
    """The run that waits, and its card."""
    run = await send(page, ECHO)
    card = run.locator(".ask")
    await expect(card).to_contain_text("Allow “Echo” of Test server?")
    await expect(card).to_have_accessible_name("Allow “Echo” of Test server?")
    await expect(card.locator(".args")).to_contain_text("good morning")
    return run, card


async def test_an_allowed_call_is_made_and_its_result_shown(chat: Page) -> None:
    run, card = await asked(chat)
    await assert_accessible(chat)
    await card.get_by_role("button", name="Allow once").click()
    await finished(run)
    await expect(run.locator(".ask")).to_have_count(0)
    await expect(run.locator("details.tool .response").first).to_contain_text("good morning")
    await chat.reload()
    await expect(chat.locator(".ask [data-choice]")).to_have_count(0)
    card = chat.locator("details.tool", has_text="Echo").first
    await expect(card.locator(".decision")).to_have_text("Allowed")
    await expect(card.locator(".state")).to_have_text("done")


async def test_a_question_is_announced_and_nobody_is_told_meanwhile_of_an_answer(chat: Page) -> None:
    run, _ = await asked(chat)
    told = chat.locator(".announcer")
    await expect(told).to_have_text("Waiting for you. Allow “Echo” of Test server?")
    await chat.clock.install()
    await chat.reload()
    await expect(told).to_have_text("Waiting for you. Allow “Echo” of Test server?")
    await chat.clock.fast_forward(60_000)
    await expect(told).to_have_text("Waiting for you. Allow “Echo” of Test server?")
    await run.locator(".ask").get_by_role("button", name="Refuse").click()
    await finished(run)
    await expect(told).to_contain_text("Answer finished")


async def test_a_reload_finds_the_question_again_and_a_refusal_is_told(chat: Page) -> None:
    await asked(chat)
    await chat.reload()
    run = chat.locator(".run").last
    await run.locator(".ask").get_by_role("button", name="Refuse").click()
    await finished(run)
    await expect(run.locator("details.tool .response").first).to_contain_text("The user refused this call.")


async def test_an_answer_that_was_given_without_a_line_goes_out_with_the_next_one(chat: Page) -> None:
    line = Line()
    await line.lay(chat)
    await chat.reload()
    run, card = await asked(chat)
    await line.cut()
    await expect(chat.locator("p.banner")).to_contain_text("Reconnecting")
    await card.get_by_role("button", name="Refuse").press("Enter")
    await expect(card).to_be_focused()
    line.is_cut = False
    await finished(run)
    await expect(run.locator("details.tool .response").first).to_contain_text("The user refused this call.")


def expired(database: Path) -> int:
    """How many asks ran out by this."""
    with closing(sqlite3.connect(database, timeout=20)) as rows, rows:
        late = "UPDATE sessions_app_toolcall SET expires_at = asked_at"
        return rows.execute(f"{late} WHERE decision = '' AND expires_at > asked_at").rowcount


async def test_a_question_that_nobody_answers_in_time_is_refused(chat: Page, mcp_server: Server) -> None:
    run, _ = await asked(chat)
    # The card is shown before the run lets go of its process and its row says until when it waits.
    while not expired(mcp_server.folder / "pipeweb.sqlite3"):
        await chat.wait_for_timeout(100)
    await finished(run)
    card = run.locator("details.tool").first
    await expect(card.locator(".response")).to_contain_text("Nobody allowed this call in time")
    await chat.reload()
    card = chat.locator(".run").last.locator("details.tool").first
    await expect(card.locator(".decision")).to_have_text("Nobody answered in time: refused")


async def test_always_in_this_chat_asks_once_until_the_tool_is_switched_off(chat: Page) -> None:
    run, card = await asked(chat)
    await card.get_by_role("button", name="Always in this chat").click()
    await finished(run)
    again = await send(chat, ECHO)
    await finished(again)
    await expect(again.locator(".ask")).to_have_count(0)
    await expect(again.locator("details.tool .response").first).to_contain_text("good morning")
    tool = chat.locator("#body-offers .entry", has=chat.get_by_label("Echo", exact=True))
    await expect(tool).to_contain_text("Runs without asking in this chat")
    await assert_accessible(chat)
    await tool.get_by_role("checkbox").uncheck()
    await expect(tool).not_to_contain_text("Runs without asking")
    await tool.get_by_role("checkbox").check()
    await expect(chat.locator("#panels-said")).to_have_text("Echo is on.")
    run, card = await asked(chat)
    await card.get_by_role("button", name="Refuse").click()
    await finished(run)


async def test_a_run_that_waits_is_stopped(chat: Page) -> None:
    run, _ = await asked(chat)
    await chat.get_by_role("button", name="Stop").click()
    await finished(run)
    await expect(run.get_by_role("button", name="Allow once")).to_have_count(0)
