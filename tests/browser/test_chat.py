"""The chat in a real browser: first visit, sending, streaming, stopping, tools, errors, drafts."""

import asyncio
import re

from playwright.async_api import BrowserContext, Locator, Page, WebSocketRoute, expect

DONE = ".run:not([aria-busy])"


async def open_session(page: Page) -> None:
    """A new session without a message."""
    await page.goto("/new")
    await page.get_by_role("button", name="Create chat").click()
    await page.wait_for_url("**/s/**")


async def send(page: Page, text: str) -> Locator:
    """Sends a message; the article of its run."""
    box = page.get_by_role("textbox", name="Message")
    await box.fill(text)
    await box.press("Enter")
    return page.locator(".run").last


async def finished(run: Locator) -> None:
    await expect(run).not_to_have_attribute("aria-busy", "true")


async def test_the_first_message_makes_a_session_and_is_answered(page: Page) -> None:
    await page.goto("/")
    await page.get_by_label("Message").fill("Hello there")
    await page.get_by_label("Message").press("Enter")
    await page.wait_for_url("**/s/**")
    run = page.locator(".run")
    await expect(run.locator(".bubble")).to_have_text("Hello there")
    await finished(run)
    await expect(run.locator(".foot")).to_contain_text("would have cost")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Hello there")


async def test_a_sample_shows_a_cache_hit_on_its_second_turn(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="See how it works").click()
    await page.get_by_role("button", name="Pay once for long instructions").click()
    await finished(page.locator(".run"))
    await finished(await send(page, "And for the day after?"))
    await expect(page.locator(".run").last.locator(".sum .badge")).to_have_text("cache hit")


async def test_text_appears_while_it_is_written_and_stays(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await expect(run).to_have_attribute("aria-busy", "true")
    start = (await run.locator(".text").inner_text())[:8]  # before any mark that becomes HTML
    await page.keyboard.press("Escape")
    await finished(run)
    await expect(run.locator(".text")).to_contain_text(start)


async def test_stop_keeps_what_came_and_says_so(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.get_by_role("button", name="Stop (Esc)").click()
    await expect(run.locator(".ending")).to_contain_text("Stopped.")
    await expect(run.locator(".text")).not_to_be_empty()
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_visible()


async def test_stop_works_before_the_first_word(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await page.keyboard.press("Escape")
    await expect(run.locator(".ending")).to_contain_text("Stopped.")


async def test_tool_calls_are_folded_cards_with_arguments_and_result(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="See how it works").click()
    await page.get_by_role("button", name="Plan with two tools").click()
    run = page.locator(".run")
    await finished(run)
    cards = run.locator(".tool")
    await expect(cards).to_have_count(2)
    await expect(cards.first).to_be_hidden()
    await run.get_by_text("Used 2 tools").click()
    await expect(cards.first.locator(".inside")).to_be_hidden()
    await cards.first.get_by_text("Check a flight").click()
    await expect(cards.first).to_contain_text("AA100")
    await expect(cards.first).to_contain_text("delayed")
    await expect(run.locator(".text")).to_contain_text("10 AM")


async def test_an_error_stands_in_place_and_retry_answers(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/error 400 once")
    await expect(run.get_by_role("alert")).to_contain_text("tokens")
    await run.get_by_role("button", name="Retry").click()
    await expect(page.locator(f"{DONE} .text")).to_be_visible(timeout=20_000)
    await expect(page.locator(".run")).to_have_count(1)
    await expect(page.get_by_role("alert")).to_have_count(0)


async def test_answering_again_replaces_the_answer(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "Hello"))
    before = await page.locator(".run").get_attribute("data-run")
    await page.get_by_role("button", name="Answer again").click()
    await expect(page.locator(f'.run[data-run="{before}"]')).to_have_count(0)
    await finished(page.locator(".run"))
    await expect(page.locator(".run .bubble")).to_have_text("Hello")


async def test_a_draft_survives_a_reload(page: Page) -> None:
    await open_session(page)
    await page.get_by_label("Message").fill("Half a thought")
    await page.reload()
    await expect(page.get_by_label("Message")).to_have_value("Half a thought")


async def test_shift_enter_makes_a_line(page: Page) -> None:
    await open_session(page)
    box = page.get_by_label("Message")
    await box.fill("one")
    await box.press("Shift+Enter")
    await box.type("two")
    await expect(box).to_have_value("one\ntwo")
    await expect(page.locator(".run")).to_have_count(0)


async def test_a_reload_in_the_middle_joins_the_answer(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.reload()
    await expect(page.locator(".run")).to_have_count(1)
    await expect(run.locator(".text")).to_contain_text("/slow please")
    await page.keyboard.press("Escape")
    await finished(run)


async def test_a_second_tab_follows(page: Page, context: BrowserContext) -> None:
    await open_session(page)
    other = await context.new_page()
    await other.goto(page.url)
    await expect(other.locator(".empty")).to_be_visible()
    await send(page, "Hello")
    await expect(other.locator(".bubble")).to_have_text("Hello")
    await finished(other.locator(".run"))
    texts = [await tab.locator(".run .text").inner_text() for tab in (page, other)]
    assert texts[0] == texts[1]


async def test_a_broken_connection_loses_nothing(page: Page) -> None:
    routes: list[WebSocketRoute] = []
    again = asyncio.Event()

    def pass_on(route: WebSocketRoute) -> None:
        route.connect_to_server()
        routes.append(route)
        if len(routes) > 1:
            again.set()

    await page.route_web_socket(re.compile("/ws/"), pass_on)
    await open_session(page)
    run = await send(page, "/long please")
    await expect(run.locator(".steps")).not_to_be_empty()
    await routes[-1].close(code=1012)
    await finished(run)
    await expect(run.locator(".text")).to_contain_text("Summary")
    await expect(page.locator(".run")).to_have_count(1)
    await asyncio.wait_for(again.wait(), 60)


async def test_a_refused_message_comes_back(page: Page) -> None:
    def refuse(route: WebSocketRoute) -> None:
        route.on_message(lambda message: answer(route, str(message)))
        route.send('{"type": "hello", "active_run": null}')

    def answer(route: WebSocketRoute, message: str) -> None:
        found = re.search(r'"client_id":"([^"]+)"', message)
        assert found
        route.send(f'{{"type":"refused","client_id":"{found[1]}","message":"Busy.","hint":"Wait."}}')

    await page.route_web_socket(re.compile("/ws/"), refuse)
    await open_session(page)
    await send(page, "Keep this")
    await expect(page.get_by_role("alert")).to_contain_text("Busy.")
    await expect(page.get_by_label("Message")).to_have_value("Keep this")
    await expect(page.locator(".run")).to_have_count(0)


async def test_the_reader_is_never_dragged_to_the_end(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "/long please"))
    run = await send(page, "/long /slow again")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.get_by_role("region", name="Conversation").hover()
    await page.mouse.wheel(0, -600)
    await expect(page.get_by_role("button", name="New text")).to_be_visible()
    before = await page.locator(".scroller").evaluate("(box) => box.scrollTop")
    length = len(await run.inner_text())
    await expect(run).to_contain_text(re.compile(f"^.{{{length + 80},}}$", re.DOTALL))
    await page.keyboard.press("Escape")
    await finished(run)
    assert await page.locator(".scroller").evaluate("(box) => box.scrollTop") == before
    await page.get_by_role("button", name="New text").click()
    await expect(page.get_by_role("button", name="New text")).to_be_hidden()


async def test_an_answer_and_its_code_can_be_copied(page: Page, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_session(page)
    run = await send(page, "/long please")
    await finished(run)
    await run.get_by_role("button", name="Copy as Markdown").click()
    await expect(page.locator(".announcer")).to_have_text("Copied")
    assert "```" in await page.evaluate("() => navigator.clipboard.readText()")
    await run.locator(".code [data-copy]").first.click()
    await expect(run.locator(".code [data-copy]").first).to_have_text("Copied")
    assert "```" not in await page.evaluate("() => navigator.clipboard.readText()")


async def test_screen_readers_hear_start_and_end_only(page: Page) -> None:
    await open_session(page)
    run = await send(page, "Hello")
    await finished(run)
    await expect(page.locator(".announcer")).to_have_text(re.compile(r"Answer finished, [1-9]\d* words\."))


async def test_a_message_sent_while_answering_is_answered_next(page: Page) -> None:
    await open_session(page)
    await send(page, "/long please")
    await send(page, "And then this")
    await expect(page.locator(".run .bubble").last).to_have_text("And then this")
    await finished(page.locator(".run").last)
    await expect(page.locator(".waiting li")).to_have_count(0)
    await expect(page.locator(f"{DONE} .bubble")).to_have_text(["/long please", "And then this"])


async def test_a_stopped_answer_can_be_continued(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Continue").click()
    rest = page.locator(f"{DONE}.goes-on")
    await expect(rest.locator(".text")).to_be_visible()
    await expect(page.get_by_role("button", name="Continue")).to_be_hidden()
    await expect(page.locator(".bubble:visible")).to_have_text("/slow please")
    await page.reload()
    await expect(page.locator(".bubble:visible")).to_have_text("/slow please")
    await expect(page.locator(".foot:visible")).to_have_count(1)


async def test_after_a_stop_a_waiting_message_is_sent_by_hand(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await send(page, "Hello again")
    await expect(page.locator(".waiting li")).to_have_count(1)
    await expect(page.get_by_role("button", name="Send now")).to_be_hidden()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Send now").click()
    await expect(page.locator(f"{DONE} .bubble")).to_have_text(["/slow please", "Hello again"])
    await expect(page.locator(".waiting li")).to_have_count(0)


async def test_a_waiting_message_can_be_taken_back(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/slow please")
    await expect(run.locator(".text")).not_to_be_empty()
    await send(page, "Not so fast")
    await page.get_by_role("button", name="Take back").click()
    await expect(page.get_by_label("Message")).to_have_value("Not so fast")
    await expect(page.locator(".waiting li")).to_have_count(0)
    await page.keyboard.press("Escape")
    await finished(run)
    await expect(page.locator(".run")).to_have_count(1)
