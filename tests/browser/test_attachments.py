"""Files with a message, as a person attaches them; pictures, code and formulas of an answer; the gauge."""

import asyncio
import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from sessions_app.emulator.sample_content import sample_image
from sessions_app.media import COUNT_LIMIT, DOCUMENT_LIMIT, FILE_LIMIT
from tests.browser.test_chat import finished, open_session, send
from tests.server import DATABASE, Server

PNG = base64.b64decode(sample_image()["inlineData"]["data"])
PICTURE = {"name": "sunset.png", "mimeType": "image/png", "buffer": PNG}
PAPER = {"name": "paper.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 " + b"x" * 1000}
GIVE = """(place, [kind, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File([bytes], "sunset.png", { type: "image/png" }));
  const event = kind === "paste"
    ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true })
    : new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true });
  place.dispatchEvent(event);
}"""

LATE_LOAD = """XMLHttpRequestUpload.prototype.addEventListener = function (name, listen) {
  if (name !== "load") EventTarget.prototype.addEventListener.call(this, name, listen);
}"""
"""Firefox tells that an upload is over when the answer begins."""


def chips(page: Page) -> Locator:
    return page.get_by_role("list", name="Attached files").get_by_role("listitem")


async def choose(page: Page, *files: Any) -> None:
    await page.get_by_label("Attach files").set_input_files(list(files))


async def give(place: Locator, kind: str) -> None:
    await place.evaluate(GIVE, [kind, base64.b64encode(PNG).decode()])


async def seen(picture: Locator) -> None:
    """The picture has arrived and was painted."""
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("naturalWidth", 320)


async def test_leaving_while_a_file_is_on_its_way_is_asked_about(page: Page) -> None:
    await open_session(page)
    may_go = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    await page.route("**/attachments/", hold)
    await page.get_by_role("textbox", name="Message").click()
    await choose(page, PICTURE)
    async with page.expect_event("dialog") as asked:
        await page.evaluate("setTimeout(() => location.reload())")
    question = await asked.value
    assert question.type == "beforeunload"
    await question.dismiss()
    may_go.set()
    await expect(page.locator(".chip.coming")).to_have_count(0)
    await page.reload()  # Nothing is asked now: a question would hold it up.
    await expect(chips(page)).to_have_count(1)


async def test_chosen_files_go_with_the_message_and_stand_above_it(page: Page) -> None:
    await open_session(page)
    await choose(page, PICTURE, PAPER)
    await expect(chips(page)).to_have_count(2)
    await expect(page.locator(".chip.coming")).to_have_count(0)
    run = await send(page, "What is this?")
    await expect(chips(page)).to_have_count(0)
    await finished(run)
    await seen(run.get_by_role("img", name="sunset.png"))
    await expect(run.get_by_role("link", name="paper.pdf")).to_be_visible()
    await expect(run.locator(".text")).to_contain_text("2 inline data, text")


async def test_files_wait_with_the_draft_over_a_reload_and_can_be_taken_off(page: Page) -> None:
    await open_session(page)
    await choose(page, PICTURE, PAPER)
    await expect(page.locator("[data-attachment]")).to_have_count(2)
    await page.reload()
    await expect(chips(page)).to_have_count(2)
    await page.get_by_role("button", name="Remove paper.pdf").click()
    await expect(chips(page)).to_have_count(1)
    await page.reload()
    await expect(chips(page)).to_contain_text(["sunset.png"])


async def test_files_are_stored_in_the_order_in_which_they_were_chosen(page: Page) -> None:
    """However long one takes: a model is told of the first picture and of the second."""
    await open_session(page)
    arrives = await hold_uploads(page)
    await choose(page, PAPER, PICTURE, {**PICTURE, "name": "unwanted.png"})
    await chips(page).filter(has_text="unwanted.png").get_by_label("Remove").click()
    arrives.set()
    await expect(page.locator("[data-attachment]")).to_have_count(2)
    await expect(page.locator(".chip.coming")).to_have_count(0)
    await page.reload()
    await expect(chips(page)).to_contain_text(["paper.pdf", "sunset.png"])


async def test_a_file_that_is_dismissed_while_it_is_stored_does_not_come_back(
    page: Page, server: Server
) -> None:
    await page.add_init_script(LATE_LOAD)
    await open_session(page)
    with closing(sqlite3.connect(server.folder / DATABASE, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        await choose(page, PICTURE)
        await expect(chips(page).get_by_role("progressbar")).to_have_js_property("value", 100)
        await chips(page).get_by_label("Remove").click()
        await expect(chips(page)).to_have_count(0)
        async with page.expect_response("**/detach/") as detached:
            writer.execute("COMMIT")
    assert (await detached.value).status == 204
    await page.reload()
    await expect(chips(page)).to_have_count(0)


async def test_files_that_fail_in_any_way_say_so_and_hold_up_no_other(
    page: Page, complaints: list[str]
) -> None:
    await open_session(page)
    html = "<ul><li>Some other page</li></ul>"
    answers = iter([(status, html, "text/html") for status in (200, 429, 507, 500)])

    async def fail(route: Route) -> None:
        if b"paper.pdf" in (route.request.post_data_buffer or b""):
            await route.continue_()
        elif answer := next(answers, None):
            status, body, kind = answer
            await route.fulfill(status=status, body=body, content_type=kind)
        else:
            await route.abort()

    await page.route("**/attachments/", fail)
    await choose(page, *[PICTURE] * 5, PAPER)
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    await expect(page.locator(".chip.refused")).to_contain_text(["did not arrive"] * 5)
    await expect(page.locator(".chip[aria-busy]")).to_have_count(0)
    assert all("Failed to load resource" in complaint for complaint in complaints)
    complaints.clear()


async def hold_uploads(page: Page) -> asyncio.Event:
    """The first file waits until the event is set; what is sent beside it would overtake it."""
    arrives = asyncio.Event()

    async def hold(route: Route) -> None:
        if b"paper.pdf" in (route.request.post_data_buffer or b""):
            await arrives.wait()
        await route.continue_()

    await page.route("**/attachments/", hold)
    return arrives


async def test_a_picture_is_pasted_or_dropped_anywhere_on_the_chat(page: Page) -> None:
    await open_session(page)
    await give(page.locator("#message"), "paste")
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    talk = page.locator(".scroller")
    await give(talk, "dragenter")
    await expect(page.locator(".dropping")).to_be_visible()
    await give(talk, "drop")
    await expect(page.locator(".dropping")).to_have_count(0)
    await expect(page.locator("[data-attachment]")).to_have_count(2)


async def test_a_folder_that_is_dropped_is_called_one_and_its_neighbour_is_attached(
    page: Page, tmp_path: Path
) -> None:
    await open_session(page)
    (tmp_path / "photos").mkdir()
    (tmp_path / "plan.txt").write_text("A plan")
    dropped = [str(tmp_path / "photos"), str(tmp_path / "plan.txt")]
    browser = await page.context.new_cdp_session(page)
    for event in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": dropped, "dragOperationsMask": 1}
        await browser.send("Input.dispatchDragEvent", {"type": event, "x": 700, "y": 400, "data": data})
    await expect(page.locator("[data-reference]")).to_contain_text(["plan.txt"])
    await expect(page.locator(".chip.refused .problem")).to_have_text(
        "“photos” is a folder. Attach the files in it that matter."
    )


async def test_a_picture_alone_is_a_message(page: Page) -> None:
    await open_session(page)
    await expect(page.get_by_role("button", name="Send (Enter)")).to_be_disabled()
    await choose(page, PICTURE)
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    await page.get_by_role("button", name="Send (Enter)").click()
    run = page.locator(".run")
    await finished(run)
    await seen(run.get_by_role("img", name="sunset.png"))


async def test_a_file_on_the_first_page_makes_the_session(page: Page) -> None:
    await page.goto("/")
    await page.locator("#message").fill("Look at this")
    await choose(page, PICTURE)
    await page.wait_for_url("**/s/**")
    await expect(chips(page)).to_contain_text(["sunset.png"])
    await expect(page.locator("#message")).to_have_value("Look at this")


async def test_a_text_stays_open_after_the_message_until_it_is_closed(page: Page) -> None:
    await open_session(page)
    await choose(page, {"name": "kept.md", "mimeType": "text/markdown", "buffer": b"# Plan"})
    files = page.get_by_role("list", name="Read every time:").get_by_role("listitem")
    await expect(files).to_have_count(1)
    await finished(await send(page, "What is in it?"))
    await page.reload()
    await expect(files).to_have_count(1)
    await files.get_by_role("button", name="Close").click()
    await expect(files).to_have_count(0)
    await page.reload()
    await expect(page.locator("#message")).to_be_visible()
    await expect(files).to_have_count(0)


async def test_a_text_on_the_first_page_is_in_the_chat_of_its_message(page: Page) -> None:
    await page.goto("/")
    await choose(page, {"name": "rules.md", "mimeType": "text/markdown", "buffer": b"# Rules"})
    await page.wait_for_url("**/s/**")
    await expect(page.locator("#open-files")).to_contain_text("rules.md")


async def test_text_goes_into_the_context_and_what_nobody_reads_says_so(
    page: Page, complaints: list[str]
) -> None:
    await open_session(page)
    await choose(page, {"name": "plan.md", "mimeType": "text/markdown", "buffer": b"# Plan"})
    await expect(page.locator("#open-files")).to_contain_text("plan.md")
    await choose(page, {"name": "tool.exe", "mimeType": "image/png", "buffer": b"MZ\0\1"})
    await expect(page.get_by_role("alert")).to_contain_text("no kind of file that the model reads")
    await page.locator(".chip.refused").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
    complaints[:] = [words for words in complaints if "409" not in words]


def large_file(folder: Path, name: str, size: int) -> Path:
    """A sparse file: its size is all that matters."""
    path = folder / name
    with path.open("wb") as file:
        file.truncate(size)
    return path


@pytest.mark.parametrize(
    ("name", "size", "words"),
    [
        (
            "photo.png",
            126_000_000,
            "“photo.png” has 126 MB; a file may have 50 MB. Attach a smaller version of it.",
        ),
        (
            "scan.pdf",
            FILE_LIMIT + 1,
            "“scan.pdf” has 50.1 MB; a file may have 50 MB. Attach fewer pages of it.",
        ),
        (
            "log.txt",
            7_000_000,
            "“log.txt” has 7 MB; a file may have 5 MB. Attach the part of it that matters.",
        ),
        (
            "plan.docx",
            DOCUMENT_LIMIT + 1,
            (
                "“plan.docx” has 20.1 MB; a file may have 20 MB. "
                "Attach the part of it that matters, as a document of its own."
            ),
        ),
    ],
)
async def test_a_file_that_is_too_large_is_not_sent(
    page: Page, tmp_path: Path, name: str, size: int, words: str
) -> None:
    await page.goto("/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    await choose(page, large_file(tmp_path, name, size))
    await expect(page.get_by_role("alert")).to_have_text(words)
    assert "POST" not in sent


async def test_a_message_takes_so_many_files_and_says_so_once(page: Page) -> None:
    await open_session(page)
    await choose(page, *[PICTURE | {"name": f"{number}.png"} for number in range(COUNT_LIMIT + 3)])
    await expect(page.get_by_role("alert")).to_contain_text(f"may have {COUNT_LIMIT} files")
    await expect(page.get_by_role("alert")).to_be_in_viewport()
    await expect(page.locator("[data-attachment]")).to_have_count(COUNT_LIMIT)
    await choose(page, PICTURE)
    await expect(page.get_by_role("alert")).to_have_count(1)


async def test_a_file_that_is_too_large_is_not_imported(page: Page, tmp_path: Path) -> None:
    await page.goto("/sessions/")
    await page.get_by_label("More for the list").click()
    await page.get_by_role("button", name="Import a chat").click()
    field = page.get_by_label("File", exact=True)
    await field.set_input_files(large_file(tmp_path, "all.json", 60_000_000))
    problem = await field.evaluate("(field) => field.validationMessage")
    assert problem.startswith("“all.json” has 60 MB; a file may have 52.4 MB.")
    await page.get_by_role("dialog").get_by_role("button", name="Import").click()
    await expect(page.get_by_role("dialog")).to_be_visible()


async def test_a_message_that_waits_is_taken_back_with_its_files(page: Page) -> None:
    await open_session(page)
    await send(page, "/slow please")
    await expect(page.locator(".run .text")).not_to_be_empty()
    await choose(page, PICTURE)
    await expect(page.locator("[data-attachment]")).to_have_count(1)
    await send(page, "And this?")
    waiting = page.get_by_role("list", name="To be sent next").get_by_role("listitem")
    await expect(waiting).to_contain_text("1 file")
    await waiting.get_by_role("button", name="Take back").click()
    await expect(chips(page)).to_contain_text(["sunset.png"])
    await expect(page.locator("#message")).to_have_value("And this?")
    await page.get_by_role("button", name="Stop (Esc)").click()
    await finished(page.locator(".run"))


async def test_a_picture_of_the_model_and_its_code_are_shown(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/image /code please")
    await finished(run)
    await seen(run.get_by_role("img", name="Image that the model made"))
    await expect(run.locator("pre", has_text="print(sum(primes))")).to_be_visible()
    await expect(run.locator("pre", has_text="129")).to_be_visible()


@pytest.mark.usefixtures("inspecting")
async def test_the_gauge_follows_the_answers(page: Page) -> None:
    await open_session(page)
    await expect(page.locator(".gauge")).to_be_hidden()
    await finished(await send(page, "Hello"))
    await expect(page.locator(".gauge")).to_contain_text("of 1,048,576 tokens")


async def test_an_ending_leads_to_the_setting_that_would_change_it(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/malformed")
    await run.get_by_role("button", name="Tools…").click()
    dialog = page.get_by_role("dialog", name="Chat settings")
    await expect(dialog.get_by_role("tabpanel", name="Tools")).to_be_visible()


async def test_formulas_are_set_and_money_stays_money(page: Page) -> None:
    await open_session(page)
    edited = r"It costs $5 to $10, and $x^2 + y^2 = r^2$ holds."
    await finished(await send(page, "Hello"))
    run = page.locator(".run")
    await run.get_by_label("More for this answer").click()
    await run.get_by_role("button", name="Edit this answer").click()
    await page.get_by_label("New wording").fill(edited)
    await page.get_by_role("button", name="Save as a branch").click()
    await expect(run.locator(".text math")).to_have_count(1)
    await expect(run.locator(".text")).to_contain_text("It costs $5 to $10, and")


async def test_code_stays_in_its_place_when_it_closes_and_its_copy_button_in_sight(page: Page) -> None:
    await open_session(page)
    run = await send(page, "/long /slow please")
    growing = run.locator(".open .code")
    await expect(growing.locator(".tail")).to_be_visible()
    await growing.get_by_role("button", name="Wrap").click()
    node = await growing.element_handle()
    code = run.locator(".code").first
    await expect(code.locator("code span:not(.tail)").first).to_be_visible(timeout=20_000)
    assert await node.evaluate("(one) => one === document.querySelector('.run .code')")
    await expect(code.get_by_role("button", name="Wrap")).to_be_focused()
    coloured = await code.locator("code").inner_html()
    await page.keyboard.press("Escape")
    await finished(run)
    assert await code.locator("code").inner_html() == coloured
    await expect(code.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "true")
    head = run.locator(".code-head").first
    assert await head.evaluate("(head) => getComputedStyle(head).position") == "sticky"
