"""A run while it is going on: its events, and who waits for them."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import orjson

from sessions_app.events import Block, Call, Delta, Finished, Result, RunEvent, Started, Status, Thought
from sessions_app.markup import Blocks, Closed
from sessions_app.models import Run, RunLog
from sessions_app.prompt.reply import ChunkView
from sessions_app.prompt.turns import Call as FunctionCall
from sessions_app.runs.listening import thinking_words


class Pulse:
    """Wakes everyone who waits, once per beat."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()


class Link:
    """A place in the chain of a session's runs. A viewer holds its own, so what all have passed goes."""

    def __init__(self) -> None:
        self.next: Feed | None = None


class Feed(Link):
    """The events of one run as they are sent, index = `seq`; viewers read and wait for the pulse."""

    def __init__(self, run: Run, pulse: Pulse) -> None:
        super().__init__()
        self.run = run
        self.wires: list[str] = []
        self.is_over = False
        self._pulse = pulse

    @property
    def public(self) -> UUID:
        return self.run.public

    @property
    def last(self) -> int:
        """The newest `seq`; -1 before the first event."""
        return len(self.wires) - 1

    def extend(self, wires: Iterable[str], *, is_over: bool = False) -> None:
        self.wires.extend(wires)
        self.is_over = self.is_over or is_over
        self._pulse.beat()


class LiveRun(Feed):
    """A run of this process. Every event goes to the viewers at once and to `note` for the log."""

    def __init__(self, run: Run, started: Started, pulse: Pulse, note: Callable[["LiveRun"], None]) -> None:
        super().__init__(run, pulse)
        self.stopping = False
        self.logged = 0
        self._note = note
        self._blocks: dict[tuple[int, str], Blocks] = {}
        self._calls: dict[int, int] = {}
        self._said: dict[int, list[str]] = {}
        self._thought: set[int] = set()
        self._say(started)

    @property
    def words(self) -> int:
        """Words of the answer: the text of the newest step that has any."""
        return len("".join(next(iter(reversed(self._said.values())), [])).split())

    def unlogged(self) -> RunLog | None:
        """The row that brings the log up to now."""
        fresh = self.wires[self.logged :]
        return RunLog.of(self.run, self.logged, fresh) if fresh else None

    def emit(self, event: type[RunEvent], /, **fields: Any) -> None:
        self._say(event(run=self.public, seq=len(self.wires), **fields))

    def finish(self, finished: Finished) -> None:
        """The last event; `settle.close` has numbered and logged it already."""
        self.logged = finished.seq + 1
        self.extend([finished.wire()], is_over=True)

    def show(self, step: int, view: ChunkView, thought_ms: float | None = None) -> None:
        """Text leaves at once; a markdown block follows as HTML when it has closed. `thought_ms` is how long
        the model has thought in this step."""
        for kind, text in view.deltas:
            self.emit(Delta, step=step, kind=kind, text=text)
            if kind == "text":
                self._said.setdefault(step, []).append(text)
            self._emit_closed(step, kind, self._blocks.setdefault((step, kind), Blocks()).feed(text))
        for call in view.calls:
            self.emit(Call, step=step, index=self._count_call(step), name=call.name, args=readable(call.args))
        if thought_ms is not None and view.has_answer and step not in self._thought:
            self._thought.add(step)
            self.emit(Thought, step=step, words=thinking_words(thought_ms))

    def tell(self, words: str) -> None:
        """What is being done now, for the person."""
        self.emit(Status, text=words)

    def show_files(self, step: int, html: str) -> None:
        """Images and other files of a step, which have a turn now, as the transcript will show them."""
        if html:
            self.emit(Block, step=step, kind="text", html=html, chars=0)

    def settle_text(self, step: int) -> None:
        """Closes what is still open at the end of an exchange."""
        for (of_step, kind), blocks in self._blocks.items():
            if of_step == step:
                self._emit_closed(step, kind, blocks.close())

    def show_result(
        self, step: int, call: FunctionCall, response: dict[str, Any], *, failed: bool, ms: float
    ) -> None:
        self.emit(
            Result, step=step, index=call.index, response=readable(response), failed=failed, ms=round(ms, 1)
        )

    def _say(self, event: Started | RunEvent) -> None:
        self.extend([event.wire()])
        self._note(self)

    def _emit_closed(self, step: int, kind: str, closed: Iterable[Closed]) -> None:
        for block in closed:
            self.emit(Block, step=step, kind=kind, html=block.html, chars=block.chars)

    def _count_call(self, step: int) -> int:
        index = self._calls.get(step, 0)
        self._calls[step] = index + 1
        return index


def readable(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
