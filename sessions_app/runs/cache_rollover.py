"""Rolls history over into the static layer after the final answer of a run.

The new history chunk is written only once a cache with it exists, in the transaction that names that cache.
Rolling over within a request would send the new prefix uncached and then cache it: twice the price, and a
slower answer. The cache before it is released when a run has used the new one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction
from django.utils import timezone

from sessions_app.database import database_sync_to_async
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, HistoryChunk, Turn
from sessions_app.prompt import layers
from sessions_app.prompt.caching import CacheAction, CachePlan, fingerprint, plan_cache
from sessions_app.prompt.detach import chunk_text, cuts
from sessions_app.prompt.layers import Layer, render_static
from sessions_app.prompt.payload import static_tokens
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.runs.cache_lifecycle import (
    CacheRequest,
    carry_out_plan,
    create_cache,
    link_session,
    lock_caches,
)
from sessions_app.runs.request import PreparedRequest


@dataclass(frozen=True, slots=True)
class HistoryRollover:
    """The turns of each new chunk, the key of the chunk before them, the cache with them and its plan."""

    parent: int | None
    pieces: tuple[tuple[TurnValue, ...], ...]
    request: CacheRequest
    plan: CachePlan

    @property
    def is_possible(self) -> bool:
        """Whether the cache of the longer layer lives, is being created, or may be created now."""
        return self.plan.action in {CacheAction.CREATE, CacheAction.MISS} or self.plan.is_hit


async def maintain_caches(gateway: Gateway, prepared: PreparedRequest) -> None:
    """Executes the cache plan, and rolls history over if it is due; not for a run aside.

    A cache of the shorter static layer is not created where the longer one takes its place at once.
    """
    if prepared.context.is_aside:
        return
    roll = await _due_rollover(prepared)
    if prepared.plan.action is not CacheAction.CREATE or roll is None or not roll.is_possible:
        await carry_out_plan(gateway, prepared)
    if roll is not None:
        await _roll_over(gateway, prepared, roll)


async def _due_rollover(prepared: PreparedRequest) -> HistoryRollover | None:
    # Most answers end here, without a query.
    if prepared.payload.tokens(Layer.BUFFERED) < prepared.built.caching.strategy.after.chunk_tokens:
        return None
    return await database_sync_to_async(next_rollover)(prepared)


async def _roll_over(gateway: Gateway, prepared: PreparedRequest, roll: HistoryRollover) -> None:
    switch = partial(_write_chunks, prepared, roll)
    if roll.plan.action is CacheAction.CREATE:
        await create_cache(gateway, roll.request, switch)
    # Another run created the same cache.
    elif roll.plan.is_hit:
        await database_sync_to_async(switch)(roll.request)


def next_rollover(prepared: PreparedRequest) -> HistoryRollover | None:
    """The rollover that is due; None below the thresholds."""
    context, built = prepared.context, prepared.built
    turns, newest, _ = Turn.objects.buffered(_current_head(prepared))
    places = cuts(turns, built.caching.strategy.after)
    if not places:
        return None
    pieces = _split(turns, places)
    history = (
        *HistoryChunk.objects.chain(newest),
        *(_unsaved_chunk(number, piece) for number, piece in enumerate(pieces)),
    )
    static = render_static(replace(built.assembled.static, history=history))
    longer = replace(prepared.layers, static=static)
    request = replace(
        CacheRequest.of(prepared),
        fingerprint=fingerprint(
            context.route, prepared.payload.model, longer.static_text, longer.declarations
        ),
        layers=longer,
    )
    return HistoryRollover(newest, pieces, request, _plan_of(prepared, request))


def _plan_of(prepared: PreparedRequest, request: CacheRequest) -> CachePlan:
    """The plan of a request with the longer static layer."""
    minimum = prepared.context.capabilities.explicit_minimum
    facts = CacheEntry.facts(request.fingerprint, route=request.route, model=request.model, minimum=minimum)
    facts = replace(facts, lifetime=request.lifetime)
    return plan_cache(static_tokens(request.layers), facts, timezone.now())


def _current_head(prepared: PreparedRequest) -> int | None:
    """The session's head, read again."""
    prepared.context.session.refresh_from_db(fields=["head"])
    return prepared.context.session.head_id


def _split(turns: Sequence[TurnValue], places: Sequence[int]) -> tuple[tuple[TurnValue, ...], ...]:
    return tuple(tuple(turns[start:end]) for start, end in zip((0, *places), places, strict=False))


def _unsaved_chunk(number: int, turns: Sequence[TurnValue]) -> layers.FrozenHistory:
    """A chunk as layers need it; the key is not part of its text."""
    text = chunk_text(turns)
    return layers.FrozenHistory(f"next-{number}", text, estimate(text))


@transaction.atomic
def _write_chunks(prepared: PreparedRequest, roll: HistoryRollover, request: CacheRequest) -> None:
    """Writes the chunks and links the session to their cache; neither when session or cache is gone.

    The earlier cache stays linked: a request that is being prepared may still find the earlier chunks.
    """
    lock_caches(request)
    if not link_session(request):
        return
    parent, session = roll.parent, prepared.context.session
    policy = prepared.built.caching.strategy.record.policy
    CacheEntry.objects.note_roll_over(request.fingerprint, request.by)
    for turns in roll.pieces:
        parent = HistoryChunk.objects.freeze(session, parent, turns, policy).pk
