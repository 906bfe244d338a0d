import asyncio
from collections.abc import MutableMapping
from typing import Any

import orjson

from sessions_app.emulator import Emulator
from sessions_app.emulator.asgi import EmulatorApplication
from tests.emulator.helpers import FLASH, OPENING, events, text_of, user

Message = MutableMapping[str, Any]
PATH = f"/v1beta/models/{FLASH}:streamGenerateContent"


class Browser:
    """The other end of the ASGI contract: sends a body in two halves, then waits or leaves."""

    def __init__(self, text: str) -> None:
        body = orjson.dumps({"contents": [user(text)]})
        self.sent: list[Message] = []
        self.first_chunk = asyncio.Event()
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._messages.put_nowait({"type": "http.request", "body": body[:9], "more_body": True})
        self._messages.put_nowait({"type": "http.request", "body": body[9:], "more_body": False})

    async def visit(self, emulator: Emulator, application: EmulatorApplication | None = None) -> None:
        headers = [(b"X-Goog-Api-Key", b"emulator")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": PATH,
            "query_string": b"alt=sse",
            "headers": headers,
        }
        served = application or EmulatorApplication(emulator)
        await served(scope, self._messages.get, self._receive)

    def leave(self) -> None:
        self._messages.put_nowait({"type": "http.disconnect"})

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def _receive(self, message: Message) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.first_chunk.set()


async def test_it_streams_to_the_end(emulator: Emulator) -> None:
    browser = Browser("hello")
    await browser.visit(emulator)
    assert browser.sent[0]["status"] == 200
    assert (b"content-type", b"text/event-stream") in browser.sent[0]["headers"]
    assert OPENING in text_of(list(events(browser.body)))
    assert [message.get("more_body") for message in browser.sent[-2:]] == [True, False]


async def test_a_departure_is_noticed_at_once(emulator: Emulator) -> None:
    browser = Browser("/slow")
    visit = asyncio.create_task(browser.visit(emulator))
    await browser.first_chunk.wait()
    browser.leave()
    await asyncio.wait_for(visit, 20)
    entry = emulator.journal.last
    assert entry.closed_early and entry.chunks < 50


async def test_who_leaves_while_asking_is_not_answered(emulator: Emulator) -> None:
    browser = Browser("hello")
    browser._messages = asyncio.Queue()
    browser.leave()
    await browser.visit(emulator)
    assert not browser.sent and not len(emulator.journal)


async def test_a_dropped_stream_is_shorter_than_it_promised(emulator: Emulator) -> None:
    browser = Browser("/drop")
    await browser.visit(emulator)
    headers = dict(browser.sent[0]["headers"])
    assert headers[b"connection"] == b"close"
    assert 0 < len(browser.body) < int(headers[b"content-length"])


async def test_a_hangup_sends_nothing_and_breaks_off(emulator: Emulator) -> None:
    browser, broken = Browser("/hangup"), []
    application = EmulatorApplication(emulator, lambda scope, is_clean: broken.append(is_clean))
    await browser.visit(emulator, application)
    assert broken == [True] and not browser.sent


async def test_other_protocols_are_left_alone(emulator: Emulator) -> None:
    await EmulatorApplication(emulator)({"type": "lifespan"}, Browser("")._messages.get, Browser("")._receive)
    assert not len(emulator.journal)
