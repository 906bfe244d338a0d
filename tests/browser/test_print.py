"""A chat on paper: all of it, without what is pressed on a screen."""

from playwright.async_api import Page, expect

from tests.browser.talks import open_talk
from tests.browser.test_chat import finished, open_session, send

IS_WHOLE = "element => element.scrollHeight <= element.clientHeight + 1"
COLOURS = "() => getComputedStyle(document.documentElement).colorScheme"


async def test_a_long_chat_is_printed_whole_and_in_light_colours(page: Page) -> None:
    await open_talk(page, [("line\n" * 40, "One answer.\n\n" * 40), ("The end?", "The end.")])
    boxes = [page.locator(".scroller"), page.locator(".bubble").first]
    assert [await box.evaluate(IS_WHOLE) for box in boxes] == [False, False]
    await page.emulate_media(media="print", color_scheme="dark")
    assert [await box.evaluate(IS_WHOLE) for box in boxes] == [True, True]
    assert await page.evaluate(COLOURS) == "light"
    assert await page.evaluate("() => document.body.scrollHeight > 2 * innerHeight")
    await expect(page.get_by_role("heading", name="An imported conversation")).to_be_visible()
    for selector in (".side", ".composer", ".said-tools >> nth=0", ".answer .tools >> nth=0"):
        await expect(page.locator(selector)).not_to_be_visible()


async def test_nothing_is_printed_that_is_pressed(page: Page) -> None:
    code, table = "```python\nloaf = 2\n```", "| loaf | kg |\n|-|-|\n| country | 2 |"
    await open_talk(page, [("Scale it.", f"{code}\n\n{table}")])
    run = page.locator("article.run")
    await expect(run.get_by_role("button", name="Copy table")).to_be_visible()
    await page.emulate_media(media="print")
    await expect(run.get_by_text("loaf = 2")).to_be_visible()
    await expect(run.get_by_role("cell", name="country")).to_be_visible()
    await expect(run.get_by_role("button")).to_have_count(0)


PAPER = {"width": 720, "height": 1000}
IS_WIDE_ENOUGH = "element => element.scrollWidth <= element.clientWidth + 1"


async def test_a_wide_table_is_printed_with_all_its_columns(page: Page) -> None:
    address = "https://example.org/" + "path/" * 20
    columns = [f"column{number}" for number in range(8)]
    rows = (columns, ["-"] * 8, [address] * 8)
    await page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    await open_talk(page, [("A table", "\n".join(f"| {' | '.join(row)} |" for row in rows))])
    table = page.locator(".step table")
    assert not await table.evaluate(IS_WIDE_ENOUGH)
    await page.emulate_media(media="print")
    assert await table.evaluate(IS_WIDE_ENOUGH)
    assert await table.evaluate("element => element.getBoundingClientRect().right <= innerWidth")


async def test_what_the_model_read_is_printed_whole(page: Page) -> None:
    await open_session(page)
    await finished(await send(page, "line\n" * 100))
    await page.goto(f"{page.url}inspect/1/")
    text = page.locator("pre", has_text="line").first
    assert not await text.evaluate(IS_WHOLE)
    await page.emulate_media(media="print")
    assert await text.evaluate(IS_WHOLE)


async def test_a_formula_is_not_cut_below(page: Page) -> None:
    await open_talk(
        page, [("A sum", r"$$\int_{-\infty}^{\infty} e^{-x^2} dx, \sum_{n=1}^{\infty} \frac{1}{n^2}$$")]
    )
    assert await page.locator(".step .math.block").evaluate(IS_WHOLE)
