"""What a person does with code, tables and addresses of an answer."""

from playwright.async_api import BrowserContext, Page, expect

from tests.browser.talks import open_talk

CODE = "```python\nprint('a long line of code', " + "1, " * 80 + "2)\n```"
TABLE = "| name | count |\n|---|---|\n| one *two* | 3 |\n"
PLAIN = "```\nno language\n```"


async def copied(page: Page, context: BrowserContext) -> str:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    return str(await page.evaluate("() => navigator.clipboard.readText()"))


async def test_code_says_its_language_wraps_and_is_saved_under_its_ending(page: Page) -> None:
    await open_talk(page, [("Code?", f"{CODE}\n\n{PLAIN}")])
    code, plain = page.locator(".code").first, page.locator(".code").last
    await expect(code.locator(".code-language")).to_have_text("python")
    await expect(plain.locator(".code-language")).to_have_text("text")
    overflow = "(one) => one.scrollWidth > one.clientWidth"
    assert await code.locator("pre").evaluate(overflow)
    await code.get_by_role("button", name="Wrap").click()
    assert not await code.locator("pre").evaluate(overflow)
    for box, name in ((code, "code.py"), (plain, "code.txt")):
        async with page.expect_download() as download:
            await box.get_by_role("button", name="Download").click()
        assert (await download.value).suggested_filename == name


async def test_a_table_is_copied_for_a_spreadsheet(page: Page, context: BrowserContext) -> None:
    await page.set_viewport_size({"width": 390, "height": 800})
    await open_talk(page, [("Table?", TABLE)])
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name="Copy table").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await copied(page, context) == "name\tcount\none two\t3"


async def test_a_bare_address_is_a_link(page: Page) -> None:
    await open_talk(page, [("Where?", "It is at https://example.org/a_b_c (or https://example.org/d).")])
    links = page.locator(".text a")
    await expect(links).to_have_text(["https://example.org/a_b_c", "https://example.org/d"])
