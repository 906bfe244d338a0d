"""A web page and a Word document become texts of the context, in a real browser."""

from collections.abc import Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.access import assert_accessible
from tests.browser.test_chat import open_session
from tests.documents.hostile_server import serving
from tests.documents.samples import document
from tests.server import Server


@pytest.fixture(scope="module")
def fetching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that may fetch pages of this machine."""
    folder = tmp_path_factory.mktemp("pages")
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01", PIPEWEB_LOOPBACK_PAGES="on") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def page(fetching: Server, at_server: Callable[[Server], Awaitable[Page]]) -> Page:
    return await at_server(fetching)


@pytest.fixture
def address() -> Iterator[str]:
    with serving() as found:
        yield found


async def test_a_page_is_fetched_on_the_persons_word(page: Page, address: str) -> None:
    await open_session(page)
    await page.get_by_label("Add files and more").click()
    await page.get_by_role("button", name="Web page…").click()
    dialog = page.locator("#web-page")
    box = dialog.get_by_label("Address of the page")
    await box.fill(f"{address}/missing")
    await assert_accessible(page, within="#web-page")
    await dialog.get_by_role("button", name="Fetch").click()
    await expect(dialog).to_contain_text("status 404")
    await box.fill(f"{address}/article")
    await dialog.get_by_role("button", name="Fetch").click()
    await expect(dialog).to_be_hidden()
    await expect(page.locator("#open-files")).to_contain_text("About bees.md")
    await assert_accessible(page, within=".composer")


async def test_a_word_document_is_attached_as_text(page: Page) -> None:
    await open_session(page)
    mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    file = {"name": "plan.docx", "mimeType": mime, "buffer": document("Title", "Some text")}
    await page.locator("input[type=file]").first.set_input_files(file)  # type: ignore[arg-type]
    await expect(page.locator("#open-files")).to_contain_text("plan.docx.md")
