"""A run while it is going on: its events, and who waits for them."""

import asyncio
from typing import Any
from uuid import UUID

import orjson

from sessions_app.events import Block, Call, Delta, Finished, Result, Started, Status
from sessions_app.markup import Blocks
from sessions_app.models import Run
from sessions_app.prompt.reply import ChunkView
from sessions_app.prompt.turns import Call as FunctionCall

RunEvent = Started | Delta | Block | Call | Result | Status | Finished


class Pulse:
    """Wakes everyone who waits, once per beat."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()


class LiveRun:
    """The events of one run, index = `seq`; viewers read the list and wait for `pulse`."""

    def __init__(self, run: Run, started: Started, pulse: Pulse) -> None:
        self.run = run
        self.events: list[RunEvent] = [started]
        self.pulse = pulse
        self.stopping = False
        self._blocks: dict[tuple[int, str], Blocks] = {}
        self._calls: dict[int, int] = {}

    @property
    def public(self) -> UUID:
        return self.run.public

    @property
    def is_over(self) -> bool:
        return isinstance(self.events[-1], Finished)

    def emit(self, event: type[RunEvent], /, **fields: Any) -> None:
        self.events.append(event(run=self.public, seq=len(self.events), **fields))
        self.pulse.beat()

    def show(self, step: int, view: ChunkView) -> None:
        """Text leaves at once; a markdown block follows as HTML when it has closed."""
        for kind, text in view.deltas:
            if text:
                self.emit(Delta, step=step, kind=kind, text=text)
                self._emit_closed(step, kind, self._open_blocks(step, kind).feed(text))
        for call in view.calls:
            self.emit(Call, step=step, index=self._count_call(step), name=call.name, args=readable(call.args))

    def settle_text(self, step: int) -> None:
        """Closes what is still open at the end of an exchange."""
        for (of_step, kind), blocks in self._blocks.items():
            if of_step == step:
                self._emit_closed(step, kind, blocks.close())

    def show_result(self, step: int, call: FunctionCall, response: dict[str, Any], *, failed: bool, ms: float) -> None:
        self.emit(Result, step=step, index=call.index, response=readable(response), failed=failed, ms=round(ms, 1))

    def _open_blocks(self, step: int, kind: str) -> Blocks:
        return self._blocks.setdefault((step, kind), Blocks())

    def _emit_closed(self, step: int, kind: str, closed: Any) -> None:
        for block in closed:
            self.emit(Block, step=step, kind=kind, html=block.html, chars=block.chars)

    def _count_call(self, step: int) -> int:
        index = self._calls.get(step, 0)
        self._calls[step] = index + 1
        return index


def readable(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
