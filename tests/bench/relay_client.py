"""People who talk to a server, as `bench relay` measures them: they only read, and look for stamps.

`python -m tests.bench.relay_client` reads a ClientPlan on stdin and writes a LoadResult.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from pydantic import TypeAdapter

from tests.bench.fake_upstream import STAMP
from tests.bench.processes import run_module
from tests.bench.relay_adapters import Adapter, AnswerFailed, Conversation, adapter_of, module_path
from tests.bench.relay_load import RESULTS, Load, LoadResult, StreamTimer, run_load

CONNECTING = 16
"""Handshakes at once."""


@dataclass(frozen=True, slots=True)
class ClientPlan:
    """The adapter by name, addresses and process ids of the server, the load, a ticket for each stream."""

    adapter: str
    urls: list[str]
    pids: list[int]
    load: Load
    tickets: list[str]


PLANS = TypeAdapter(ClientPlan)


class ServedSystem:
    """A running server, used through an adapter by clients in a process of their own.

    With several addresses each stream takes the next one.
    """

    def __init__(
        self,
        name: str,
        adapter: str,
        urls: Sequence[str],
        pids: Sequence[int],
        inviting: Adapter | None = None,
    ) -> None:
        self.name = name
        self.pids = list(pids)
        self._adapter = adapter
        self._urls = list(urls)
        self._inviting = inviting or adapter_of(adapter)

    def measure(self, load: Load) -> LoadResult:
        """The people are new in every load, so that no history grows from one to the next."""
        tickets = self._inviting.invite(load.streams)
        plan = ClientPlan(self._adapter, self._urls, self.pids, load, tickets)
        given = PLANS.dump_json(plan)
        result = run_module("relay_client", given=given, limit=load.limit, **module_path())
        return RESULTS.validate_json(result)


async def measure(plan: ClientPlan) -> LoadResult:
    """Handshakes are not part of the measurement: everybody is connected first."""
    adapter, gate = adapter_of(plan.adapter), asyncio.Semaphore(CONNECTING)

    async def connected(number: int, ticket: str) -> Conversation:
        async with gate:
            return await adapter.connect(plan.urls[number % len(plan.urls)], ticket)

    timers = [StreamTimer(plan.load.chunks) for _ in plan.tickets]
    conversations = await asyncio.gather(*(connected(*one) for one in enumerate(plan.tickets)))
    streams = [
        (timer, partial(read_answer, conversation, timer, plan.load.message))
        for timer, conversation in zip(timers, conversations, strict=True)
    ]
    try:
        return await run_load(plan.load, plan.pids, streams)
    finally:
        await asyncio.gather(*(one.aclose() for one in conversations))


async def read_answer(conversation: Conversation, timer: StreamTimer, text: str) -> None:
    """Sends a message and reads until its answer is over."""
    fault = ""
    try:
        async with aclosing(conversation.ask(text)) as pieces:
            async for piece in pieces:
                now = time.monotonic_ns()
                for stamp in STAMP.finditer(piece):
                    timer.read(int(stamp[1]), now)
    except AnswerFailed as error:
        fault = str(error)
    timer.end(fault)


def main() -> None:
    plan = PLANS.validate_json(sys.stdin.buffer.read())
    sys.stdout.buffer.write(RESULTS.dump_json(asyncio.run(measure(plan))))


if __name__ == "__main__":
    main()
