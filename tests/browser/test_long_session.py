"""Sixty turns in which the model works on a repository of 200 files, as a person has it in a browser."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser import long_session as talk
from tests.browser.access import assert_accessible
from tests.browser.conftest import collect_complaints, sign_in
from tests.browser.panel_bytes import FILES, Piece, changed, pieces_of, shared
from tests.browser.recording_proxy import RecordingProxy
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_mcp import enter
from tests.browser.test_panels import unfold
from tests.browser.test_provider_tools import switch_on
from tests.conftest import ROOT
from tests.server import Server, environment, manage

pytestmark = pytest.mark.timeout(600)

TURNS = 60
SWITCHED_ON = ("Echo", "Let old messages go", "Write a note", "Add to the log")
LEDGERS = """
SELECT number, ledger, break_line FROM sessions_app_exchange
WHERE session_id = (SELECT session_id FROM sessions_app_exchange GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 1)
ORDER BY number
"""


@dataclass
class Played:
    """The session, played to its end: its server, what the provider received, and the page in view."""

    server: Server
    bodies: list[str]
    page: Page

    def edits(self) -> Iterator[tuple[int, str, list[Piece], list[Piece]]]:
        """Of each file: the number of the first request with its change, the path, the one before it, it."""
        pieces = [pieces_of(body) for body in self.bodies]
        for path in talk.EDITED:
            text = f"{FILES}{path}"
            for number in range(1, len(pieces)):
                before, now = pieces[number - 1], pieces[number]
                was = {one.name: one.text for one in before}.get(text)
                if was and "total + 1" not in was and "total + 1" in dict(now).get(text, ""):
                    yield number + 1, path, before, now

    def ledgers(self) -> dict[int, tuple[dict[str, Any], dict[str, Any]]]:
        """Number of an exchange → its ledger and the place where its prefix ends, as stored."""
        with closing(sqlite3.connect(self.server.folder / "pipeweb.sqlite3")) as rows:
            found = rows.execute(LEDGERS).fetchall()
        return {number: (json.loads(ledger), json.loads(place)) for number, ledger, place in found}


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordingProxy]:
    command = (sys.executable, "manage.py", "emulator", "--port", "0", "--delay", "0")
    variables = environment(tmp_path_factory.mktemp("emulator"))
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as provider:
        assert provider.stdout
        with RecordingProxy(provider.stdout.readline().split()[3].rstrip(";")) as proxy:
            yield proxy
        provider.terminate()


@pytest.fixture(scope="module")
def long_server(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingProxy) -> Iterator[Server]:
    variables = {
        "GEMINI_API_KEY": "key-of-a-test",
        "GOOGLE_GEMINI_BASE_URL": upstream.url,
        "NO_PROXY": "*",
        "PIPEWEB_MCP_COMMANDS": sys.executable,
    }
    with Server(tmp_path_factory.mktemp("long"), **variables) as running:
        yield running


async def say(page: Page, text: str) -> None:
    await finished(await send(page, text))


async def prepare(page: Page) -> None:
    """A new chat with the repository in its workspace, and what it needs switched on, as people do it."""
    await page.goto("/admin/sessions_app/mcpserver/")
    await enter(page)
    await open_session(page)
    await page.locator("html").evaluate("(html) => { html.dataset.view = 'inspect'; }")
    await page.get_by_role("button", name="Context", exact=True).click()
    tree = await unfold(page, "tree")
    archive: Any = {"name": "repository.zip", "mimeType": "application/zip", "buffer": talk.repository()}
    await tree.locator("input[type=file]").set_input_files([archive])
    await expect(page.locator("#panels-said")).to_contain_text(str(talk.FILES))
    tools = await unfold(page, "offers")
    for name in SWITCHED_ON:
        await tools.get_by_label(name, exact=True).check()
    await switch_on(page, "Search the web")


async def play(page: Page) -> None:
    for text in talk.working():
        await say(page, text)
    asking = await send(page, talk.call("test__echo", text="five are changed"))
    await asking.locator(".ask").get_by_role("button", name="Allow once").click()
    await finished(asking)
    for text in talk.ending():
        await say(page, text)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def played(browser: Browser, long_server: Server, upstream: RecordingProxy) -> AsyncIterator[Played]:
    complaints: list[str] = []
    context = await browser.new_context(base_url=long_server.url)
    collect_complaints(context, complaints)
    page = await context.new_page()
    await sign_in(page, long_server.new_link())
    await prepare(page)
    await play(page)
    yield Played(long_server, upstream.bodies, page)
    await context.close()
    assert complaints == []


def audited(server: Server) -> str:
    return manage(server.folder, "audit", "--all").stdout


async def test_sixty_messages_are_answered_and_the_auditor_finds_nothing(played: Played) -> None:
    answered = [body for body in played.bodies if json.loads(body)["contents"]]
    assert len(answered) > TURNS
    assert len(talk.working()) + len(talk.ending()) + 1 == TURNS
    await expect(played.page.locator(".run .problem")).to_have_count(0)
    assert " 0 differences" in audited(played.server), audited(played.server)


async def test_five_files_are_changed_and_no_other(played: Played) -> None:
    (folder,) = played.server.folder.glob("workspaces/*/src")
    files = {f"src/{path.name}": path.read_text() for path in folder.iterdir()}
    assert len(files) == talk.FILES
    plain = {f"src/module_{number:03}.py": talk.module(number) for number in range(talk.FILES)}
    assert {path for path, text in files.items() if text != plain[path]} == set(talk.EDITED)


async def test_a_change_of_a_file_moves_nothing_that_stands_before_it(played: Played) -> None:
    """The tree tells sizes, so it changes with the file; the other panels stay in their places."""
    edits = list(played.edits())
    assert [path for _, path, _, _ in edits] == list(talk.EDITED)
    for _, path, before, now in edits:
        new = changed(before, now)
        assert new == {f"{FILES}{path}", "tree"}
        assert shared(before, now) == min(place for place, one in enumerate(before) if one.name in new)
        stays = [[one for one in pieces if one.name not in {*new, "message"}] for pieces in (before, now)]
        assert stays[0] == stays[1]
        panels = [one.name for one in now if one.name not in {"message", "current_datetime"}]
        assert set(panels[-len(new) :]) == new, "what changed stands last, where it costs least next time"


async def test_the_ledger_names_the_place_that_the_bytes_show(played: Played) -> None:
    ledgers = played.ledgers()
    static: dict[str, int] = {}
    for number, _, before, now in played.edits():
        ledger, place = ledgers[number]
        end = shared(before, now)
        assert place["source"] == f"panel:{before[end].name}"
        # Of one explicit cache the static layer has always as many pieces.
        cache = json.loads(played.bodies[number - 1]).get("cachedContent")
        assert static.setdefault(cache, ledger["prefix"] - end) == ledger["prefix"] - end
    assert len(static) < len(talk.EDITED)


async def test_what_was_asked_and_searched_stands_in_the_chat(played: Played) -> None:
    await played.page.reload()
    echoed = played.page.locator(".run", has_text="call test__echo")
    await expect(echoed.locator("details.tool .response").first).to_contain_text("five are changed")
    found = played.page.locator(".run", has_text="search for bees")
    await expect(found.get_by_role("region", name="Sources of this answer")).to_be_visible()


async def open_drop(page: Page) -> Locator:
    """The card of the messages that went, in the activity of the answer in which they did."""
    run = page.locator(".run", has_text="drop part 1 of the history").last
    await run.locator("details.activity > summary").first.click()
    card = run.locator("details.tool", has_text="Let old messages go")
    await card.locator("> summary").click()
    await card.get_by_text("The messages that went").click()
    # It is read when it comes into view.
    await card.get_by_role("heading", name="Result").scroll_into_view_if_needed()
    return card.locator(".history-drop")


async def test_what_the_model_let_go_is_put_back_by_a_person(played: Played) -> None:
    page = played.page
    card = await open_drop(page)
    await assert_accessible(page, within=".history-drop")
    async with page.expect_navigation():
        await card.get_by_role("button", name="Put them back").click()
    await expect((await open_drop(page)).get_by_role("status")).to_contain_text("Back in the chat")
    await say(page, "Hello again")
    assert " 0 differences" in audited(played.server), audited(played.server)
