"""Going on with a run whose tools had run, in a real browser."""

import sqlite3
from contextlib import closing
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_restart import opened
from tests.server import Server


async def todo_count(page: Page) -> int:
    await finished(await send(page, "list my todos"))
    card = page.locator(".run").last.locator(".tool .response").last
    return (await card.text_content() or "").count('"position"')


async def failed_after_a_tool(page: Page, what: str) -> Locator:
    """`what` differs in every test: the emulator fails once for each text."""
    await open_session(page)
    run = await send(page, f"Add a todo: {what} /error 400 later once")
    await finished(run)
    await expect(run.get_by_role("alert")).to_contain_text("invalid argument")
    return page.locator(".run")


async def test_continue_after_a_failed_second_step_adds_no_second_todo(page: Page) -> None:
    run = await failed_after_a_tool(page, "milk")
    await expect(run.locator(".tool .state")).to_have_text("done")
    await run.get_by_role("button", name="Continue").click()
    await expect(run.locator(".step .text")).not_to_be_empty()
    await finished(run)
    await expect(page.get_by_role("alert")).to_have_count(0)
    await expect(run).to_have_count(1)
    await expect(run.locator(".tool")).to_have_count(1)
    assert await todo_count(page) == 1


async def test_a_reload_offers_the_same_and_from_the_start_says_that_tools_run_again(page: Page) -> None:
    await failed_after_a_tool(page, "rye")
    await page.reload()
    run = page.locator(".run")
    await expect(run.get_by_role("button", name="Continue")).to_be_visible()
    await run.get_by_role("button", name="From the start (tools run again)").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await finished(page.locator(".run").last)
    assert await todo_count(page) == 2


async def test_a_message_instead_leaves_a_labelled_turn(page: Page) -> None:
    run = await failed_after_a_tool(page, "salt")
    await finished(await send(page, "Hello"))
    await page.reload()
    await expect(run.first.locator(".step .mark")).to_contain_text("Written by Pipeweb")
    await expect(run.first.get_by_role("button", name="Continue")).to_have_count(0)
    await expect(run.last.locator(".text")).not_to_be_empty()


def lose_results(folder: Path) -> None:
    """As if the process had been killed between a call's beginning and its end."""
    with closing(sqlite3.connect(folder / "pipeweb.sqlite3")) as database, database:
        database.execute("UPDATE sessions_app_toolcall SET ended_at = NULL")


async def test_of_an_unknown_call_the_person_decides(tmp_path: Path, browser: Browser) -> None:
    with Server(tmp_path) as server:
        async with opened(server, browser) as page:
            run = await failed_after_a_tool(page, "oats")
            lose_results(tmp_path)
            await page.reload()
            await expect(run.locator(".tool .state")).to_have_text("unknown whether it ran")
            await expect(run.locator(".ending")).to_contain_text("Unknown whether it ran: add_todo")
            await run.get_by_role("button", name="Go on without").click()
            await expect(page.get_by_role("alert")).to_have_count(0)
            await finished(run)
            await expect(run.locator(".tool .state")).to_have_text("unknown whether it ran")
            assert await todo_count(page) == 1


async def test_an_unknown_call_runs_again_when_the_person_says_so(tmp_path: Path, browser: Browser) -> None:
    with Server(tmp_path) as server:
        async with opened(server, browser) as page:
            run = await failed_after_a_tool(page, "eggs")
            lose_results(tmp_path)
            await page.reload()
            await run.get_by_role("button", name="Run it again").click()
            await expect(page.get_by_role("alert")).to_have_count(0)
            await finished(run)
            await expect(run.locator(".tool .state")).to_have_text("done")
            assert await todo_count(page) == 2
