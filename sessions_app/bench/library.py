"""Stored sessions for `bench inspector`: made in bulk, with payloads assembled as a run assembles them."""

import random
import uuid
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from django.db.models import Max, Model
from django.utils import timezone

from sessions_app.bench.story import MODEL, ROUTE, STEP, Sent, Story
from sessions_app.models import Blob, Exchange, HistoryChunk, RawChunk, Run, Session, Source, Turn
from sessions_app.models.source import Manifest, ManifestEntry, layer_tokens
from sessions_app.prompt.payload import Item
from sessions_app.prompt.turns import text_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def build_session(owner: "User", exchanges: int, *, words: int = 40) -> Session:
    """A session of so many exchanges whose messages have so many words; rows only, nothing runs."""
    rng = random.Random(exchanges * 1000 + words)  # noqa: S311  data for a bench, not a secret
    session = Session.objects.create(owner=owner, title=f"{exchanges} exchanges", model=MODEL)
    story = Story(rng, words, timezone.now() - timedelta(days=7), _next(HistoryChunk))
    sent = list(story.tell(exchanges))
    keys = _keep_sources(session, sent)
    runs = Run.objects.bulk_create(
        Run(session=session, client_id=uuid.uuid4(), status=Run.Status.COMPLETED, ended_at=one.at)
        for one in sent
    )
    rows = Exchange.objects.bulk_create(
        _exchange(session, run, one, keys) for run, one in zip(runs, sent, strict=True)
    )
    _keep_turns(session, runs, rows, sent)
    _keep_chunks(session, story)
    RawChunk.objects.bulk_create(
        (
            RawChunk(exchange=row, seq=seq, ms=400.0 + 60 * seq, body=body)
            for row, one in zip(rows, sent, strict=True)
            for seq, body in enumerate(one.chunks)
        ),
        batch_size=1000,
    )
    for row, one in zip(rows, sent, strict=True):
        row.started_at = one.at
    Exchange.objects.bulk_update(rows, ["started_at"], batch_size=200)
    return session


def _next(model: type[Model]) -> int:
    """A primary key that no row has yet; the database is the bench's own."""
    return (model._default_manager.aggregate(last=Max("pk"))["last"] or 0) + 1


def _keep_chunks(session: Session, story: Story) -> None:
    turns = {str(turn.public): turn for turn in Turn.objects.filter(session=session, public__in=story.ends)}
    HistoryChunk.objects.bulk_create(
        HistoryChunk(
            pk=story.first_chunk + place,
            session=session,
            parent_id=story.first_chunk + place - 1 if place else None,
            last_turn=turns[key],
            name="Chat",
            content=turns[key].content,
            tokens=0,
            messages=STEP,
        )
        for place, key in enumerate(story.ends)
    )


def _identity(item: Item) -> tuple[str, str, str, str]:
    return (item.source, item.sha256, item.role, item.kind)


def _keep_sources(session: Session, sent: list[Sent]) -> dict[tuple[str, str, str, str], int]:
    items = {_identity(item): item for one in sent for item in one.payload.items}
    answers = [one.answer.wire for one in sent]
    blobs = _keep_blobs(session.owner_id, [*(item.wire for item in items.values()), *answers])
    rows = Source.objects.bulk_create(
        (Source.of(session, item, blobs[item.sha256]) for item in items.values()),
        batch_size=500,
    )
    return {identity: row.pk for identity, row in zip(items, rows, strict=True)}


def _keep_blobs(owner_id: int, bodies: list[bytes]) -> dict[str, int]:
    kept: dict[str, int] = {}
    for at in range(0, len(bodies), 100):
        kept |= Blob.objects.keep(owner_id, bodies[at : at + 100])
    return kept


def _exchange(session: Session, run: Run, one: Sent, keys: dict[tuple[str, str, str, str], int]) -> Exchange:
    payload = one.payload
    entries = [
        ManifestEntry(
            keys[_identity(item)],
            item.layer.value,
            item.lead.decode() if item.is_sent else None,
            item.content,
            item.part,
        )
        for item in payload.items
    ]
    manifest = Manifest(entries=entries, tail=payload.tail.decode())
    return Exchange(
        session=session,
        run=run,
        number=one.number,
        step=1,
        model=MODEL,
        served_model=MODEL,
        route=ROUTE,
        manifest=manifest.model_dump(mode="json"),
        request_sha256=payload.sha256,
        request_size=len(payload.body),
        layer_tokens=layer_tokens(payload.items),
        cache_name=payload.cached_content,
        verdict="hit" if payload.cached_content else "provider_miss",
        verdict_words=f"{6000 if payload.cached_content else 0:,} of 9,000 tokens came from the cache.",
        stages=[{"name": "check", "status": "ok", "came_in": "", "came_out": "", "details": [], "ms": 0.2}],
        usage={"promptTokenCount": 9000, "cachedContentTokenCount": 6000},
        prompt_tokens=9000,
        cached_tokens=6000 if payload.cached_content else 0,
        output_tokens=160,
        thought_tokens=one.number % 90,
        first_chunk_ms=400.0 + one.number % 50,
        total_ms=900.0 + one.number % 500,
        outcome="complete",
        finish_reason="STOP",
        ended_at=one.at + timedelta(seconds=2),
    )


def _keep_turns(session: Session, runs: list[Run], rows: list[Exchange], sent: list[Sent]) -> None:
    blobs = dict(Blob.objects.filter(owner=session.owner_id).values_list("sha256", "pk"))
    parent: int | None = None
    first = _next(Turn)
    turns: list[Turn] = []
    for run, row, one in zip(runs, rows, sent, strict=True):
        for value, exchange in ((one.question, None), (one.answer, row)):
            turn = Turn(pk=first + len(turns), session=session, parent_id=parent, depth=len(turns), run=run)
            turn.public, turn.kind, turn.route = uuid.UUID(value.key), value.kind.value, value.route
            turn.content_id, turn.exchange = blobs[sha256(value.wire).hexdigest()], exchange
            turn.text = text_of(value.wire)
            turns.append(turn)
            parent = turn.pk
        run.trigger = turns[-2]
    Turn.objects.bulk_create(turns, batch_size=500)
    Run.objects.bulk_update(runs, ["trigger"], batch_size=200)
    Session.objects.filter(pk=session.pk).update(head=parent, exchange_count=len(sent))
