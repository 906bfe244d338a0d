"""Caching under a storm: whole runs before the emulator, with everything that a person, the provider and
the janitor may do between them. The law is read from what was stored, not from what a run remembers."""

import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

import httpx2
import orjson
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import RunError
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, Exchange, HistoryChunk, Session, Turn
from sessions_app.models.source import SentItem
from sessions_app.prompt import wire
from sessions_app.prompt.detach import chunk_text
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.repair import repair
from sessions_app.prompt.rollover import thresholds_for
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs import history_edits
from sessions_app.runs.cache_janitor import apply_requested_changes, reconcile
from sessions_app.runs.runner import Runner
from tests.factories import make_session
from tests.runs.running import running

LONG = "What do you make of it? " * 40
TOOLS = "Check the weather in Paris and London."


class Witness(EmulatorTransport):
    """The emulator's transport; remembers what every cache was made of, and every request's hash."""

    def __init__(self) -> None:
        super().__init__(Emulator(delay=0))
        self.kept: dict[str, dict[str, Any]] = {}
        self.sent: set[str] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body, response = await request.aread(), await super().handle_async_request(request)
        if request.url.path.endswith(":streamGenerateContent"):
            self.sent.add(sha256(body).hexdigest())
        if request.method == "POST" and request.url.path.endswith("/cachedContents"):
            made = await response.aread()
            self.kept[orjson.loads(made)["name"]] = orjson.loads(body)
            return httpx2.Response(response.status_code, headers=response.headers, content=made)
        return response


class Storm:
    """A session to which anything happens. `prints` outlives it: sessions may share fingerprints."""

    def __init__(self, session: Session, runner: Runner, witness: Witness, prints: dict[str, Any]) -> None:
        self.session, self.runner, self.witness, self.prints = session, runner, witness, prints
        self.checked = 0

    async def blow(self, what: str, where: int) -> None:
        deeds: dict[str, Callable[[int], Awaitable[object]]] = {
            "talk": self.talk,
            "tools": self.use_tools,
            "edit": self.edit,
            "retry": self.retry,
            "lose": self.lose,
            "tidy": self.tidy,
        }
        # What cannot be done here (no answer to shorten, half a round to fork) changes nothing.
        with suppress(RunError):
            if what in deeds:
                await deeds[what](where)
            else:
                await sync_to_async(getattr(self, what))(where)
        await self.runner.drain()
        await sync_to_async(self.check)()

    async def talk(self, where: int) -> None:
        await self.runner.send(self.session.pk, uuid.uuid4(), f"Task {where}. {LONG}")

    async def use_tools(self, where: int) -> None:
        await self.runner.send(self.session.pk, uuid.uuid4(), f"{TOOLS} {LONG}")

    async def edit(self, where: int) -> None:
        task = (await self.tasks())[where % len(await self.tasks())]
        await self.runner.edit(self.session.pk, uuid.uuid4(), task.public, f"Rather {where}. {LONG}")

    async def retry(self, where: int) -> None:
        task = (await self.tasks())[-1]
        if task.run is not None:
            await self.runner.retry(self.session.pk, uuid.uuid4(), task.run.public, task.public)

    async def lose(self, where: int) -> None:
        """The provider forgets every cache before its time."""
        for cache in await self.runner.gateway.list_caches():
            await self.runner.gateway.delete_cache(cache.name)

    async def tidy(self, where: int) -> None:
        await apply_requested_changes(self.runner.gateway)
        await reconcile(self.runner.gateway)

    async def tasks(self) -> list[Turn]:
        return await sync_to_async(self._tasks)()

    def _tasks(self) -> list[Turn]:
        found = [turn for turn in self._branch() if turn.kind == TurnKind.USER_TASK]
        if not found:
            raise RunError("Nothing was asked yet.")
        return found

    def _branch(self) -> list[Turn]:
        self.session.refresh_from_db()
        return Turn.objects.branch(self.session.head_id)

    def delete(self, where: int) -> None:
        doomed = self._branch()[where % max(1, len(self._branch())) :][:2]
        history_edits.delete_turns(self.session.pk, [turn.public for turn in doomed])

    def shorten(self, where: int) -> None:
        tasks = self._tasks()
        history_edits.shorten(self.session.pk, tasks[where % len(tasks)].public, f"Short {where}.")

    def compress(self, where: int) -> None:
        tasks = self._tasks()
        earlier = history_edits.turns_before(self._branch(), tasks[where % len(tasks)].public)
        if earlier:
            history_edits.compress(self.session.pk, earlier[0].public, earlier[-1].public, f"Before {where}.")

    def correct(self, where: int) -> None:
        answers = list(Turn.objects.filter(session=self.session, kind=TurnKind.MODEL_RESPONSE))
        if answers:
            history_edits.correct_answer(
                self.session.pk, answers[where % len(answers)].public, f"Rather {where}."
            )

    def switch(self, where: int) -> None:
        turns = list(Turn.objects.filter(session=self.session))
        if turns:
            history_edits.switch_branch(self.session.pk, turns[where % len(turns)].public)

    def fork(self, where: int) -> None:
        turns = self._branch()
        if turns:
            self.session, self.checked = (
                history_edits.fork_session(self.session.pk, turns[where % len(turns)].public),
                0,
            )

    def turn_off_tools(self, where: int) -> None:
        """Other tools are another fingerprint; back again it is the old one."""
        self.session.refresh_from_db()
        self.session.settings = {**self.session.settings, "tools": ["get_time"] if where % 2 else None}
        self.session.save(update_fields=["settings"])

    def check(self) -> None:
        """What was sent since the last look."""
        new = Exchange.objects.filter(session=self.session, number__gt=self.checked).order_by("number")
        for exchange in new:
            self.checked = exchange.number
            items = exchange.sent_items()
            assert exchange.is_faithful() and exchange.request_sha256 in self.witness.sent
            self._is_whole(items)
            self._is_kept(exchange, items)

    def _is_whole(self, items: list[SentItem]) -> None:
        """Chunks, then buffered turns, then the trigger: the branch, each turn once and in order."""
        sent = [
            item.source.name.removeprefix("turn:") for item in items if item.content and item.part is None
        ]
        trigger = Turn.objects.get(public=sent[-1])
        values = [turn.value for turn in Turn.objects.branch(trigger.pk)]
        told = wire.loads(static_text(items)).get("cached_history", [])
        chunks = [item.source.name.split(":")[1] for item in items if item.source.name.startswith("chunk:")]
        rows = HistoryChunk.objects.in_bulk(map(int, chunks))
        held = sum(row.messages for row in rows.values())
        assert len(told) == len(chunks) == len(set(chunks))
        assert "".join(told) == chunk_text(values[:held])
        assert sent == [turn.key for turn in repair(values[held:])[0]]
        assert {turn.key for turn in values[held:]} <= set(sent)

    def _is_kept(self, exchange: Exchange, items: list[SentItem]) -> None:
        """Equal fingerprints, equal bytes; what is marked as cached is what the cache was made of."""
        static = [item for item in items if item.layer is Layer.STATIC]
        text, tools = static_text(items), tools_of(items)
        assert self.prints.setdefault(exchange.fingerprint, (text, tools)) == (text, tools)
        cached = static if exchange.cache_name else []
        assert [item for item in items if item.is_cached] == cached
        if exchange.cache_name:
            held = self.witness.kept[exchange.cache_name]
            assert [part["text"] for part in held["contents"][0]["parts"]] == [text]
            assert held.get("tools") == (orjson.loads(tools) if tools else None)
            assert len(held["contents"]) == 1 and held["model"].endswith(exchange.model)


def static_text(items: list[SentItem]) -> str:
    """The static layer as the model reads it, from the stored pieces."""
    pieces = (item.wire for item in items if item.layer is Layer.STATIC and item.source.name != TOOLS_SOURCE)
    text: str = wire.loads(b'"' + b"".join(pieces) + b'"')
    return text


def tools_of(items: list[SentItem]) -> bytes:
    return b"".join(item.wire for item in items if item.source.name == TOOLS_SOURCE)


OFTEN = ("talk", "talk", "talk", "tools")
SELDOM = ("edit", "retry", "lose", "tidy", "delete", "shorten", "compress", "correct", "switch", "fork")
blows = st.tuples(st.sampled_from([*OFTEN, *OFTEN, *SELDOM, "turn_off_tools"]), st.integers(0, 9))


OTHER_TOOLS = [(what, 1) for what in ("talk", "talk", "turn_off_tools", "talk", "lose", "talk", "talk")]
BACK_AND_FORTH = [
    ("talk", 0),
    ("tools", 1),
    ("talk", 2),
    ("talk", 3),
    ("switch", 1),
    ("edit", 0),
    ("talk", 4),
]
"""What a few random storms might miss."""

QUICK_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without shrinking: each step of it is a whole conversation, and it took minutes."""


@pytest.fixture
def rolls_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred tokens are worth a roll; money would wait for thousands."""
    monkeypatch.setattr("sessions_app.prompt.strategy.explicit_tail", lambda *_: 500.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.implicit_tail", lambda *_: 500.0)
    monkeypatch.setattr("sessions_app.prompt.strategy.SEED", thresholds_for(400, 3))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("policy", ["adaptive", "seed"])
@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_every_turn_is_sent_once_and_a_cache_holds_what_the_manifest_says(
    alice: User, mode: str, policy: str
) -> None:
    prints: dict[str, Any] = {}
    witness = Witness()

    async def play(storm: list[tuple[str, int]]) -> None:
        chosen = {"cache_mode": mode, "cache_policy": policy}
        session = await sync_to_async(make_session)(alice, settings=chosen)
        async with running(Gateway.to_emulator(witness)) as runner:
            weather = Storm(session, runner, witness, prints)
            for what, where in storm:
                await weather.blow(what, where)

    @settings(max_examples=5, deadline=None, phases=QUICK_PHASES, suppress_health_check=list(HealthCheck))
    @example(storm=OTHER_TOOLS)
    @example(storm=BACK_AND_FORTH)
    @given(storm=st.lists(blows, min_size=5, max_size=12))
    def every_storm(storm: list[tuple[str, int]]) -> None:
        async_to_sync(play)(storm)

    every_storm()
    assert HistoryChunk.objects.exists()
    assert CacheEntry.objects.exists() is (mode == "explicit")
