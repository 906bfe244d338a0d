"""The events of one run: of this process (`LiveRun`), and of another (`RemoteRun`)."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from sessions_app.events import (
    Block,
    Call,
    Finished,
    Open,
    Result,
    RunEvent,
    Started,
    Status,
    Thought,
)
from sessions_app.markup import Blocks, Closed
from sessions_app.models import Run, RunLog, Session, Turn
from sessions_app.panels import tool_title
from sessions_app.prompt.calls import FunctionCall
from sessions_app.prompt.reply import ChunkView
from sessions_app.prompt.wire import dumps, readable, well_formed
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.runs.request import FirstRequest
from sessions_app.wording.activity import call_brief

RenderFiles = Callable[[Session, Turn], str]
"""The files of a turn as HTML of the transcript; empty without files. Reads the database."""


class Broadcast:
    """Wakes all tasks that wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake_all(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()


class StreamNode:
    """A node in the linked list of a session's runs. Runs that all viewers have passed are freed."""

    def __init__(self) -> None:
        self.next: RunStream | None = None


class RunStream(StreamNode):
    """The events of one run as JSON, indexed by `seq`."""

    def __init__(self, run: Run, broadcast: Broadcast) -> None:
        super().__init__()
        self.run = run
        self.wires: list[str] = []
        self.is_over = False
        self._broadcast = broadcast

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
        self._broadcast.wake_all()


class LiveRun(RunStream):
    """A run of this process; `log` stores each event (`Writer.add_event`)."""

    begun: Session | None = None
    """The session as the start of the run has read it, until the first request takes it."""

    first: FirstRequest | None = None
    holding: "asyncio.Task[None] | None" = None
    """Extends the cache that the requests of the run name, until the run is over."""

    def __init__(
        self, run: Run, started: Started, broadcast: Broadcast, log: Callable[[Run, int, str], None]
    ) -> None:
        super().__init__(run, broadcast)
        self.stopping = False
        self._log = log
        self._blocks: dict[tuple[int, str], Blocks] = {}
        self._calls: dict[int, int] = {}
        self._texts: dict[int, list[str]] = {}
        self._timed_steps: set[int] = set()
        self._delta_start = f'{{"run":"{self.public}","seq":'
        self._emit_event(started)

    @property
    def words(self) -> int:
        """Number of words of the newest step that has text."""
        return len("".join(next(iter(reversed(self._texts.values())), [])).split())

    def emit(self, event: type[RunEvent], /, **fields: Any) -> None:
        """A lone surrogate in a provider's text has no form in an event."""
        told = {
            name: well_formed(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        self._emit_event(event(run=self.public, seq=len(self.wires), **told))

    def finish(self, finished: Finished) -> None:
        """Adds the last event, which `recorder` has numbered and logged."""
        self.extend([finished.wire()], is_over=True)

    def show(self, step: int, view: ChunkView, thought_ms: float | None = None) -> None:
        """Emits text at once, and a markdown block as HTML while it grows and when it closes.

        `thought_ms` is the thinking time of this step.
        """
        for kind, text in view.deltas:
            self._emit_delta(step, kind, text)
            if kind == "text":
                self._texts.setdefault(step, []).append(text)
            self._add_text(step, kind, text)
        for call in view.calls:
            self._emit_call(step, call)
        if thought_ms is not None and view.has_answer and step not in self._timed_steps:
            self._timed_steps.add(step)
            self.emit(Thought, step=step, words=thinking_words(thought_ms))

    def show_status(self, text: str) -> None:
        self.emit(Status, text=text)

    def show_files(self, step: int, html: str) -> None:
        """Shows images and other files of a step, whose turn is stored."""
        if html:
            self.emit(Block, step=step, kind="text", html=html, chars=0)

    def close_text(self, step: int) -> None:
        """Closes the open markdown blocks of an exchange."""
        for (of_step, kind), blocks in self._blocks.items():
            if of_step == step:
                self._emit_closed(step, kind, blocks.close())

    def show_result(
        self, step: int, call: FunctionCall, response: dict[str, Any], *, failed: bool, ms: float
    ) -> None:
        self.emit(
            Result,
            step=step,
            index=call.index,
            response=readable(response),
            failed=failed,
            ms=round(ms, 1),
        )

    def _emit_event(self, event: Started | RunEvent) -> None:
        self._emit_wire(event.wire())

    def _emit_delta(self, step: int, kind: str, text: str) -> None:
        """As `emit(Delta, …)`, from pieces: there is one for every chunk."""
        text = dumps(well_formed(text)).decode()
        head = f'{self._delta_start}{len(self.wires)},"type":"delta"'
        self._emit_wire(f'{head},"step":{step},"kind":"{kind}","text":{text}}}')

    def _emit_wire(self, wire: str) -> None:
        seq = len(self.wires)
        self.extend([wire])
        self._log(self.run, seq, wire)

    def _add_text(self, step: int, kind: str, text: str) -> None:
        blocks = self._blocks.setdefault((step, kind), Blocks(f"{self.public}-{step}-{kind}-"))
        self._emit_closed(step, kind, blocks.feed(text))
        for piece in blocks.preview():
            self.emit(
                Open, step=step, kind=kind, html=piece.html, chars=piece.chars, is_settled=piece.is_settled
            )

    def _emit_closed(self, step: int, kind: str, closed: Iterable[Closed]) -> None:
        for block in closed:
            self.emit(Block, step=step, kind=kind, html=block.html, chars=block.chars)

    def _emit_call(self, step: int, call: FunctionCall) -> None:
        self.emit(
            Call,
            step=step,
            index=self._count_call(step),
            name=call.name,
            args=readable(call.args),
            title=tool_title(call.name),
            brief=call_brief(call.args),
        )

    def _count_call(self, step: int) -> int:
        index = self._calls.get(step, 0)
        self._calls[step] = index + 1
        return index


class RemoteRun(RunStream):
    """A run of another process, read from its log."""

    def read(self) -> "list[RunLog]":
        """The rows of the log beyond the last event. Reads the database."""
        return list(RunLog.objects.after(self.run.pk, self.last))

    def take(self, rows: Iterable[RunLog], *, is_over: bool) -> None:
        """Adds new events; rows may overlap when a process died between two flushes."""
        for row in rows:
            self.extend(row.wires[self.last + 1 - row.seq_from :])
        if is_over and not self.is_over:
            self.extend([], is_over=True)
