"""What is done while the line is down holds when it is back: sending, rewording, stopping, taking back."""

import json
import re

import pytest
from playwright.async_api import BrowserContext, Locator, Page, Route, WebSocketRoute, expect

from tests.browser.lines import Line
from tests.browser.test_chat import finished, open_session, send


async def line_of(page: Page) -> Line:
    """The line of a new session."""
    line = Line()
    await line.lay(page)
    await open_session(page)
    return line


async def answering(page: Page, text: str = "/slow first") -> Locator:
    """The run of a message, whose answer has begun."""
    run = await send(page, text)
    await expect(run.locator(".text")).not_to_be_empty()
    return run


async def test_the_first_message_without_a_line_is_a_draft_of_its_session(page: Page) -> None:
    line = Line()
    await line.lay(page)
    line.is_cut = True
    await page.goto("/")
    await send(page, "Begun without a line")
    await page.wait_for_url("**/s/**")
    await expect(page.locator(".run .bubble")).to_have_text("Begun without a line")
    await page.reload()
    box = page.get_by_label("Message", exact=True)
    await expect(box).to_have_value("Begun without a line")
    line.is_cut = False
    await page.reload()
    await box.press("Enter")
    await finished(page.locator(".run"))
    await expect(page.locator(".run .bubble")).to_have_text("Begun without a line")
    await page.reload()
    await expect(box).to_have_value("")


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_message_reworded_without_a_line_stays_on_the_page(page: Page, comes_back: bool) -> None:
    line = await line_of(page)
    await finished(await send(page, "Hello"))
    await line.cut()
    await page.locator(".run .bubble").hover()
    await page.locator("[data-edit]").click()
    form = page.locator("form.rewording")
    await form.locator("textarea").fill("Hello in other words")
    await form.get_by_role("button", name="Send").click()
    await expect(page.locator(".run .bubble").last).to_have_text("Hello in other words")
    if comes_back:
        line.is_cut = False
        await expect(page.locator(".run[data-run] .bubble")).to_have_text("Hello in other words")
        await finished(page.locator(".run"))
    else:
        await page.reload()
        await expect(page.get_by_label("Message", exact=True)).to_have_value("Hello in other words")


async def test_a_stop_without_a_line_stops_the_answer_when_it_is_back(page: Page) -> None:
    line = await line_of(page)
    run = await answering(page)
    await line.cut()
    await page.get_by_role("button", name="Stop (Esc)").click()
    line.is_cut = False
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
    await finished(await send(page, "Something else"))
    await expect(page.locator(".run").last.locator(".ending")).to_have_count(0)


async def test_a_stop_without_a_line_is_for_what_was_sent_before_it(page: Page) -> None:
    line = await line_of(page)
    await page.wait_for_function("document.querySelector('form.composer').dataset.state === 'idle'")
    await line.cut()
    await send(page, "/slow stopped before it began")
    await page.get_by_role("button", name="Stop (Esc)").click()
    await send(page, "Sent after the stop")
    line.is_cut = False
    run = page.locator(".run")
    await expect(run.first.locator(".ending")).to_contain_text("Stopped.")
    await page.get_by_role("button", name="Send now").click()
    await expect(run).to_have_count(2)
    await finished(run.last)
    await expect(run.last.locator(".bubble")).to_have_text("Sent after the stop")
    await expect(run.last.locator(".ending")).to_have_count(0)


async def test_a_waiting_message_taken_back_without_a_line_is_withdrawn(page: Page) -> None:
    line = await line_of(page)
    run = await answering(page)
    await send(page, "Rather not")
    waiting = page.locator(".waiting li")
    await expect(waiting.get_by_role("button", name="Take back")).to_be_visible()
    await expect(waiting.locator(".state")).to_have_text("Waiting")
    await line.cut()
    await waiting.get_by_role("button", name="Take back").click()
    line.is_cut = False
    await expect(page.locator("p.banner")).to_be_hidden()
    await finished(run)
    await expect(waiting).to_have_count(0)
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("Rather not")
    await expect(page.locator(".run")).to_have_count(1)
    await expect(waiting).to_have_count(0)


async def test_a_message_taken_back_that_began_meanwhile_is_stopped(
    page: Page, context: BrowserContext
) -> None:
    line = await line_of(page)
    await answering(page)
    await send(page, "/slow Rather not")
    waiting = page.locator(".waiting li")
    await expect(waiting.locator(".state")).to_have_text("Waiting")
    await line.cut()
    await waiting.get_by_role("button", name="Take back").click()
    other = await context.new_page()
    await other.goto(page.url)
    await expect(other.locator(".run")).to_have_count(2)
    line.is_cut = False
    await expect(page.locator(".run").last.locator(".ending")).to_contain_text("Stopped.")
    await expect(page.get_by_label("Message", exact=True)).to_have_value("/slow Rather not")


async def test_one_acknowledged_message_leaves_the_draft_of_the_other(page: Page) -> None:
    def play(route: WebSocketRoute) -> None:
        def answer(message: str | bytes) -> None:
            command = json.loads(message)
            if command.get("text") == "one":
                facts = {"run": command["client_id"], "client_id": command["client_id"], "text": "one"}
                route.send(json.dumps({"type": "started", "seq": 0, **facts}))

        route.on_message(answer)
        route.send(json.dumps({"type": "hello", "active_run": None}))

    await page.route_web_socket(re.compile("/ws/"), play)
    await open_session(page)
    await send(page, "two")
    await send(page, "one")
    await expect(page.locator(".waiting li")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("two")


async def test_a_page_without_a_network_says_so_and_sends_when_it_is_back(
    page: Page, context: BrowserContext, complaints: list[str]
) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    await context.set_offline(True)
    banner = page.get_by_text("Reconnecting…")
    await expect(banner).to_be_visible()
    await send(page, "Written in a tunnel")
    await expect(page.locator(".run .bubble").last).to_have_text("Written in a tunnel")
    await context.set_offline(False)
    await finished(page.locator(".run", has_text="Written in a tunnel"))
    await expect(banner).not_to_be_visible()
    await expect(page.locator(".run .bubble", has_text="Written in a tunnel")).to_have_count(1)
    complaints.clear()  # Of requests that found no network.


async def test_a_page_that_cannot_be_fetched_after_a_break_is_fetched_again(
    page: Page, complaints: list[str]
) -> None:
    line = await line_of(page)
    await finished(await send(page, "Hello"))
    missed: list[str] = []

    async def miss_the_first(route: Route) -> None:
        missed.append(route.request.url)
        if len(missed) == 1:
            await route.abort()
        else:
            await route.continue_()

    await page.route(page.url, miss_the_first)
    await line.cut()
    waiting = await send(page, "Said without a line")
    line.is_cut = False
    await finished(waiting)
    await expect(page.locator(".run .bubble")).to_have_text(["Hello", "Said without a line"])
    await expect(page.locator(".run").last.locator(".text")).not_to_be_empty()
    assert len(missed) > 1
    assert not any("fetch" in complaint for complaint in complaints)
    complaints.clear()


async def test_a_message_that_another_page_asked_anew_meanwhile_holds_nothing_up(
    page: Page, context: BrowserContext
) -> None:
    """Its own run is not in view any more when the line is back."""
    line = await line_of(page)
    other = await context.new_page()
    await other.goto(page.url)
    line.is_deaf = True
    await send(page, "Said into the tunnel")
    await finished(other.locator(".run"))
    await other.get_by_role("button", name="Answer again").click()
    await expect(other.locator(".choice-of").last).to_have_text("2/2")
    await line.cut()
    line.is_deaf = line.is_cut = False
    await expect(page.locator('form.composer[data-state="idle"]')).to_be_visible()
    await expect(page.locator(".bubble")).to_have_text(["Said into the tunnel"])
    await page.reload()
    await expect(page.get_by_label("Message", exact=True)).to_have_value("")


async def test_an_answer_that_ended_without_a_line_is_not_said_to_be_coming(
    page: Page, context: BrowserContext
) -> None:
    line = await line_of(page)
    other = await context.new_page()
    await other.goto(page.url)
    await answering(page)
    told = page.locator(".announcer")
    await expect(told).to_have_text("Gemini is answering.")
    await line.cut()
    await expect(told).to_have_text("")
    await other.keyboard.press("Escape")
    await finished(other.locator(".run"))
    line.is_cut = False
    await expect(told).to_have_text("The answer has ended.")
    await finished(page.locator(".run"))
