"""`bench weight`: what a page costs a browser 50 ms away: requests, bytes, and time until it can be used.

A page can be used when its scripts have run and the message field has the focus.
"""

import asyncio
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from sessions_app.errors import PipewebError
from tests.bench.base import Aim, Bench, Say, positive
from tests.bench.processes import START_LIMIT, Server, run_module, temporary_folder
from tests.bench.relay_pipeweb import GREETING, MANAGE, SEATS, Seat
from tests.chromium import CHROMIUM

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page

LATENCY = 50
"""Milliseconds that the browser adds to each request."""

USABLE = """() => new Promise((resolve) => {
    const look = () => {
        const timing = performance.getEntriesByType("navigation")[0];
        const ready = timing.domContentLoadedEventEnd && document.activeElement?.matches("textarea");
        if (ready) resolve(performance.now()); else setTimeout(look, 1);
    };
    look();
})"""
"""Resolves to the milliseconds from the start of the navigation."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One page as the browser got it: `requests` and `bytes` went over the network, none from its cache."""

    requests: int
    bytes: int
    ms: float


class Wire:
    """Counts what a page asks the network for."""

    def __init__(self, devtools: "CDPSession") -> None:
        self._cached: set[str] = set()
        self._asked: set[str] = set()
        self._bytes = 0
        devtools.on("Network.requestWillBeSent", self._note_request)
        devtools.on("Network.requestServedFromCache", lambda event: self._cached.add(event["requestId"]))
        devtools.on("Network.responseReceived", self._note_response)
        devtools.on("Network.loadingFinished", self._note_end)

    def take(self) -> tuple[int, int]:
        """Requests and bytes since the last call."""
        counted = len(self._asked - self._cached), self._bytes
        self._asked.clear()
        self._cached.clear()
        self._bytes = 0
        return counted

    def _note_request(self, event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith("http"):
            self._asked.add(event["requestId"])

    def _note_response(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self._cached.add(event["requestId"])

    def _note_end(self, event: dict[str, Any]) -> None:
        self._bytes += int(event["encodedDataLength"])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--times", type=positive(int), default=7, help="new browsers (default: 7)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    if CHROMIUM is None:
        raise PipewebError("bench: there is no Chromium.", hint="Install the package chromium.")
    with temporary_folder() as folder:
        data = str(folder / "data")
        with Server("server", MANAGE, GREETING, folder, PIPEWEB_DATA=data) as server:
            made = run_module("relay_pipeweb", "1", limit=START_LIMIT, PIPEWEB_DATA=data)
            (seat,) = SEATS.validate_json(made)
            return report(asyncio.run(measure(server.port, seat, given["times"])), say)


async def measure(port: int, seat: Seat, times: int) -> Mapping[str, list[Visit]]:
    """The visits of each page, in order: a new browser sees the chat, then home, then the chat again."""
    from playwright.async_api import async_playwright

    visits: dict[str, list[Visit]] = {"chat, first": [], "home, after it": [], "chat, again": []}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        await first_visits(browser, port, seat)  # The server's own first time.
        for _ in range(times):
            for name, visit in zip(visits, await first_visits(browser, port, seat), strict=True):
                visits[name].append(visit)
        await browser.close()
    return visits


async def first_visits(browser: "Browser", port: int, seat: Seat) -> list[Visit]:
    """In a window that has seen nothing."""
    address = f"http://127.0.0.1:{port}"
    window = await browser.new_context()
    cookies = (one.strip().partition("=") for one in seat.cookie.split(";"))
    await window.add_cookies([{"name": name, "value": value, "url": address} for name, _, value in cookies])
    page = await window.new_page()
    devtools = await window.new_cdp_session(page)
    await devtools.send("Network.enable")
    slow = {"offline": False, "latency": LATENCY, "downloadThroughput": -1, "uploadThroughput": -1}
    await devtools.send("Network.emulateNetworkConditions", slow)
    wire = Wire(devtools)
    chat = f"{address}/s/{seat.session}/"
    found = [await visit(page, wire, one) for one in (chat, f"{address}/", chat)]
    await window.close()
    return found


async def visit(page: "Page", wire: Wire, address: str) -> Visit:
    wire.take()
    await page.goto(address)
    ms = await page.evaluate(USABLE)
    await page.wait_for_load_state("networkidle")
    return Visit(*wire.take(), ms)


def report(visits: Mapping[str, list[Visit]], say: Say) -> Sequence[Aim]:
    say(f"{'page, medians':<18}{'requests':>10}{'kB':>8}{'usable, ms':>12}")
    for name, seen in visits.items():
        kilobytes = median(one.bytes for one in seen) / 1000
        ms = median(one.ms for one in seen)
        say(f"{name:<18}{max(one.requests for one in seen):>10}{kilobytes:>8.0f}{ms:>12.0f}")
    return aims_of(visits)


def aims_of(visits: Mapping[str, list[Visit]]) -> Sequence[Aim]:
    first, *later = visits.values()
    return [
        Aim("requests of a first chat page", 12, max(one.requests for one in first)),
        Aim("requests of a page after it", 4, max(one.requests for seen in later for one in seen)),
        Aim(
            f"a first chat page can be used, ms, at {LATENCY} ms latency",
            500,
            median(one.ms for one in first),
        ),
    ]


BENCH = Bench("weight", "requests, bytes and time of a page in Chromium, 50 ms away", add_arguments, run)
