"""Every way an answer can end, in words, where the answer would stand."""

import json
import re
import uuid

import pytest
from playwright.async_api import BrowserContext, Locator, Page, expect

from tests.browser.talks import bring_in
from tests.browser.test_chat import finished, open_session, send

LATER = 60_000

ENDINGS = {
    "/safety": "The model stopped because of a safety rule.",
    "/malformed": "The model tried to call a tool but wrote the call wrongly.",
    "/empty": "The model answered with nothing.",
    "/noparts": "The model answered with nothing.",
    "/nofinish": "The stream ended before the model said it was done.",
    "/blocked": "The provider refused the request before the model saw it.",
}


@pytest.mark.parametrize("cue", ENDINGS)
async def test_an_answer_that_did_not_end_well_says_why_and_what_to_do(page: Page, cue: str) -> None:
    await open_session(page)
    run = await send(page, cue)
    card = run.locator(".ending")
    await expect(card).to_contain_text(ENDINGS[cue], timeout=LATER)
    await expect(card.locator("p").nth(1)).to_have_text(re.compile(r"[a-z]\.\s"))
    await expect(card.get_by_role("link", name="Show request")).to_be_visible()
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_visible()


async def test_a_cut_answer_goes_on_below_as_the_same_answer(page: Page) -> None:
    await open_session(page)
    await send(page, "/maxtokens once")
    rest = page.locator(".run.goes-on")
    await expect(rest).to_have_count(1, timeout=LATER)
    await finished(rest)
    for _ in ("live", "reloaded"):
        await expect(rest.locator(".text")).to_be_visible()
        await expect(page.locator(".bubble:visible")).to_have_count(1)
        await expect(page.locator(".foot:visible")).to_have_count(1)
        await expect(page.locator(".ending:visible")).to_have_count(0)
        await page.reload()


async def test_a_rate_limit_counts_down_and_stop_ends_the_wait(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/error 429")
    words = run.locator(".status .words")
    await expect(words).to_have_text(re.compile(r"Asking again \(\d+ s\)"), timeout=LATER)
    seconds = await words.inner_text()
    await expect(words).not_to_have_text(seconds)
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
    await expect(words).to_have_count(0)
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_visible()


@pytest.mark.usefixtures("inspecting")
async def test_refused_signatures_cost_one_request_and_the_answer_says_so(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    run = await send(page, "/corrupted And now?")
    await finished(run)
    note = run.get_by_text("The provider refused the thoughts of earlier answers")
    await expect(note).to_be_visible()
    await expect(run.locator(".ending")).to_have_count(0)
    await page.reload()
    await expect(note).to_be_visible()
    await run.get_by_text("2 requests").click()
    await run.get_by_role("link", name="Request 2").click()
    await expect(page.get_by_text("that the provider refused in exchange 2").first).to_be_visible()


async def test_a_guard_rail_names_itself_and_what_was_kept(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_role("tab", name="Limits").click()
    await page.get_by_label("Rounds of tools").fill("1")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")
    run = await send(page, "Check flight status for AA100 and book a taxi 2 hours before if delayed")
    await expect(run.get_by_role("alert")).to_contain_text("A guard rail ended this: 1 rounds", timeout=LATER)
    await expect(run.get_by_role("alert")).to_contain_text("What was done is kept.")
    await expect(run.locator(".tool").first).to_contain_text("check_flight")


async def refused(page: Page) -> Locator:
    """The run of a message that was not sent, because the history before it is broken."""
    await open_session(page)
    await finished(await send(page, "What time is it?"))
    export = json.loads(await (await page.request.get(f"{page.url}export.json")).text())
    response = next(turn for turn in export["turns"] if turn["kind"] == "tool_response")
    below = {"key": str(uuid.uuid4()), "parent": response["key"], "kind": "user_task"}
    below["content"] = json.dumps({"role": "user", "parts": [{"text": "Never answered"}]})
    export["turns"].append(below)
    export["session"] |= {"settings": {"history_policy": "strict"}, "head": below["key"]}
    for turn in export["turns"]:
        turn["run"] = None
    export |= {"runs": [], "exchanges": []}
    await bring_in(page, export)
    run = await send(page, "And now?")
    await expect(run.get_by_role("alert")).to_contain_text("The request was not sent", timeout=LATER)
    return run


async def test_a_broken_history_is_refused_and_one_click_repairs_it(page: Page) -> None:
    run = await refused(page)
    await run.get_by_role("button", name="Repair and answer").click()
    await expect(page.get_by_role("alert")).to_have_count(0, timeout=LATER)
    await expect(page.locator(".run[data-status=completed] .text").last).not_to_be_empty(timeout=LATER)


async def test_an_unknown_session_is_explained_and_none_is_made(page: Page, complaints: list[str]) -> None:
    answer = await page.goto(f"/s/{uuid.uuid4()}/")
    assert answer and answer.status == 404
    await expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    await page.get_by_role("main").get_by_role("link", name="New chat").click()
    await expect(page.get_by_label("Message")).to_be_visible()
    assert len(complaints) == 1 and "404" in complaints.pop()


async def test_an_answer_in_a_chat_that_was_deleted_meanwhile_says_that_it_is_gone(
    page: Page, context: BrowserContext, complaints: list[str]
) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    other = await context.new_page()
    await other.goto(page.url)
    await other.get_by_label("More for this chat").click()
    await other.get_by_role("button", name="Delete").first.click()
    await other.wait_for_url("**/sessions/")
    await page.keyboard.press("Escape")
    await expect(page.locator("p.banner")).to_contain_text("This chat no longer exists.")
    await expect(run.locator(".status")).to_have_count(0)
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_visible()
    complaints.clear()  # the browser reports the 404
