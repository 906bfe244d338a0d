"""The law of resuming: drops, reloads, joins, stops: nothing is lost and nothing comes twice.

Pages are modelled after static/js/live.js; a page of another process reads the log, which is written
in flushes and may lose its tail when the process dies.
"""

import asyncio
import uuid
from collections.abc import Iterable
from contextlib import suppress
from itertools import cycle, islice
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app import markup
from sessions_app.events import Finished, Started
from sessions_app.markup import Blocks
from sessions_app.models import Run, RunLog
from sessions_app.prompt.reply import ChunkView
from sessions_app.runs.run_streams import Broadcast, LiveRun, RemoteRun, RunStream
from sessions_app.runs.session_streams import SessionStream, Sink, StreamEvent, Viewer
from sessions_app.runs.writer import EventRow, logs_of

TEXTS = st.sampled_from(
    [
        "word ",
        "line\n",
        "\n\n",
        "# head\n\n",
        "- item\n",
        "```\ncode\n",
        "```\n\n",
        "**b** ",
        "a|b\n-|-\n",
        "é🙂",
    ]
)
STEPS = st.one_of(
    st.tuples(st.just("say"), TEXTS),
    st.tuples(st.sampled_from(["drop", "join", "reload", "listen"]), st.integers(0, 3)),
    st.tuples(st.just("flush"), st.none()),
)
VIEWERS = 4
"""Pages 0 and 1 belong to the run's process, 2 and 3 to another one; 1 and 3 take events by a sink too."""


class Page:
    """What a browser tab holds: the events it has shown, and the generator it listens to."""

    def __init__(self) -> None:
        self.appetite = cycle([9, 1, 0, 2])
        self.forget()

    def forget(self) -> None:
        self.last = -1
        self.html = ""
        self.tail = ""
        self.status = ""
        self.listening: Any = None
        self.pending: asyncio.Task[Any] | None = None

    def take(self, event: dict[str, Any]) -> None:
        if event["type"] == "finished":
            self.status = event["status"]
        else:
            assert event["seq"] == self.last + 1, "lost or twice"
        self.last = event["seq"]
        if event["type"] == "delta":
            self.tail += event["text"]
        if event["type"] == "block":
            self.html += event["html"]
            self.tail = self.tail[event["chars"] :]

    def join(self, stream: SessionStream, feed: RunStream, sink: Sink | None = None) -> None:
        viewer = Viewer(stream)
        viewer.resume(feed, self.last)
        self.listening = viewer.events(sink)

    def sink(self, events: Iterable[StreamEvent]) -> int:
        """Takes events where they are made, though not always all that there are."""
        taken = [*islice(events, next(self.appetite))]
        for _, _, wire in taken:
            self.take(orjson.loads(wire))
        return len(taken)

    async def listen(self) -> None:
        """Takes everything that is there, waits for nothing."""
        while self.listening is not None:
            self.pending = self.pending or asyncio.ensure_future(self.listening.__anext__())
            for _ in range(3):
                await asyncio.sleep(0)
            if not self.pending.done():
                return
            _, _, wire = self.pending.result()
            self.pending = None
            self.take(orjson.loads(wire))

    async def drop(self) -> None:
        if self.pending is not None:
            self.pending.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await self.pending
        if self.listening is not None:
            await self.listening.aclose()
        self.pending = self.listening = None


class World:
    """One run in one process, its log, and a copy of it in another process."""

    def __init__(self) -> None:
        self.run = Run(pk=1, session_id=1, public=uuid.uuid4())
        self.log: list[RunLog] = []
        self.here, self.there = SessionStream(), SessionStream()
        started = Started(run=self.run.public, client_id=uuid.uuid4(), text="go")
        self.fresh: list[EventRow] = []
        self.live = LiveRun(self.run, started, self.here.broadcast, lambda *event: self.fresh.append(event))
        self.remote = RemoteRun(self.run, self.there.broadcast)
        self.here.add_run(self.live)
        self.there.add_run(self.remote)
        self.pages = [Page() for _ in range(VIEWERS)]
        self.said = ""

    def say(self, text: str) -> None:
        self.said += text
        self.live.show(1, ChunkView(deltas=(("text", text),)))

    def flush(self) -> None:
        self.log += logs_of(self.fresh)
        self.fresh.clear()
        self.remote.take([row for row in self.log if row.seq_to > self.remote.last], is_over=False)

    def join(self, viewer: int) -> None:
        page = self.pages[viewer]
        if page.listening is None:
            sink = page.sink if viewer % 2 else None
            stream, feed = (self.here, self.live) if viewer < 2 else (self.there, self.remote)
            page.join(stream, feed, sink)

    async def do(self, step: str, argument: Any) -> None:
        if step == "say":
            self.say(argument)
        elif step == "flush":
            self.flush()
        elif step == "join":
            self.join(argument)
        elif step == "listen":
            await self.pages[argument].listen()
        else:
            await self.pages[argument].drop()
            if step == "reload":
                self.pages[argument].forget()

    async def end(self, status: str) -> None:
        self.live.close_text(1)
        self.flush()
        finished = Finished.model_validate(
            {"run": self.run.public, "seq": self.live.last + 1, "status": status}
        )
        self.log.append(RunLog.of(self.run, finished.seq, [finished.wire()]))
        self.live.finish(finished)
        self.remote.take([self.log[-1]], is_over=True)
        for viewer, page in enumerate(self.pages):
            self.join(viewer)
            await page.listen()
            await page.drop()


@settings(max_examples=500, deadline=None)
@given(st.lists(STEPS, max_size=40), st.sampled_from(["completed", "stopped", "failed"]))
def test_every_page_ends_with_the_same_html_whatever_happened(
    steps: list[tuple[str, Any]], status: str
) -> None:
    async def play() -> World:
        world = World()
        for step, argument in steps:
            await world.do(step, argument)
        await world.end(status)
        return world

    world = asyncio.run(play())
    blocks = Blocks()
    whole = "".join(closed.html for closed in (*blocks.feed(world.said), *blocks.close()))
    assert [page.html for page in world.pages] == [whole] * VIEWERS
    assert {page.status for page in world.pages} == {status}
    assert whole == markup.render(world.said)


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=20), st.integers(0, 20))
def test_a_page_ahead_of_the_log_gets_the_end(texts: list[str], flushed_at: int) -> None:
    async def play() -> Page:
        world = World()
        for position, text in enumerate(texts):
            world.say(text)
            if position == flushed_at:
                world.flush()
        page = world.pages[0]
        world.join(0)
        await page.listen()
        await page.drop()
        # The process dies here; another one ends the run behind what the log holds.
        last = world.remote.last
        finished = Finished(run=world.run.public, seq=last + 1, status="interrupted")
        late = RemoteRun(world.run, Broadcast())
        late.take([*world.log, RunLog.of(world.run, finished.seq, [finished.wire()])], is_over=True)
        page.join(world.there, late)
        await page.listen()
        await page.drop()
        return page

    assert asyncio.run(play()).status == "interrupted"
