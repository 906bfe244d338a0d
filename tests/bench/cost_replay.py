"""One conversation under one caching method, through the gateway to an emulator of its own.

Requests are built, planned and rolled over by the product's own core; what was cached is what the emulator
counted (`cachedContentTokenCount`), never what a method hoped for. The clock is the replay's.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.scripted_reply import ScriptedCall, ScriptedReply
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import capabilities_of
from sessions_app.prompt.caching import CacheAction, CacheFacts, CachePlan, fingerprint, plan_cache
from sessions_app.prompt.calls import CallResponse
from sessions_app.prompt.detach import Thresholds, chunk_text, cuts
from sessions_app.prompt.layers import FrozenHistory, Layer, Layers, StaticSources, build_layers
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, assemble, cacheable, static_tokens
from sessions_app.prompt.reply import Reply, fold
from sessions_app.prompt.rollover import PastExchange
from sessions_app.prompt.strategy import Strategy
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn, TurnKind, tool_response, user_task

BEGAN = datetime(2026, 11, 21, 9, tzinfo=UTC)
TURN_SECONDS = 60
STEP_SECONDS = 5
"""Between a tool's answer and the request that carries it."""

REMEMBERED = 8
"""Newest requests that a method may look at, as in the product."""

STATIC_TOKENS, TASK_TOKENS, ANSWER_TOKENS = 22_000, 150, 400
CALL_TOKENS, RESULT_TOKENS, VOLATILE_TOKENS = 40, 200, 100
TOOL_EVERY = 3
SEED = 20_261_121

TOOL: dict[str, Any] = {
    "name": "look_up",
    "description": "Finds what is written about a subject.",
    "parameters": {"type": "object", "properties": {"subject": {"type": "string"}}},
}
SYLLABLES = [a + b for a in ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti") for b in ("n", "r", "la", "sto")]


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What one turn holds; `subject` and `result` are empty where no tool is called."""

    task: str
    answer: str
    subject: str = ""
    result: str = ""


def conversation(turns: int) -> Iterator[ScriptedTurn]:
    """The same words every time, with a tool call in each third turn."""
    rng = random.Random(SEED)
    for number in range(1, turns + 1):
        task, answer = words(rng, TASK_TOKENS), words(rng, ANSWER_TOKENS)
        if number % TOOL_EVERY:
            yield ScriptedTurn(task, answer)
        else:
            yield ScriptedTurn(task, answer, words(rng, CALL_TOKENS), words(rng, RESULT_TOKENS))


def static_sources() -> StaticSources:
    background = words(random.Random(SEED - 1), STATIC_TOKENS - 1_000)
    return StaticSources(purpose="Replay.", background=background, tools=(TOOL["name"],))


def volatile(number: int) -> str:
    """What the dynamic layer says before request `number`: never the same twice."""
    return words(random.Random(SEED + number), VOLATILE_TOKENS)


def words(rng: random.Random, tokens: int) -> str:
    """A text of this many tokens."""
    found: list[str] = []
    size, wanted = 0, 33 * tokens // 10
    while size < wanted:
        found.append("".join(rng.choices(SYLLABLES, k=3)))
        size += len(found[-1]) + 1
    text = " ".join(found)[:wanted].rstrip()
    return text + "." * (tokens - estimate(text))


@dataclass(frozen=True, slots=True)
class CachingMethod:
    """One way of caching. `choose` says, by the newest requests and their number, when history moves.

    `buys_at`: an explicit cache is made before the first request at which the buffer holds so many tokens;
    None: after the answer, as the product does.
    """

    name: str
    choose: Callable[[Sequence[PastExchange], int], Strategy]
    is_explicit: bool = False
    is_volatile_first: bool = False
    buys_at: int | None = None

    def arrange(self, layers: Layers) -> Layers:
        """The layers as this method sends them."""
        if self.is_volatile_first:
            return replace(layers, static=layers.dynamic, dynamic=layers.static)
        return layers


def buffered_tokens(seen: Sequence[PastExchange]) -> int:
    """Tokens of the last prompt that were in no cache and not volatile."""
    return seen[-1].prompt - seen[-1].cached - seen[-1].dynamic if seen else 0


@dataclass
class Tally:
    """What a conversation used: tokens, and token-hours of storage (`stored`)."""

    requests: int = 0
    prompt: int = 0
    cached: int = 0
    created: int = 0
    caches: int = 0
    stored: float = 0.0


@dataclass(frozen=True, slots=True)
class HeldCache:
    """The explicit cache at the provider."""

    name: str
    fingerprint: str
    tokens: int
    made: datetime
    expires: datetime


class Replay:
    """A conversation from its first message to the death of its last cache."""

    def __init__(self, model: str, method: CachingMethod) -> None:
        self.tally = Tally()
        self._model, self._method = model, method
        self._now = BEGAN
        self._script = ScriptedReply()
        self._static = static_sources()
        self._turns: list[Turn] = []
        self._seen: list[PastExchange] = []
        self._cache: HeldCache | None = None
        emulator = Emulator(delay=0, clock=lambda: self._now, play=lambda scene: self._script)
        self._gateway = Gateway.to_emulator(EmulatorTransport(emulator))

    async def run(self, turns: Sequence[ScriptedTurn]) -> Tally:
        for number, turn in enumerate(turns):
            self._now = BEGAN + timedelta(seconds=TURN_SECONDS * number)
            await self._play(number, turn)
        self._count_storage(until=None)
        await self._gateway.aclose()
        return self.tally

    async def _play(self, number: int, turn: ScriptedTurn) -> None:
        strategy = self._choose()
        self._turns.append(user_task(f"{number}-task", turn.task))
        self._roll(strategy.before)
        buys_at = self._method.buys_at
        if buys_at is not None and buffered_tokens(self._seen) >= buys_at:
            await self._create(strategy)
        if turn.subject:
            self._script = ScriptedReply(calls=(ScriptedCall(TOOL["name"], {"subject": turn.subject}),))
            reply = await self._ask(f"{number}-call", self._plan(strategy))
            answers = [CallResponse(call, {"found": turn.result}) for call in reply.calls]
            self._turns.append(tool_response(f"{number}-result", answers))
            self._now += timedelta(seconds=STEP_SECONDS)
            strategy = self._choose()
        self._script = ScriptedReply(text=turn.answer)
        planned, layers = self._plan(strategy), self._layers()
        await self._ask(f"{number}-answer", planned)
        await self._follow(planned, layers, strategy)

    async def _ask(self, key: str, planned: CachePlan) -> Reply:
        payload = assemble(
            self._method.arrange(self._layers()),
            GenerationConfig(),
            model=self._model,
            cached_content=planned.name,
        )
        async with self._gateway.stream(self._model, payload.body) as chunks:
            reply = fold([chunk.body async for chunk in chunks])
        kind = TurnKind.FUNCTION_CALLING if reply.calls else TurnKind.MODEL_RESPONSE
        self._turns.append(Turn(key, kind, reply.wire or b"", self._gateway.route))
        used, layers = reply.usage, {layer.value: payload.tokens(layer) for layer in Layer}
        seen = PastExchange(self._now, self._gateway.route, used.prompt, used.cached, planned.name, layers)
        self._seen = [*self._seen, seen][-REMEMBERED:]
        self.tally.requests += 1
        self.tally.prompt += used.prompt
        self.tally.cached += used.cached
        return reply

    async def _follow(self, planned: CachePlan, layers: Layers, strategy: Strategy) -> None:
        """What the product does about caches when an answer is over."""
        if planned.action is CacheAction.CREATE:
            await self._create(strategy, layers)
        elif planned.action is CacheAction.EXTEND and self._cache:
            await self._gateway.extend_cache(planned.name, round(strategy.lifetime.total_seconds()))
            self._cache = replace(self._cache, expires=self._now + strategy.lifetime)
        if self._method.is_explicit and self._roll(strategy.after):
            await self._create(strategy)

    def _choose(self) -> Strategy:
        return self._method.choose(self._seen, self.tally.requests)

    def _plan(self, strategy: Strategy) -> CachePlan:
        layers, cache = self._layers(), self._cache
        minimum = capabilities_of(self._model).explicit_minimum if self._method.is_explicit else None
        facts = CacheFacts(minimum, lifetime=strategy.lifetime)
        if cache and cache.fingerprint == self._fingerprint(layers):
            facts = replace(facts, name=cache.name, expires=cache.expires)
        planned = plan_cache(static_tokens(layers), facts, self._now)
        is_waived = self._method.buys_at is not None and planned.action is CacheAction.CREATE
        return replace(planned, action=CacheAction.NONE) if is_waived else planned

    def _layers(self) -> Layers:
        number = self.tally.requests
        panel = Panel("state", "State", volatile(number), BEGAN + timedelta(seconds=number))
        turns = self._turns
        if turns[-1].kind is TurnKind.MODEL_RESPONSE:
            # After an answer only the static layer is wanted; a trigger stands in for the next one.
            turns = [*turns, user_task("next", "…")]
        return build_layers(self._static, [panel], self._now.replace(minute=0, second=0), turns, [TOOL])

    def _roll(self, thresholds: Thresholds) -> bool:
        """Moves old turns into the static layer where the thresholds say so."""
        places = cuts(self._turns, thresholds)
        history = self._static.history
        for start, end in zip((0, *places), places, strict=False):
            text = chunk_text(self._turns[start:end])
            history = (*history, FrozenHistory(str(len(history)), text, estimate(text)))
        self._static = replace(self._static, history=history)
        del self._turns[: places[-1] if places else 0]
        return bool(places)

    async def _create(self, strategy: Strategy, layers: Layers | None = None) -> None:
        """A new cache of `layers`, by default of those now; the one it replaces is deleted once it lives."""
        layers = layers or self._layers()
        made = await self._gateway.create_cache(
            model=self._model,
            contents_and_tools=cacheable(layers),
            ttl_seconds=round(strategy.lifetime.total_seconds()),
            display_name="bench",
        )
        old, expires = self._cache, self._now + strategy.lifetime
        self._count_storage(until=self._now)
        if old and old.expires > self._now:
            await self._gateway.delete_cache(old.name)
        self._cache = HeldCache(made.name, self._fingerprint(layers), made.tokens, self._now, expires)
        self.tally.created += made.tokens
        self.tally.caches += 1

    def _count_storage(self, until: datetime | None) -> None:
        """Counts what holding the cache until its end took; `until` is when it is deleted, if before."""
        if self._cache:
            end = min(until or self._cache.expires, self._cache.expires)
            self.tally.stored += self._cache.tokens * (end - self._cache.made) / timedelta(hours=1)

    def _fingerprint(self, layers: Layers) -> str:
        return fingerprint(self._gateway.route, self._model, layers.static_text, layers.declarations)
