"""Texts from right to left: each block in its own direction, names from their own beginning."""

from playwright.async_api import Locator, Page, expect

from tests.browser.talks import bring_in, exported, open_talk
from tests.browser.test_inspector_more import say
from tests.browser.test_layout import PHONE

ARABIC = "مرحبا بكم في اختبار طويل للعنوان الذي لا يتسع له السطر أبدا"
ANSWER = "\n\n".join(
    (
        ARABIC,
        "- عنصر\n- آخر",
        "> اقتباس",
        "| العمود | القيمة |\n|---|--:|\n| أ | ١ |",
        "In English.\n\n- item",
    )
)
EDGES = """(element) => {
    const [words, box] = [document.createRange(), element.getBoundingClientRect()];
    words.selectNodeContents(element);
    const { left, right } = words.getBoundingClientRect();
    return [left - box.left, box.right - right];
}"""
"""Room between the words of an element and its edges."""

SHOWS_BEGINNING = """(element) => {
    const letter = document.createRange();
    const words = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (words.nextNode().data.trim() === "");
    const start = words.currentNode.data.search(/\\S/);
    letter.setStart(words.currentNode, start);
    letter.setEnd(words.currentNode, start + 1);
    const { left, right } = letter.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    return left >= box.left && right <= box.right + 1;
}"""
"""Whether the first letter of an element is inside of it."""


PLACE_OF = """(element, at) => {
    const letter = document.createRange();
    letter.setStart(element.firstChild, at);
    letter.setEnd(element.firstChild, at + 1);
    return letter.getBoundingClientRect().left;
}"""
"""How far from the left a letter of an element stands."""


async def begins_at_the_right(block: Locator) -> bool:
    left, right = await block.evaluate(EDGES)
    return bool(right < left)


async def test_each_block_of_an_answer_has_the_direction_of_its_words(page: Page) -> None:
    await open_talk(page, [(ARABIC, ANSWER)])
    text = page.locator(".step .text")
    assert await begins_at_the_right(text.locator("p", has_text="مرحبا"))
    for tag in ("ul", "blockquote", "table"):
        await expect(text.locator(tag).first).to_have_css("direction", "rtl")
    await expect(text.locator("ul").last).to_have_css("direction", "ltr")
    assert not await begins_at_the_right(text.locator("p", has_text="In English"))
    await expect(page.get_by_label("Message")).to_have_css("unicode-bidi", "plaintext")


async def test_code_in_a_text_from_right_to_left_reads_from_left_to_right(page: Page) -> None:
    await open_talk(page, [(ARABIC, f"{ARABIC} `run()` {ARABIC}")])
    code = page.locator(".step code")
    letter, bracket = [await code.evaluate(PLACE_OF, at) for at in (0, len("run()") - 1)]
    assert letter < bracket


async def test_a_column_of_a_table_is_aligned_as_its_rule_says(page: Page) -> None:
    await open_talk(page, [("A table", "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |")])
    for cell, side in zip(await page.locator(".step td").all(), ("left", "center", "right"), strict=True):
        await expect(cell).to_have_css("text-align", side)


async def test_a_long_title_is_cut_at_its_end(page: Page) -> None:
    talk = exported([(ARABIC, "In English.")], {})
    talk["session"]["title"] = ARABIC
    await bring_in(page, talk)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    heading = page.get_by_role("heading", level=1)
    assert await heading.evaluate(SHOWS_BEGINNING)


async def test_a_message_in_the_list_of_exchanges_is_cut_at_its_end(page: Page) -> None:
    await page.goto("/")
    await say(page, f"{ARABIC} {ARABIC}")
    await page.goto(page.url + "inspect/")
    message = page.locator("#rows .asked")
    assert await message.evaluate(SHOWS_BEGINNING)
