"""One conversation under one way of caching, through the gateway to an emulator of its own.

Requests are built, planned and rolled by the product's own pure core; what was cached is what the
emulator counted (`cachedContentTokenCount`), never what a strategy hoped for. The clock is the replay's.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from sessions_app.bench.cost_script import TOOL, TURN_SECONDS, Turn, brief, volatile
from sessions_app.bench.cost_ways import Kept, Sight, Way
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.scripts import Ask, Scene, Script
from sessions_app.gemini.capabilities import Capabilities, capabilities_of
from sessions_app.gemini.gateway import Gateway
from sessions_app.prompt.caching import CacheFacts, CachePlan, fingerprint, plan
from sessions_app.prompt.detach import Thresholds, chunk_text, cuts
from sessions_app.prompt.layers import HistoryChunk, Layer, Layers, StaticSources, build_layers
from sessions_app.prompt.pace import Seen
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import GenerationConfig, assemble, cacheable, static_tokens
from sessions_app.prompt.reply import Reply, fold
from sessions_app.prompt.strategy import Strategy
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Answer, TurnKind, tool_response, user_task
from sessions_app.prompt.turns import Turn as TurnValue

BEGAN = datetime(2026, 11, 21, 9, tzinfo=UTC)
STEP_SECONDS = 5
"""Between a tool's answer and the request that carries it."""


@dataclass
class Tally:
    """What a conversation used: tokens, and token-hours of storage."""

    requests: int = 0
    prompt: int = 0
    cached: int = 0
    created: int = 0
    caches: int = 0
    stored: float = 0.0


@dataclass
class State:
    """Where a conversation stands."""

    turns: list[TurnValue] = field(default_factory=list)
    chunks: tuple[HistoryChunk, ...] = ()
    kept: dict[str, Kept] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it was planned."""

    plan: CachePlan
    layers: Layers
    chosen: Strategy


class Replay:
    """A conversation from its first message to the death of its last cache."""

    def __init__(self, model: str, way: Way) -> None:
        self.tally = Tally()
        self._now = BEGAN
        self._script = Script()
        self._model, self._way = model, way
        self._facts: Capabilities = capabilities_of(model)
        self._state = State()
        self._static: StaticSources = brief()
        emulator = Emulator(delay=0, clock=lambda: self._now, play=self._play)
        self._gateway = Gateway.to_emulator(EmulatorTransport(emulator))

    async def run(self, turns: list[Turn]) -> Tally:
        for number, turn in enumerate(turns):
            self._now = BEGAN + timedelta(seconds=TURN_SECONDS * number)
            await self._take(number, turn)
        for kept in list(self._state.kept.values()):
            self._account(kept, kept.expires)
        await self._gateway.aclose()
        return self.tally

    async def _take(self, number: int, turn: Turn) -> None:
        self._state.turns.append(user_task(f"{number}-task", turn.task))
        if turn.subject:
            self._script = Script(calls=(Ask(TOOL["name"], {"subject": turn.subject}),))
            reply, _ = await self._ask(f"{number}-call", is_first=True)
            answers = [Answer(call, {"found": turn.result}) for call in reply.calls]
            self._state.turns.append(tool_response(f"{number}-result", answers))
            self._now += timedelta(seconds=STEP_SECONDS)
        self._script = Script(text=turn.answer)
        _, asked = await self._ask(f"{number}-answer", is_first=not turn.subject)
        await self._after(asked)

    async def _ask(self, key: str, *, is_first: bool) -> tuple[Reply, Asked]:
        chosen = self._way.choose(self._sight())
        if is_first:
            self._roll(chosen.before)
        layers = self._layers()
        if is_first and self._way.buys_first and self._way.is_due(self._sight()):
            await self._create(layers, chosen.lifetime)
        asked = self._plan(layers, chosen)
        payload = assemble(
            self._way.arrange(layers), GenerationConfig(), model=self._model, cached_content=asked.plan.name
        )
        async with self._gateway.stream(self._model, payload.body) as chunks:
            reply = fold([chunk.body async for chunk in chunks])
        self._note(reply, {layer.value: payload.tokens(layer) for layer in Layer}, asked.plan.name)
        kind = TurnKind.FUNCTION_CALLING if reply.calls else TurnKind.MODEL_RESPONSE
        self._state.turns.append(TurnValue(key, kind, reply.wire or b"", self._gateway.route))
        return reply, asked

    async def _after(self, asked: Asked) -> None:
        """What the product does when an answer is over."""
        if asked.plan.action == "create":
            await self._create(asked.layers, asked.chosen.lifetime)
        elif asked.plan.action == "extend":
            await self._extend(asked.plan.name, asked.chosen.lifetime)
        if self._way.explicit and self._roll(asked.chosen.after):
            await self._create(self._layers(), asked.chosen.lifetime)

    def _plan(self, layers: Layers, chosen: Strategy) -> Asked:
        kept = self._state.kept.get(self._print_of(layers))
        facts = CacheFacts(
            self._facts.explicit_minimum if self._way.explicit else None,
            name=kept.name if kept else "",
            expires=kept.expires if kept else None,
            lifetime=chosen.lifetime,
        )
        decided = plan(static_tokens(layers), facts, self._now)
        if self._way.buys_first and decided.action == "create":
            decided = CachePlan("none", "", decided.reason)
        return Asked(decided, layers, chosen)

    def _layers(self) -> Layers:
        static = replace(self._static, history=self._state.chunks)
        number = self.tally.requests
        panel = Panel("state", "State", volatile(number), BEGAN + timedelta(seconds=number))
        hour = self._now.replace(minute=0, second=0)
        trigger_last = self._state.turns
        if trigger_last[-1].kind is TurnKind.MODEL_RESPONSE:
            # After an answer only the static layer is wanted; a trigger stands in for the next one.
            trigger_last = [*trigger_last, user_task("next", "…")]
        return build_layers(static, [panel], hour, trigger_last, [TOOL])

    def _roll(self, thresholds: Thresholds) -> bool:
        state = self._state
        places = cuts(state.turns, thresholds)
        start = 0
        for end in places:
            text = chunk_text(state.turns[start:end])
            chunk = HistoryChunk(str(len(state.chunks)), text, estimate(text))
            state.chunks, start = (*state.chunks, chunk), end
        del state.turns[:start]
        return bool(places)

    async def _create(self, layers: Layers, lifetime: timedelta) -> None:
        """A new cache; the ones it replaces are deleted once it lives."""
        made = await self._gateway.create_cache(
            model=self._model,
            contents_and_tools=cacheable(layers),
            ttl_seconds=round(lifetime.total_seconds()),
            display_name="bench",
        )
        for old in list(self._state.kept.values()):
            self._account(old, min(self._now, old.expires))
            if old.expires > self._now:
                await self._gateway.delete_cache(old.name)
        expires = self._now + lifetime
        self._state.kept = {self._print_of(layers): Kept(made.name, made.tokens, self._now, expires)}
        self.tally.created += made.tokens
        self.tally.caches += 1

    async def _extend(self, name: str, lifetime: timedelta) -> None:
        await self._gateway.extend_cache(name, round(lifetime.total_seconds()))
        for key, kept in self._state.kept.items():
            if kept.name == name:
                self._state.kept[key] = replace(kept, expires=self._now + lifetime)

    def _account(self, kept: Kept, end: datetime) -> None:
        self.tally.stored += kept.tokens * (end - kept.made).total_seconds() / 3_600

    def _note(self, reply: Reply, layers: dict[str, int], cache_name: str) -> None:
        usage = reply.usage
        self.tally.requests += 1
        self.tally.prompt += usage.prompt
        self.tally.cached += usage.cached
        seen = Seen(self._now, self._gateway.route, usage.prompt, usage.cached, cache_name, layers)
        self._state.seen = [*self._state.seen[-7:], seen]

    def _sight(self) -> Sight:
        return Sight(tuple(self._state.seen), self.tally.requests, self._gateway.route)

    def _print_of(self, layers: Layers) -> str:
        return fingerprint(self._gateway.route, self._model, layers.static_text, layers.declarations)

    def _play(self, scene: Scene) -> Script:
        return self._script
