"""The events of one run: of this process (`LiveRun`), and of another (`RemoteRun`)."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from sessions_app.events import Ask, Block, Call, Finished, Result, RunEvent, Started, Status, Thought
from sessions_app.markup import Blocks, Closed
from sessions_app.models import Run, RunLog, Session, Turn
from sessions_app.panels import brief_of, tool_title
from sessions_app.prompt.calls import FunctionCall
from sessions_app.prompt.reply import ChunkView
from sessions_app.prompt.wire import readable, well_formed
from sessions_app.runs.first_request import Created
from sessions_app.runs.parking import Parked
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.runs.request import FirstRequest
from sessions_app.tools import Toolbox
from sessions_app.wording import provider_tools

RenderFiles = Callable[[Session, Turn], str]
"""The files of a turn as HTML of the transcript; empty without files. Reads the database."""


class Broadcast:
    """Wakes all tasks that wait, except those whose news went out without them."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], Callable[[], bool]] = {}

    def wake_all(self) -> None:
        for waiter, serve in list(self._waiting.items()):
            if waiter.done():
                continue
            try:
                if not serve():
                    waiter.set_result(None)
            except Exception as error:  # noqa: BLE001 (raised where the viewer waits, not where the news is)
                waiter.set_exception(error)

    async def wait(self, serve: Callable[[], bool] = lambda: False) -> None:
        """Until there is news. `serve` is asked first, where it is made: True lets the task sleep on."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[waiter] = serve
        try:
            await waiter
        finally:
            del self._waiting[waiter]


class StreamNode:
    """A node in the linked list of a session's runs. Runs that all viewers have passed are freed."""

    def __init__(self) -> None:
        self.next: RunStream | None = None


class RunStream(StreamNode):
    """The events of one run as JSON, indexed by `seq`."""

    def __init__(self, run: Run, broadcast: Broadcast) -> None:
        super().__init__()
        self.run = run
        self.replaced_by: RunStream | None = None
        """The stream that has the same events and those that follow, when another process goes on with it."""
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

    begun: Created | None = None
    """The run as it was stored, with its session and first request, until the engine takes them."""

    first: FirstRequest | None = None
    """What its further requests keep of its first one."""

    holding: "asyncio.Task[None] | None" = None
    """Extends the cache that the requests of the run name, until the run is over."""

    parked: Parked | None = None
    """Where it goes on, if it has waited for a person."""

    toolbox: Toolbox | None = None
    """Its tools, which stay the same until it is over."""

    def __init__(
        self,
        run: Run,
        started: Started | None,
        broadcast: Broadcast,
        log: Callable[[Run, int, str], None],
        *,
        wires: Iterable[str] = (),
    ) -> None:
        """`wires` are the events of a run that goes on, which are logged; it has begun."""
        super().__init__(run, broadcast)
        self.wires.extend(wires)
        self.stopping = False
        self._log = log
        self._blocks: dict[tuple[int, str], Blocks] = {}
        self._calls: dict[int, int] = {}
        self._texts: dict[int, list[str]] = {}
        self._timed_steps: set[int] = set()
        self._start = f'{{"run":"{self.public}","seq":'
        if started is not None:
            self._add_wire(started.wire())
            broadcast.wake_all()

    @property
    def words(self) -> int:
        """Number of words of the newest step that has text."""
        return len("".join(next(iter(reversed(self._texts.values())), [])).split())

    def emit(self, event: type[RunEvent], /, **fields: Any) -> None:
        """Adds an event and wakes the viewers. Lone surrogates of a text become U+FFFD."""
        self._add(event, **fields)
        self._broadcast.wake_all()

    def finish(self, finished: Finished) -> None:
        """Adds the last event, which `recorder` has numbered and logged."""
        self.extend([finished.wire()], is_over=True)

    def show(self, step: int, view: ChunkView, thought_ms: float | None = None) -> None:
        """Emits text at once, and a markdown block as HTML while it grows and when it closes.

        `thought_ms` is the thinking time of this step.
        """
        for kind, text in view.deltas:
            self._add_delta(step, kind, text)
            if kind == "text":
                self._texts.setdefault(step, []).append(text)
            self._add_text(step, kind, text)
        for call in view.calls:
            self._add_call(step, call)
        for used in view.uses:
            self._add(Status, text=provider_tools.using(used))
        if thought_ms is not None and view.has_answer and step not in self._timed_steps:
            self._timed_steps.add(step)
            self._add(Thought, step=step, words=thinking_words(thought_ms))
        # Once: what a chunk brings travels together.
        self._broadcast.wake_all()

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
                self._add_closed(step, kind, blocks.close())
        self._broadcast.wake_all()

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

    def show_ask(self, step: int, call: FunctionCall, title: str, server: str, expires_at: datetime) -> None:
        self.emit(
            Ask,
            step=step,
            index=call.index,
            title=title,
            server=server,
            args=readable(call.args),
            expires_at=expires_at.isoformat(),
        )

    def _add(self, event: type[RunEvent], /, **fields: Any) -> None:
        told = {
            name: well_formed(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        self._add_wire(event(run=self.public, seq=len(self.wires), **told).wire())

    def _add_delta(self, step: int, kind: str, text: str) -> None:
        self._add_pieces(f'"delta","step":{step},"kind":"{kind}","text":{_quoted(text)}')

    def _add_pieces(self, fields: str) -> None:
        """As `_add`, from pieces: these events come with every chunk. `fields` are those from the type on."""
        self._add_wire(f'{self._start}{len(self.wires)},"type":{fields}}}')

    def _add_wire(self, wire: str) -> None:
        seq = len(self.wires)
        self.wires.append(wire)
        self._log(self.run, seq, wire)

    def _add_text(self, step: int, kind: str, text: str) -> None:
        blocks = self._blocks.get((step, kind))
        if blocks is None:
            blocks = self._blocks[step, kind] = Blocks(f"{self.public}-{step}-{kind}-")
        self._add_closed(step, kind, blocks.feed(text))
        for piece in blocks.preview():
            html, is_settled = _quoted(piece.html), "true" if piece.is_settled else "false"
            self._add_pieces(
                f'"open","step":{step},"kind":"{kind}","html":{html},"chars":{piece.chars},'
                f'"is_settled":{is_settled}'
            )

    def _add_closed(self, step: int, kind: str, closed: Iterable[Closed]) -> None:
        for block in closed:
            html = _quoted(block.html)
            self._add_pieces(f'"block","step":{step},"kind":"{kind}","html":{html},"chars":{block.chars}')

    def _add_call(self, step: int, call: FunctionCall) -> None:
        self._add(
            Call,
            step=step,
            index=self._count_call(step),
            name=call.name,
            args=readable(call.args),
            title=(self.toolbox.title_of(call.name) if self.toolbox else "") or tool_title(call.name),
            brief=brief_of(call.name, call.args),
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


def _quoted(text: str) -> str:
    """As JSON, which is always well-formed."""
    return readable(text, indent=False)
