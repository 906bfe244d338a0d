"""One judgement of accessibility: every rule in the light, and what colours change in the dark."""

from typing import Any

from axe_playwright_python.async_playwright import DEFAULT_OPTIONS, Axe
from playwright.async_api import Page

SETTLED = """() => Promise.all(
    document.getAnimations()
        .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
        .map((one) => one.finished.catch(() => null)))"""
"""Half-way through a change of colour nothing has the contrast that it will have."""

COLOURS = {"runOnly": ["color-contrast"]}

DJANGOS = {"rules": {"label-title-only": {"enabled": False}}}
"""Django's own search field is named by the text of a picture, which this rule does not count."""


async def assert_accessible(
    page: Page, options: dict[str, Any] | None = None, *, within: str | None = None
) -> None:
    """No rule of axe is broken in either scheme; `within` looks at one element only."""
    await page.emulate_media(color_scheme="light")
    await _judge(page, options, within)
    await page.emulate_media(color_scheme="dark")
    await _judge(page, COLOURS, within)


async def _judge(page: Page, options: dict[str, Any] | None, within: str | None) -> None:
    await page.evaluate(SETTLED)
    # The library's own options, in which what passes is not told, do not hold for a caller that has some.
    found = await Axe().run(page, context=within, options={**DEFAULT_OPTIONS, **(options or {})})
    assert found.violations_count == 0, found.generate_report()
