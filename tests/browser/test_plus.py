"""What can be added to a message, from the menu beside it: on home and in a chat."""

import uuid

import pytest
from playwright.async_api import Page, expect

from tests.browser.test_chat import open_session


async def open_plus(page: Page) -> None:
    await page.get_by_label("Add files and more").click()


async def add_to_workspace(page: Page) -> str:
    """A file that a chat has put into the workspace; its name."""
    await open_session(page)
    name = f"notes-{uuid.uuid4().hex[:6]}.md"
    await page.evaluate(
        """async (name) => {
            const body = new FormData();
            body.append("file", new File(["Knead slowly."], name));
            const headers = JSON.parse(document.body.getAttribute("hx-headers"));
            await fetch(`${location.pathname}files/`, { method: "POST", headers, body });
        }""",
        name,
    )
    return name


async def test_a_file_is_chosen_from_the_menu(page: Page) -> None:
    await open_session(page)
    await open_plus(page)
    async with page.expect_file_chooser() as chosen:
        await page.get_by_role("button", name="Files…").click()
    file = {"name": "bread.txt", "mimeType": "text/plain", "buffer": b"Flour"}
    await (await chosen.value).set_files(file)  # type: ignore[arg-type]
    await expect(page.locator("#open-files")).to_contain_text("bread.txt")


async def test_a_file_of_the_workspace_is_opened(page: Page) -> None:
    name = await add_to_workspace(page)
    await open_session(page)
    await open_plus(page)
    await page.get_by_role("button", name="From the workspace…").click()
    dialog = page.locator("#workspace")
    await dialog.get_by_role("radio", name=name).check()
    await dialog.get_by_role("button", name="Open").click()
    await expect(dialog).to_be_hidden()
    await expect(page.locator("#open-files")).to_contain_text(name)


async def test_the_tools_are_one_choice_away(page: Page) -> None:
    await open_session(page)
    await open_plus(page)
    await page.get_by_role("button", name="Tools…").click()
    await expect(page.locator("#settings [name=tools]").first).to_be_visible()


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ("Web page…", "#web-page [name=url]"),
        ("From the workspace…", "#workspace [name=path]"),
        ("Tools…", "#settings [name=tools]"),
    ],
)
async def test_on_home_the_choice_makes_the_chat_and_keeps_what_was_typed(
    page: Page, item: str, field: str
) -> None:
    await add_to_workspace(page)
    await page.goto("/")
    await page.get_by_label("Message").fill("About this")
    await open_plus(page)
    await page.get_by_role("button", name=item).click()
    await page.wait_for_url("**/s/**")
    await expect(page.locator(field).first).to_be_focused()
    await expect(page.locator("#message")).to_have_value("About this")
    assert "add=" not in page.url


async def test_an_import_begins_in_the_menu_of_the_account(page: Page) -> None:
    for address in ("/spending/", "/sessions/"):
        await page.goto(address)
        await page.locator(".account-menu > summary").click()
        await page.get_by_role("link", name="Import a chat…").click()
        await expect(page.get_by_role("dialog", name="Import a chat")).to_be_visible()
        await page.keyboard.press("Escape")
