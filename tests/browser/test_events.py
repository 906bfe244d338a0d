"""What a page does with the events of a run, played by a socket in the server's place."""

import json
import re
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from tests.browser.test_chat import open_session


async def test_the_page_says_how_far_it_has_read(page: Page) -> None:
    heard: list[dict[str, Any]] = []
    run = "11111111-1111-4111-8111-111111111111"

    def play(route: WebSocketRoute) -> None:
        route.on_message(lambda message: heard.append(json.loads(message)))
        route.send(json.dumps({"type": "hello", "active_run": None}))
        route.send(json.dumps({"type": "started", "run": run, "seq": 0, "client_id": run, "text": "Hi"}))
        for seq in range(1, 151):
            event = {"type": "delta", "run": run, "seq": seq, "step": 1, "kind": "text", "text": f"{seq} "}
            route.send(json.dumps(event))

    await page.route_web_socket(re.compile("/ws/"), play)
    await open_session(page)
    await expect(page.locator(".run .text")).to_contain_text("149 150")
    assert [command["seq"] for command in heard if command["type"] == "ack"] == [64, 128]
    assert all(command["type"] == "ack" for command in heard)


async def test_a_gap_in_the_events_is_asked_for_and_doubles_are_ignored(page: Page) -> None:
    run = "22222222-2222-4222-8222-222222222222"
    joins: list[int] = []

    def delta(seq: int) -> str:
        return json.dumps(
            {"type": "delta", "run": run, "seq": seq, "step": 1, "kind": "text", "text": f"[{seq}]"}
        )

    def play(route: WebSocketRoute) -> None:
        def answer(message: str | bytes) -> None:
            joins.append(json.loads(message)["after"])
            for seq in (2, 3, 4):
                route.send(delta(seq))

        route.on_message(answer)
        route.send(json.dumps({"type": "hello", "active_run": None}))
        route.send(json.dumps({"type": "started", "run": run, "seq": 0, "client_id": run, "text": "Hi"}))
        for seq in (1, 1, 3):
            route.send(delta(seq))

    await page.route_web_socket(re.compile("/ws/"), play)
    await open_session(page)
    await expect(page.locator(".run .text")).to_have_text("[1][2][3][4]")
    assert joins == [1]


async def test_blocks_replace_what_they_cover_whatever_the_characters(page: Page) -> None:
    run = "33333333-3333-4333-8333-333333333333"
    first, second = "👩‍🚀 one\n\n", "two <b>bold</b>"
    shared = {"run": run, "step": 1, "kind": "text"}
    events = [
        {"type": "hello", "active_run": None},
        {"type": "started", "run": run, "seq": 0, "client_id": run, "text": "<i>Hi</i>"},
        {"type": "delta", "seq": 1, "text": first + second, **shared},
        {"type": "block", "seq": 2, "html": "<p>👩‍🚀 <em>one</em></p>", "chars": len(first), **shared},
    ]

    def play(route: WebSocketRoute) -> None:
        for event in events:
            route.send(json.dumps(event))

    await page.route_web_socket(re.compile("/ws/"), play)
    await open_session(page)
    await expect(page.locator(".run .text em")).to_have_text("one")
    await expect(page.locator(".run .tail")).to_have_text("two <b>bold</b>")
    await expect(page.locator(".run .bubble")).to_have_text("<i>Hi</i>")
