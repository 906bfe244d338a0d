"""A provider that plays rounds of tools, tools that count what they do, and faults at chosen places."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import httpx2
import orjson
import pytest
from asgiref.sync import sync_to_async

from sessions_app.models import Run, Session, ToolCall, Turn
from sessions_app.models.tool_call import ToolCallQuerySet
from sessions_app.panels.kinds.todos import AddTodo
from sessions_app.prompt.history import violations
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs.runner import Runner
from sessions_app.runs.tool_rounds import ToolRound
from sessions_app.tools.toolbox import Tool, tool

Call = tuple[str, str]
"""The name of a tool, and the one argument that tells this call from the others."""

PLACES = ("begin", "begun", "ran", "kept", "answer")
"""Where a `Saboteur` ends a run."""

ERRORS = {"400": (400, "INVALID_ARGUMENT"), "503": (503, "UNAVAILABLE")}


class Crash(Exception):
    """Stands for whatever ends a run at the place where it is raised."""


class Tally:
    """What tools did outside the database."""

    def __init__(self) -> None:
        self.marks: Counter[str] = Counter()

    def tools(self) -> tuple[Tool, ...]:
        async def mark(key: str) -> dict[str, str]:
            """Does something that nothing undoes."""
            self.marks[key] += 1
            return {"marked": key}

        def look(key: str) -> dict[str, str]:
            """Reads."""
            return {"seen": key}

        return (tool(mark, "test", "Mark"), tool(look, "test", "Look"), AddTodo.as_tool("todos"))


class Rounds(httpx2.AsyncBaseTransport):
    """Answers with the calls of the round that comes next, after the last one with text.

    `fault` spoils every request until it is emptied: 400, 503, cut (in mid-text) or gone (no connection).
    """

    def __init__(self) -> None:
        self.rounds: Sequence[Sequence[Call]] = ()
        self.fault = ""
        self.fault_from = 0
        self.requests: list[dict[str, Any]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith(":streamGenerateContent"):
            return httpx2.Response(
                404, json={"error": {"code": 404, "status": "NOT_FOUND", "message": "No."}}
            )
        body = orjson.loads(await request.aread())
        self.requests.append(body)
        done = _rounds_done(body["contents"])
        if self.fault and done >= self.fault_from:
            return self._spoiled()
        calls = self.rounds[done] if done < len(self.rounds) else ()
        parts = [_call_part(call, signed=not index) for index, call in enumerate(calls)]
        return _stream(parts or [{"text": "All done.", "thoughtSignature": "c2lnbmVk"}])

    def _spoiled(self) -> httpx2.Response:
        if self.fault == "gone":
            raise httpx2.ConnectError("refused")
        if self.fault == "cut":
            return _stream([{"text": "I was about to say "}], finish="")
        code, status = ERRORS[self.fault]
        error = {"code": code, "status": status, "message": "Not now."}
        return httpx2.Response(code, json={"error": error})


def _rounds_done(contents: Sequence[dict[str, Any]]) -> int:
    """Rounds that are answered since the newest text of a user."""
    texts = [i for i, one in enumerate(contents) if one["role"] == "user" and "text" in one["parts"][-1]]
    later = contents[texts[-1] + 1 :]
    return sum("functionResponse" in one["parts"][0] for one in later)


def _call_part(call: Call, *, signed: bool) -> dict[str, Any]:
    name, key = call
    args = {"title" if name == "add_todo" else "key": key}
    return {"functionCall": {"name": name, "args": args}} | ({"thoughtSignature": "c2ln"} if signed else {})


def _stream(parts: Sequence[dict[str, Any]], finish: str = "STOP") -> httpx2.Response:
    candidate = {"content": {"role": "model", "parts": list(parts)}} | (
        {"finishReason": finish} if finish else {}
    )
    return httpx2.Response(200, content=b"data: %b\r\n\r\n" % orjson.dumps({"candidates": [candidate]}))


@dataclass(slots=True)
class Saboteur:
    """Ends the run at the `count`-th time a place is reached, once.

    Places: `begin` and `begun` (before and after a call is stored as begun), `ran` and `kept` (before and
    after its result is stored), `answer` (before the turn with the responses). `stop` stops the run there
    instead of breaking it.
    """

    place: str = ""
    count: int = 0
    stop: Callable[[], object] | None = None

    def reach(self, place: str) -> None:
        if place != self.place:
            return
        self.count -= 1
        if self.count >= 0:
            return
        self.place = ""
        if self.stop is None:
            raise Crash(place)
        self.stop()

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In place of the functions that write: what they do stays."""
        begin, finish, store = ToolCallQuerySet.begin, ToolRound.finish, ToolRound.store

        @wraps(begin)
        def begins(rows: Any, *args: Any) -> None:
            self.reach("begin")
            begin(rows, *args)
            self.reach("begun")

        @wraps(finish)
        def finishes(tool_round: Any, *args: Any) -> Any:
            self.reach("ran")
            response = finish(tool_round, *args)
            self.reach("kept")
            return response

        @wraps(store)
        def stores(tool_round: Any) -> Any:
            self.reach("answer")
            return store(tool_round)

        monkeypatch.setattr(ToolCallQuerySet, "begin", begins)
        monkeypatch.setattr(ToolRound, "finish", finishes)
        monkeypatch.setattr(ToolRound, "store", stores)


@dataclass(slots=True)
class Played:
    """A session that is played with faults."""

    runner: Runner
    session: Session
    provider: Rounds
    saboteur: Saboteur

    def stop_later(self) -> None:
        """Lets the saboteur stop the run instead of breaking it. Must be called in the loop."""
        loop = asyncio.get_running_loop()

        def cancel() -> None:
            for live in list(self.runner.live_runs.values()):
                self.runner.cancel(live)

        self.saboteur.stop = partial(loop.call_soon_threadsafe, cancel)

    async def send(self, text: str) -> Run:
        client_id = uuid.uuid4()
        await self.runner.send(self.session.pk, client_id, text)
        return await self._ended(client_id)

    async def resume(self, *, repeats: bool = False) -> Run:
        """Continues from the last tool responses of the branch."""
        turn = next(turn for turn in reversed(await self.branch()) if turn.kind == TurnKind.TOOL_RESPONSE)
        assert turn.run is not None
        client_id = uuid.uuid4()
        await self.runner.resume(self.session.pk, client_id, turn.run.public, turn.public, repeats=repeats)
        return await self._ended(client_id)

    async def _ended(self, client_id: uuid.UUID) -> Run:
        await self.runner.drain()
        return await Run.objects.select_related("trigger").aget(client_id=client_id)

    @sync_to_async
    def branch(self) -> list[Turn]:
        self.session.refresh_from_db()
        return Turn.objects.branch(self.session.head_id)

    async def responses(self) -> list[list[dict[str, Any]]]:
        """The responses of each round of the branch."""
        answered = [turn for turn in await self.branch() if turn.kind == TurnKind.TOOL_RESPONSE]
        return [[part.response["response"] for part in turn.parts if part.response] for turn in answered]

    async def broken_rules(self) -> list[str]:
        return [one.rule.value for one in violations([turn.value for turn in await self.branch()])]

    async def unknown(self) -> int:
        rows = ToolCall.objects.filter(turn__session=self.session).exclude(began_at=None, may_have_run=False)
        return await rows.filter(ended_at=None).acount()
