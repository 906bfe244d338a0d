"""What an answer rests on, its pictures and its footnotes: as it comes, later, on a phone, and shared."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import finished, open_session, send
from tests.browser.test_chat_pages import overflow
from tests.browser.test_sharing import PICTURE, make_link, share, somebody
from tests.emulator.test_replay import exchange
from tests.server import Server

ASKED = "What do bees do in Zürich?"
TEXT = (
    "Bees in **Zürich** 🐝 *dance*. They tell the others the way to a meadow[^1].\n\n"
    "| what | when |\n|---|---|\n| they dance | in spring |\n\n"
    "[^1]: Seen by von Frisch, who described the dance at length.\n"
)
SOURCES = [
    {"web": {"uri": "https://bees.example/the dance", "title": "bees.example"}},
    {
        "web": {
            "uri": "https://search.example/redirect/abc",
            "title": "A long title about the way of bees",
        }
    },
    {"web": {"uri": "javascript:alert(1)", "title": "no link"}},
]

OPEN_NOTES = """() => {
  window.notes = [];
  new MutationObserver(() => {
    const note = document.querySelector(".open .note-text");
    if (note) window.notes.push(note.textContent);
  }).observe(document.querySelector(".transcript"), { childList: true, subtree: true });
}"""
"""Notes what the note says while it is open."""


def support(words: str, *sources: int) -> dict[str, Any]:
    start = len(TEXT[: TEXT.index(words)].encode())
    segment = {"startIndex": start, "endIndex": start + len(words.encode()), "text": words}
    return {"segment": segment, "groundingChunkIndices": list(sources)}


def write_recording(folder: Path) -> None:
    pieces = [TEXT[at : at + 6] for at in range(0, len(TEXT), 6)]
    parts: list[dict[str, Any]] = [{"text": piece} for piece in pieces]
    parts.append({"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PICTURE).decode()}})
    chunks: list[dict[str, Any]] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "groundingMetadata": {}}]}
        for part in parts
    ]
    supports = [support("Bees in **Zürich** 🐝 *dance*.", 0), support("They tell the others the way", 0, 1)]
    supports.append(support("in spring", 2))
    chunks[-1]["candidates"][0] |= {
        "finishReason": "STOP",
        "groundingMetadata": {
            "groundingChunks": SOURCES,
            "groundingSupports": supports,
            "webSearchQueries": ["bees dance Zürich"],
        },
        "urlContextMetadata": {
            "urlMetadata": [
                {"retrievedUrl": "https://gone.example/x", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}
            ]
        },
    }
    told = {"modelVersion": "gemini-3-flash-preview", "usageMetadata": {"promptTokenCount": 9}}
    recorded = exchange(
        {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}, *(chunk | told for chunk in chunks)
    )
    (folder / "bees.json").write_text(json.dumps({"exchanges": [recorded]}))


@pytest.fixture(scope="module")
def citing_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, replay = tmp_path_factory.mktemp("citing"), tmp_path_factory.mktemp("replay")
    write_recording(replay)
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.05", PIPEWEB_REPLAY=str(replay)) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def page(citing_server: Server, at_server: Callable[[Server], Awaitable[Page]]) -> AsyncIterator[Page]:
    yield await at_server(citing_server)


async def asked(page: Page) -> Locator:
    await open_session(page)
    run = await send(page, ASKED)
    await finished(run)
    return run


async def assert_cited(text: Locator, sources: Locator) -> None:
    marks = text.locator(".cited")
    await expect(marks).to_have_text([re.compile("1"), re.compile("1.*2"), re.compile("3")])
    await expect(text.locator("p").first).to_contain_text(re.compile(r"dance\.\s*Source 1 They tell"))
    await expect(text.locator("td").last).to_contain_text(re.compile("in spring.*3"))
    await expect(sources.locator("li")).to_have_count(4)
    first, second, third, fourth = [sources.locator("li").nth(at) for at in range(4)]
    await expect(first.get_by_role("link")).to_have_attribute("href", "https://bees.example/the%20dance")
    await expect(second).to_contain_text("A long title about the way of bees · search.example")
    await expect(third.get_by_role("link")).to_have_count(0)
    await expect(third).to_contain_text("no link")
    await expect(fourth).to_contain_text("could not be retrieved")


async def test_an_answer_shows_its_sources_at_the_places_that_rest_on_them(page: Page) -> None:
    run = await asked(page)
    sources = run.get_by_role("region", name="Sources of this answer")
    await assert_cited(run.locator(".text"), sources)
    await expect(sources.get_by_role("link", name="bees dance Zürich")).to_have_attribute(
        "href", re.compile(r"^https://www\.google\.com/search\?q=bees\+dance\+Z%C3%BCrich$")
    )
    await run.locator(".text .cited a").nth(2).click()
    await expect(sources.locator("li:target")).to_contain_text("A long title")
    await page.reload()
    await assert_cited(page.locator(".run .text"), page.locator(".run .cited-sources"))
    await assert_accessible(page, within=".run")


async def test_a_picture_of_the_model_is_shown_and_downloaded(page: Page) -> None:
    run = await asked(page)
    picture = run.get_by_role("img", name="Image that the model made")
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_be_visible()
    assert await picture.evaluate("(one) => one.decode().then(() => one.naturalWidth)") == 1
    async with page.expect_download() as download:
        await run.get_by_role("link", name="Download the image").click()
    saved = await (await download.value).path()
    assert await asyncio.to_thread(saved.read_bytes) == PICTURE


async def test_footnotes_are_there_while_the_answer_comes_and_lead_to_and_fro(page: Page) -> None:
    await open_session(page)
    await page.evaluate(OPEN_NOTES)
    run = await send(page, ASKED)
    await finished(run)
    growing = await page.evaluate("() => window.notes")
    assert growing and all(text.startswith("Seen") for text in growing)
    await run.locator(".noted a").click()
    await expect(run.locator(".note:target")).to_contain_text("Seen by von Frisch")
    await run.locator(".note .label a").click()
    await expect(run.locator(".noted:target")).to_have_text("1")


async def test_two_answers_have_no_id_in_common(page: Page) -> None:
    await asked(page)
    await finished(await send(page, ASKED))
    ids = await page.evaluate("() => [...document.querySelectorAll('.transcript [id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids)) and sum("source-1" in one for one in ids) == 2
    run = page.locator(".run").last
    await run.locator(".noted a").click()
    await expect(run.locator(".note:target")).to_be_visible()


async def test_on_a_phone_sources_stay_within_the_page(page: Page) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    run = await asked(page)
    await expect(run.locator(".cited-sources")).to_be_visible()
    assert await overflow(page) <= 0


async def test_a_shared_copy_has_the_sources_and_notes_and_says_what_was_searched_only_with_tools(
    page: Page, citing_server: Server, browser: Any, complaints: list[str]
) -> None:
    await asked(page)
    addresses = []
    preview = page.locator("#share .transcript")
    for choice, searched in (("Text only", 0), ("With tools and thoughts", 1)):
        await share(page)
        await page.get_by_label(choice).check()
        await expect(preview.get_by_text("Searched for")).to_have_count(searched)
        addresses.append(await make_link(page))
        await page.locator("#share").get_by_role("button", name="Close").last.click()
    context = await somebody(browser.new_context, complaints)
    reader = await context.new_page()
    for address, searched in zip(addresses, (0, 1), strict=True):
        await reader.goto(address)
        await assert_cited(reader.locator(".text"), reader.locator(".cited-sources"))
        await expect(reader.get_by_role("button")).to_have_count(0)
        await expect(reader.get_by_role("link", name="bees dance Zürich")).to_have_count(searched)
        await reader.locator(".noted a").click()
        await expect(reader.locator(".note:target")).to_be_visible()
    await context.close()
