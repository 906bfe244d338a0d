"""Chromium reads the manifest, and its bar follows the theme."""

from typing import Any

from playwright.async_api import Page


async def test_chromium_finds_no_fault_in_the_manifest(page: Page) -> None:
    await page.goto("/")
    devtools = await page.context.new_cdp_session(page)
    found: dict[str, Any] = await devtools.send("Page.getAppManifest")
    assert found["url"].endswith("/app.webmanifest") and found["errors"] == []
    assert '"Pipeweb"' in found["data"]
    answer = await page.request.get("/app.webmanifest")
    for icon in (await answer.json())["icons"]:
        image = await page.request.get(icon["src"])
        assert image.ok and image.headers["content-type"].startswith(icon["type"])


async def test_the_bar_follows_the_chosen_theme(page: Page) -> None:
    await page.goto("/")
    toggle = page.locator("[data-theme-toggle]")
    for expected in ("light", "dark"):
        await page.locator(".account-menu summary").click()
        await toggle.click()
        media = await page.eval_on_selector_all(
            "meta[name=theme-color]", "metas => metas.map((meta) => [meta.dataset.scheme, meta.media])"
        )
        assert [scheme for scheme, asked in media if asked == "all"] == [expected]


async def test_a_form_that_is_too_old_gets_a_page_of_ours(page: Page, complaints: list[str]) -> None:
    await page.goto("/key")
    await page.get_by_label("API key").fill("anything")
    await page.evaluate(
        "document.querySelectorAll('[name=csrfmiddlewaretoken]').forEach((i) => { i.value = '0'; })"
    )
    await page.get_by_role("button", name="Test and use the key").click()
    await page.get_by_role("heading", name="The form was not accepted").wait_for()
    assert all("403" in text for text in complaints)
    complaints.clear()
    await page.get_by_role("main").get_by_role("link", name="New chat").click()
    await page.wait_for_url("**/")
