"""The panels beside the chat, as a person uses them: look, add, switch, upload, go on talking."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send

pytestmark = pytest.mark.usefixtures("inspecting")


async def open_drawer(page: Page) -> None:
    """A new session with its panels beside it."""
    await open_session(page)
    await page.get_by_role("button", name="Context", exact=True).click()
    await expect(page.locator("#panel-todos")).to_be_visible()


async def unfold(page: Page, key: str) -> Locator:
    """Opens a panel; its inside, when it has been read."""
    inside = page.locator(f"#body-{key}")
    await page.locator("li.panel > details > summary", has=page.locator(f"#head-{key}")).click()
    await expect(page.locator(f"#problem-{key}")).to_be_attached()
    return inside


async def request_body(page: Page, number: int) -> Any:
    """What the session's exchange sent."""
    return await (await page.request.get(f"{page.url}inspect/{number}/request.json")).json()


async def upload(page: Page, name: str, body: bytes) -> None:
    file: Any = {"name": name, "mimeType": "application/octet-stream", "buffer": body}
    await page.locator("#details input[type=file]").set_input_files([file])


async def test_a_file_that_is_too_large_is_not_sent(page: Page) -> None:
    await open_drawer(page)
    await unfold(page, "file_references")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    await upload(page, "log.txt", b"x" * 6_000_000)
    problem = await page.locator("#details input[type=file]").evaluate("(field) => field.validationMessage")
    assert problem.startswith("“log.txt” has 6 MB; a file may have 5 MB.")
    assert "POST" not in sent


async def test_what_is_added_by_hand_is_in_the_next_request_until_it_is_off(page: Page) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await todos.get_by_label("New todo").fill("water the beans")
    await page.keyboard.press("Enter")
    await expect(page.locator("#panels-said")).to_have_text("Todo 1 is added.")
    await expect(page.locator("#panels-sum")).to_contain_text(re.compile(r"from [12] panel"))
    await finished(await send(page, "Hello"))
    assert "water the beans" in str(await request_body(page, 1))
    await expect(page.locator("#head-todos")).to_contain_text("changed just now")

    await page.get_by_role("switch", name="The model reads: Todos").click()
    await expect(page.locator("#panels-said")).to_have_text("Todos is off.")
    await finished(await send(page, "And now?"))
    assert "water the beans" not in str(await request_body(page, 2))


async def test_a_todo_is_ticked_changed_and_removed_in_place(page: Page) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    for title in ("sow", "weed"):
        await todos.get_by_label("New todo").fill(title)
        await todos.get_by_role("button", name="Add").click()
        await expect(todos.get_by_text(title, exact=True)).to_be_visible()
    await todos.get_by_role("checkbox", name="Done: sow").check()
    await expect(page.locator("#panels-said")).to_have_text("Todo 1 is done.")
    await todos.get_by_text("weed", exact=True).click()
    await todos.get_by_label("Todo 2").fill("weed the beans")
    await page.keyboard.press("Enter")
    await expect(todos.get_by_text("weed the beans", exact=True)).to_be_visible()
    await todos.get_by_text("sow", exact=True).click()
    await todos.get_by_role("button", name="Remove").first.click()
    await expect(todos.get_by_text("sow", exact=True)).to_have_count(0)
    await page.reload()
    await page.get_by_role("button", name="Context", exact=True).click()
    await expect((await unfold(page, "todos")).locator(".words")).to_have_text(["weed the beans"])


async def test_a_tool_that_is_taken_away_is_not_declared(page: Page) -> None:
    await open_drawer(page)
    tools = await unfold(page, "offers")
    await tools.get_by_role("checkbox", name="Calculate").uncheck()
    await expect(page.locator("#panels-said")).to_have_text("Calculate is off.")
    await finished(await send(page, "Hello"))
    sent = str((await request_body(page, 1))["tools"])
    assert "add_todo" in sent and "calculate" not in sent


async def test_a_file_that_cannot_be_sent_is_said(page: Page) -> None:
    await open_drawer(page)
    files = await unfold(page, "file_references")
    await upload(page, "photo.png", b"\x89PNG\xff\xfe")
    await expect(files).to_contain_text("Not sent: “photo.png” is not UTF-8 text.")
    await upload(page, "long.txt", b"sow in May\n" * 20_000)
    await expect(files).to_contain_text("page 1 of 3")


async def test_the_panels_follow_a_run_and_keep_what_is_being_typed(page: Page) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    notes = await unfold(page, "scratchpad")
    await notes.get_by_label("New note", exact=True).fill("half a thought")
    await finished(await send(page, "add a todo: water the beans"))
    await expect(todos.get_by_text("water the beans", exact=True)).to_be_visible()
    await expect(notes.get_by_label("New note", exact=True)).to_have_value("half a thought")
    await todos.get_by_label("New todo").fill("sow")
    await page.keyboard.press("Enter")
    await expect(todos.get_by_text("sow", exact=True)).to_be_visible()
    await expect(notes.get_by_label("New note", exact=True)).to_have_value("half a thought")


async def test_a_drawer_that_was_closed_is_up_to_date_when_it_opens(page: Page) -> None:
    await open_drawer(page)
    await page.get_by_role("complementary", name="Context").get_by_role("button", name="Close").click()
    await finished(await send(page, "add a todo: water the beans"))
    await page.get_by_role("button", name="Context", exact=True).click()
    await expect(page.locator("#head-todos")).to_contain_text("tokens")


async def test_lines_that_come_after_their_panels_are_gone_are_dropped(page: Page) -> None:
    """As when an answer let old messages go and the page is replaced; a complaint fails the test."""
    await open_drawer(page)
    asked = asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        await page.locator("#details").evaluate("(drawer) => drawer.replaceChildren()")
        await route.fulfill(response=answer)
        asked.set()

    await page.route(re.compile(r"/panels/$"), late)
    await finished(await send(page, "add a todo: water the beans"))
    await asyncio.wait_for(asked.wait(), 30)
    await page.unroute_all(behavior="wait")


CLICK_NAMED = "(all, names) => all.filter(one => names.includes(one.ariaLabel)).forEach(one => one.click())"


async def test_an_answer_is_shown_although_another_replaced_the_box_that_asked(page: Page) -> None:
    """Two boxes ticked within one round trip; an answer without its places is a complaint."""
    await open_drawer(page)
    tools = await unfold(page, "offers")
    said = page.locator("#panels-said")

    async def second(route: Route) -> None:
        await expect(said).to_have_text("Add a todo is off.")
        await route.continue_()

    await page.route("**/tools/calculate/switch/", second)
    names = ["Add a todo", "Calculate"]
    # In one task of the page: between two clicks of Playwright the first answer may replace the second box.
    await tools.get_by_role("checkbox").evaluate_all(CLICK_NAMED, names)
    await expect(said).to_have_text("Calculate is off.")
    for name in names:
        await expect(tools.get_by_role("checkbox", name=name, exact=True)).not_to_be_checked()
    await page.unroute_all(behavior="wait")


@pytest.mark.parametrize("is_refused", [False, True])
async def test_a_switch_is_answered_although_another_answer_replaced_it(
    page: Page, complaints: list[str], is_refused: bool
) -> None:
    """Every answer of a panel brings new switches, also to a click that is on its way."""
    await open_drawer(page)
    todos = await unfold(page, "todos")
    said, box = page.locator("#panels-said"), page.get_by_label("The model reads: Todos", exact=True)
    is_replaced = asyncio.Event()

    async def second(route: Route) -> None:
        await is_replaced.wait()
        await (route.abort() if is_refused else route.continue_())

    await page.route("**/todos/switch/", second)
    async with page.expect_request("**/todos/switch/"):
        await box.evaluate("(one) => one.click()")
    await todos.get_by_label("New todo").fill("buy milk")
    await page.keyboard.press("Enter")
    await expect(said).to_have_text("Todo 1 is added.")
    is_replaced.set()
    if is_refused:
        await expect(said).to_contain_text("That could not be saved.")
    else:
        await expect(said).to_have_text("Todos is off.")
    await expect(box).to_be_checked(checked=is_refused)
    await page.unroute_all(behavior="wait")
    await page.wait_for_load_state("networkidle")
    if is_refused:
        complaints.clear()


@pytest.mark.parametrize("name", ["The model reads: Todos", "Done: buy milk"])
async def test_the_last_click_counts_where_the_first_is_on_its_way(page: Page, name: str) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await todos.get_by_label("New todo").fill("buy milk")
    await page.keyboard.press("Enter")
    box = page.get_by_label(name, exact=True)
    was = await box.is_checked()
    change, may_go = re.compile("/panels/todos/(switch|actions)/"), asyncio.Event()

    async def slowly(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await page.route(change, slowly)
    async with page.expect_request(change):
        await box.click()
    await box.click()
    await page.get_by_label("Add files and more").click()
    async with page.expect_request(change) as second:
        may_go.set()
    await (await second.value).response()
    await expect(box).to_be_checked(checked=was)
    # What somebody opened meanwhile stays open.
    await expect(page.locator("details.menu.plus")).to_have_attribute("open", "")
    await page.reload()
    await page.get_by_role("button", name="Context", exact=True).click()
    await unfold(page, "todos")
    await expect(box).to_be_checked(checked=was)


async def test_clicks_that_could_not_be_saved_are_not_made_later(page: Page, complaints: list[str]) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    box, may_go = page.get_by_label("The model reads: Todos", exact=True), asyncio.Event()

    async def fail(route: Route) -> None:
        await may_go.wait()
        await route.abort()

    await page.route("**/todos/switch/", fail)
    for _ in range(3):
        await box.click()
    may_go.set()
    await expect(page.locator("#panels-said")).to_contain_text("That could not be saved.")
    await expect(box).to_be_checked()
    await page.unroute("**/todos/switch/")
    await todos.get_by_label("New todo").fill("buy milk")
    await page.keyboard.press("Enter")
    await expect(page.locator("#panels-said")).to_have_text("Todo 1 is added.")
    await page.wait_for_load_state("networkidle")
    await expect(box).to_be_checked()
    complaints.clear()


async def test_what_could_not_be_saved_is_not_lost(page: Page, complaints: list[str]) -> None:
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await page.route("**/actions/**", lambda route: route.abort())
    await todos.get_by_label("New todo").fill("water the beans")
    await page.keyboard.press("Enter")
    await expect(page.locator("#panels-said")).to_contain_text("Nothing is lost")
    await expect(todos.get_by_label("New todo")).to_have_value("water the beans")
    await page.unroute("**/actions/**")
    await todos.get_by_role("button", name="Add").click()
    await expect(page.locator("#panels-said")).to_have_text("Todo 1 is added.")
    complaints.clear()


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_panels_are_accessible_and_fit(page: Page, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 844})
    await open_drawer(page)
    todos = await unfold(page, "todos")
    await todos.get_by_label("New todo").fill("water the beans")
    await page.keyboard.press("Enter")
    await expect(todos.get_by_text("water the beans", exact=True)).to_be_visible()
    await unfold(page, "file_references")
    await upload(page, f"{'long' * 20}.png", b"\xff\xfe")
    await expect(page.locator("#body-file_references .problem .icon").first).to_be_visible()
    for key in ("memories", "scratchpad", "logs", "offers"):
        await unfold(page, key)
    await page.get_by_text("Switched off").click()
    await unfold(page, "tree")
    await assert_accessible(page, within="#details")
    assert await page.evaluate("() => document.documentElement.scrollWidth - innerWidth") == 0
    if width == 390:
        assert (
            await page.locator("#details").evaluate("drawer => drawer.getBoundingClientRect().width") == width
        )
