"""The files of the workspace beside the chat: put there, downloaded one by one and together, given back."""

import io
import zipfile
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.test_chat import finished, send
from tests.browser.test_panels import open_drawer, unfold

pytestmark = pytest.mark.usefixtures("inspecting")

HOUSE = [
    ("Change what it reads", "switch_panel", '{"panel": "tree", "on": false}'),
    ("Close a file", "close_file", '{"path": "a.txt"}'),
    ("Let old messages go", "drop_history", '{"part": 1, "note": "we met"}'),
]
"""What the model does to its own context: title, name and arguments of its tools."""


def archive(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, text in files.items():
            made.writestr(name.replace("_", "/") + ".txt", text)
    return packed.getvalue()


async def put(page: Page, name: str, body: bytes) -> None:
    file: Any = {"name": name, "mimeType": "application/octet-stream", "buffer": body}
    await page.locator("#fill-workspace").set_input_files([file])


async def saved(page: Page, link: Locator) -> bytes:
    async with page.expect_download() as coming:
        await link.click()
    path = await (await coming.value).path()
    return path.read_bytes()


async def test_files_are_put_there_and_downloaded_alone_and_as_an_archive(page: Page) -> None:
    await open_drawer(page)
    tree = await unfold(page, "tree")
    await put(page, "bees.txt", b"hum")
    await expect(tree.get_by_role("link", name="Download bees.txt")).to_be_visible()
    await put(page, "garden.zip", archive(beds_beans="sow in May", beds_peas="sow in March"))
    await expect(tree.get_by_role("link", name="Download beds/beans.txt")).to_be_visible()
    assert await saved(page, tree.get_by_role("link", name="Download beds/peas.txt")) == b"sow in March"
    packed = await saved(page, tree.get_by_role("link", name="Download all as zip"))
    with zipfile.ZipFile(io.BytesIO(packed)) as found:
        texts = {name: found.read(name) for name in found.namelist()}
    expected = {"bees.txt": b"hum", "beds/beans.txt": b"sow in May", "beds/peas.txt": b"sow in March"}
    assert expected.items() <= texts.items()


async def test_an_archive_that_cannot_be_read_changes_nothing_and_is_said(page: Page) -> None:
    await open_drawer(page)
    await unfold(page, "tree")
    await put(page, "broken.zip", b"PK\x03\x04 no archive")
    await expect(page.locator("#problem-tree")).not_to_be_empty()


async def test_a_file_that_the_model_deleted_is_given_back(page: Page) -> None:
    await open_drawer(page)
    await (await unfold(page, "offers")).get_by_role("checkbox", name="Delete a file", exact=True).check()
    tree = await unfold(page, "tree")
    await put(page, "moss.txt", b"green")
    await expect(tree.get_by_role("link", name="Download moss.txt")).to_be_visible()
    await finished(await send(page, 'call delete_file {"path": "moss.txt"}'))
    await expect(tree.get_by_role("link", name="Download moss.txt")).to_have_count(0)
    await tree.get_by_text("Deleted by the model").click()
    await tree.get_by_role("button", name="Restore").click()
    assert await saved(page, tree.get_by_role("link", name="Download moss.txt")) == b"green"


@pytest.mark.parametrize(("title", "name", "arguments"), HOUSE)
async def test_each_way_in_which_the_model_changes_its_context_can_be_forbidden(
    page: Page, title: str, name: str, arguments: str
) -> None:
    await open_drawer(page)
    tools = await unfold(page, "offers")
    box, said = tools.get_by_role("checkbox", name=title, exact=True), page.locator("#panels-said")
    if not await box.is_checked():
        await box.check()
        await expect(said).to_have_text(f"{title} is on.")
    await box.uncheck()
    await expect(said).to_have_text(f"{title} is off.")
    run = await send(page, f"call {name} {arguments}")
    await finished(run)
    await expect(run.locator("details.tool")).to_have_count(0)
    # The emulator makes no call that is not declared, in the request or in its cache.
    asked = await (await page.request.get(f"{page.url}inspect/1/request.json")).json()
    assert name not in str(asked.get("tools"))
