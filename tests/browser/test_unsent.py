"""What a person has written is nowhere cut, lost or sent elsewhere: long pastes, broken lines, drafts."""

import pytest
from playwright.async_api import Page, expect

from sessions_app.socket_commands import MESSAGE_LIMIT
from tests.browser.lines import Line
from tests.browser.test_chat import finished, open_session, send

LONG = "x" * (MESSAGE_LIMIT + 62_000)


@pytest.mark.parametrize("place", ["/", "session"])
async def test_a_long_paste_stays_whole_and_says_that_it_is_too_long(page: Page, place: str) -> None:
    await (open_session(page) if place == "session" else page.goto(place))
    box, notice = page.get_by_label("Message", exact=True), page.locator(".too-long").first
    await expect(notice).to_be_hidden()
    await box.fill(LONG)
    await expect(notice).to_contain_text("162,000")
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_disabled()
    await box.press("Enter")
    assert len(await box.input_value()) == len(LONG)
    await expect(page.locator(".run")).to_have_count(0)
    await box.fill("short enough")
    await expect(notice).to_be_hidden()
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_enabled()


async def test_an_edit_that_is_too_long_is_not_sent_and_not_cut(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    await page.locator(".run .bubble").hover()
    await page.locator("[data-edit]").click()
    form = page.locator("form.rewording")
    await form.locator("textarea").fill(LONG)
    await form.get_by_role("button", name="Send").click()
    await expect(form.locator(".too-long")).to_contain_text("162,000")
    assert len(await form.locator("textarea").input_value()) == len(LONG)
    await expect(page.locator(".run")).to_have_count(1)


async def test_a_message_sent_without_a_line_during_an_answer_is_seen_and_answered(page: Page) -> None:
    line = Line()
    await line.lay(page)
    await open_session(page)
    run = await send(page, "/slow first")
    await expect(run.locator(".text")).not_to_be_empty()
    await line.cut()
    box = page.get_by_label("Message", exact=True)
    await box.fill("And this, without a line")
    await box.press("Enter")
    waiting = page.locator(".waiting li")
    await expect(waiting).to_contain_text("And this, without a line")
    await expect(page.locator("p.banner")).to_be_visible()
    await expect(page.locator("p.banner")).not_to_contain_text("still being written")
    line.is_cut = False
    await expect(page.locator(".run")).to_have_count(2)
    await finished(page.locator(".run").last)
    await expect(page.locator(".run .bubble").last).to_have_text("And this, without a line")
    await expect(waiting).to_have_count(0)
    await expect(page.locator("p.banner")).to_be_hidden()


async def test_a_message_taken_back_without_a_line_is_never_sent(page: Page) -> None:
    line = Line()
    await line.lay(page)
    await open_session(page)
    run = await send(page, "/slow first")
    await expect(run.locator(".text")).not_to_be_empty()
    await line.cut()
    box = page.get_by_label("Message", exact=True)
    await box.fill("Rather not")
    await box.press("Enter")
    await page.locator(".waiting").get_by_role("button", name="Take back").click()
    await expect(box).to_have_value("Rather not")
    line.is_cut = False
    await finished(run)
    await expect(page.locator(".waiting li")).to_have_count(0)
    await expect(page.locator(".run")).to_have_count(1)


async def test_what_was_not_sent_is_a_draft_after_a_reload(page: Page) -> None:
    line = Line()
    await line.lay(page)
    await open_session(page)
    await page.wait_for_function("document.querySelector('form.composer').dataset.state === 'idle'")
    await line.cut()
    line.is_cut = True
    box = page.get_by_label("Message", exact=True)
    await box.fill("Not gone")
    await box.press("Enter")
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("Not gone")


async def test_the_draft_badge_comes_and_goes_with_the_draft(page: Page) -> None:
    await open_session(page)
    # Not the first of the list: what another test pinned stands above.
    badge = page.locator(".side [data-draft]:has([aria-current]) .draft")
    box = page.get_by_label("Message", exact=True)
    await expect(badge).to_be_hidden()
    await box.fill("Half a thought")
    await expect(badge).to_be_visible()
    await box.press("Enter")
    await finished(page.locator(".run"))
    await expect(badge).to_be_hidden()
