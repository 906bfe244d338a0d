"""Tables of answers with long words: the words beside them stay readable, and no page scrolls sideways."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.talks import open_talk
from tests.browser.test_layout import PHONE
from tests.browser.test_print import PAPER
from tests.browser.test_sharing import make_link, share, somebody

DESKTOP = {"width": 1280, "height": 900}
ADDRESS = "https://example.org/" + "a" * 280
WORDS = "Bread with a crust and a crumb that stays soft for days"
TABLES = {
    "address": f"| Name | Where | What for |\n|-|-|-|\n| First thing | {ADDRESS} | {WORDS} |",
    "header": f"| {'Word' * 60} | What it means |\n|-|-|\n| one two | {WORDS} |",
    "code": f"| Option | Says |\n|-|-|\n| `{'x' * 200}` | {WORDS} |",
    "list": f"- One\n\n  | Name | Where | What for |\n  |-|-|-|\n  | First thing | {ADDRESS} | {WORDS} |",
    "quotation": f"> | Name | Where | What for |\n> |-|-|-|\n> | First thing | `{'x' * 200}` | {WORDS} |",
}

MEASURED = """() => [...document.querySelectorAll(".prose table")].map((table) => {
  const broken = [], lines = new Set();
  for (const cell of table.querySelectorAll("th, td")) {
    if (cell.textContent.length > 100) continue;
    const text = cell.firstChild;
    for (const { index, 0: word } of text.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const tops = [...range.getClientRects()].map((box) => box.top);
      if (tops.length > 1) broken.push(word);
      if (cell.textContent.startsWith("Bread")) lines.add(tops[0]);
    }
  }
  const box = table.parentElement.getBoundingClientRect();
  return { broken, lines: lines.size, width: table.scrollWidth, isInside: box.right <= innerWidth + 1 };
})"""
"""Of each table: words that are broken, lines of the words beside a long one, and its whole width."""


async def assert_readable(page: Page, width: int) -> None:
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    measured = await page.evaluate(MEASURED)
    assert len(measured) == len(TABLES)
    for one in measured:
        # Twelve words in lines of two or more, and a table that is seen with a swipe or two.
        assert one["broken"] == [] and one["lines"] <= 6
        assert one["isInside"] and one["width"] <= max(width, 600)


@pytest.mark.parametrize("screen", [PHONE, DESKTOP])
async def test_the_words_beside_a_long_one_stay_readable(page: Page, screen: Any) -> None:
    await page.set_viewport_size(screen)
    await open_talk(page, [("Tables", "\n\nText.\n\n".join(TABLES.values()))])
    await assert_readable(page, screen["width"])


async def test_they_stay_readable_on_paper(page: Page) -> None:
    await page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    await open_talk(page, [("Tables", "\n\nText.\n\n".join(TABLES.values()))])
    await page.emulate_media(media="print")
    await assert_readable(page, PAPER["width"])


async def test_they_stay_readable_for_who_has_a_link(
    page: Page, new_context: Callable[..., Any], complaints: list[str]
) -> None:
    await open_talk(page, [("Tables", "\n\nText.\n\n".join(TABLES.values()))])
    await share(page)
    address = await make_link(page)
    reader = await (await somebody(new_context, complaints)).new_page()
    await reader.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await reader.goto(address)
    await assert_readable(reader, PHONE["width"])
