"""History rolls over after an answer: the longer static layer is cached before any request needs it.

A request that rolled for itself would send the whole new prefix inline and have it cached afterwards:
twice the price, and the person waits for it. So the chunk is written only once its cache lives, and
until then every request goes on with the old one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asgiref.sync import sync_to_async
from django.db import transaction

from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, HistoryChunk, Turn
from sessions_app.prompt import layers
from sessions_app.prompt.caching import fingerprint
from sessions_app.prompt.detach import chunk_text, cuts
from sessions_app.prompt.layers import Layer, render_static
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.runs.draft import Draft
from sessions_app.runs.keeping import Wanted, follow_plan, join, make


@dataclass(frozen=True, slots=True)
class Roll:
    """The next static layer: the turns of each new chunk, the chunk they follow, and the cache to make."""

    parent: int | None
    pieces: tuple[tuple[TurnValue, ...], ...]
    wanted: Wanted


async def keep_cache(gateway: Gateway, draft: Draft) -> None:
    """All that is done about caches after an answer."""
    await follow_plan(gateway, draft)
    await roll_over(gateway, draft)


async def roll_over(gateway: Gateway, draft: Draft) -> bool:
    """Moves history into the static layer if it is time; answers whether it did."""
    # Most answers end here, without a query: the buffer holds all that could move.
    if draft.payload.tokens(Layer.BUFFERED) < draft.work.strategy.after.chunk_tokens:
        return False
    roll = await sync_to_async(next_roll)(draft)
    if roll is None or not (await make(gateway, roll.wanted) or await sync_to_async(_is_kept)(roll)):
        return False
    await sync_to_async(_write)(draft, roll)
    return True


def next_roll(draft: Draft) -> Roll | None:
    """What would move now; None when the thresholds keep everything."""
    work = draft.work
    turns, newest = Turn.objects.buffered(_head(draft))
    places = cuts(turns, work.strategy.after)
    if not places:
        return None
    pieces = _pieces(turns, places)
    history = (
        *HistoryChunk.objects.chain(newest),
        *(_chunk(number, piece) for number, piece in enumerate(pieces)),
    )
    static = render_static(replace(work.static, history=history))
    longer = replace(draft.layers, static=static)
    wanted = replace(
        Wanted.of(draft),
        fingerprint=fingerprint(work.route, draft.payload.model, longer.static_text, longer.declarations),
        layers=longer,
    )
    return Roll(newest, pieces, wanted)


def _head(draft: Draft) -> int | None:
    """The end of the branch in view now."""
    draft.work.session.refresh_from_db(fields=["head"])
    return draft.work.session.head_id


def _pieces(turns: Sequence[TurnValue], places: Sequence[int]) -> tuple[tuple[TurnValue, ...], ...]:
    return tuple(tuple(turns[start:end]) for start, end in zip((0, *places), places, strict=False))


def _chunk(number: int, turns: Sequence[TurnValue]) -> layers.HistoryChunk:
    """The chunk before it has a row; its key is not part of the text."""
    text = chunk_text(turns)
    return layers.HistoryChunk(f"next-{number}", text, estimate(text))


def _is_kept(roll: Roll) -> bool:
    """Whether another run made this very cache."""
    return CacheEntry.objects.live().filter(fingerprint=roll.wanted.fingerprint).exists()


@transaction.atomic
def _write(draft: Draft, roll: Roll) -> None:
    parent = roll.parent
    for turns in roll.pieces:
        parent = HistoryChunk.objects.freeze(draft.work.session, parent, turns, draft.work.cache_policy).pk
    join(roll.wanted)
