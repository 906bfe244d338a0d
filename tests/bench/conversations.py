"""Conversations in rows for `bench assembly` and `bench inspector`, made by the pipeline of a run.

No model is asked; the text is random, and packs about as well as what people write.
"""

import base64
import os
import uuid
from datetime import timedelta
from functools import cache
from time import thread_time
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import capabilities_of
from sessions_app.gemini.routes import route_to
from sessions_app.models import CacheEntry, Exchange, RawChunk, Run, Session
from sessions_app.models.branches import copy_branch_below, substitute
from sessions_app.panels import TOOLBOX
from sessions_app.prompt import wire
from sessions_app.prompt.caching import CacheAction
from sessions_app.prompt.turns import Turn, TurnKind, user_task
from sessions_app.runs.recorder import record_reply
from sessions_app.runs.reply_progress import ReplyProgress
from sessions_app.runs.request import Endpoint, PreparedRequest, prepare
from sessions_app.runs.start import start_send

MODEL = "gemini-3-flash-preview"
QUESTION, ANSWER, SIGNATURE = 240, 1_400, 600
"""Bytes."""

CHUNKS = 8
"""Text chunks of an answer."""

USAGE = {"promptTokenCount": 9_000, "cachedContentTokenCount": 6_000, "candidatesTokenCount": 350}


@cache
def endpoint() -> Endpoint:
    """The endpoint that requests are prepared for; none is sent."""
    return Endpoint.of(Gateway.to_emulator(EmulatorTransport(Emulator())))


def own_route() -> str:
    """The route whose signatures the prepared requests carry."""
    return route_to(endpoint().route, capabilities_of(MODEL).family)


def new_session(owner: User, *, background: int = 0, **settings: Any) -> Session:
    """An empty session with so many bytes of background in its static layer."""
    return Session.objects.create(
        owner=owner, model=MODEL, title="Bench", background=text(background), settings=settings
    )


def add_turns(
    session: Session, count: int, *, question: int, answer: int, signature: int, route: str
) -> None:
    """Questions and answers of so many bytes in turn, by three statements and without exchanges.

    The answers are signed, with signatures of `route`.
    """
    rows = []
    for place in range(count):
        if place % 2:
            part = {"text": text(answer), "thoughtSignature": signed(signature)}
            value = Turn("", TurnKind.MODEL_RESPONSE, wire.dumps({"role": "model", "parts": [part]}))
            rows.append(substitute(session, value, route=route))
        else:
            rows.append(substitute(session, user_task("", text(question))))
    copy_branch_below(session, None, rows)


@transaction.atomic
def add_exchanges(session: Session, count: int, *, question: int = QUESTION, answer: str = "") -> None:
    """So many messages with their requests and answers, as runs would have stored them.

    Without `answer` each has random words.
    """
    for _ in range(count):
        run, draft, _ = prepare_request(session, text(question))
        _answer(draft, answer)
        run.end(Run.Status.COMPLETED)
        if draft.plan.action is CacheAction.CREATE:
            cache_static_layer(draft.exchange)


def prepare_request(session: Session, message: str) -> tuple[Run, PreparedRequest, float]:
    """A run for a new message, its recorded request, and the ms of CPU that preparing took."""
    run = start_send(session.pk, uuid.uuid4(), message, "bench")
    assert run is not None
    began = thread_time()
    draft = prepare(run, 1, endpoint(), TOOLBOX)
    return run, draft, (thread_time() - began) * 1000


def cache_static_layer(exchange: Exchange) -> None:
    """Stores a cache entry as if the exchange's static layer had been cached at the provider."""
    CacheEntry.objects.claim(exchange.fingerprint, model=exchange.model, route=exchange.route)
    CacheEntry.objects.remember(
        exchange.fingerprint,
        name=f"cachedContents/{exchange.pk}",
        tokens=6_000,
        expires=timezone.now() + timedelta(hours=1),
    )


def text(size: int) -> str:
    """Words of `size` bytes in all; "taxi" is among them, so that a search finds every turn."""
    letters = base64.b32encode(os.urandom(size * 5 // 16)).decode().lower().replace("a", " ")
    return f"taxi {letters * 2}"[:size]


def signed(size: int) -> str:
    return base64.b64encode(os.urandom(size * 3 // 4)).decode()


def _answer(draft: PreparedRequest, words: str) -> None:
    words = words or text(ANSWER)
    size = -(-len(words) // CHUNKS)
    parts = [{"text": words[start : start + size]} for start in range(0, size * CHUNKS, size)]
    parts.append({"text": "", "thoughtSignature": signed(SIGNATURE)})
    heard, rows = ReplyProgress(draft.exchange.dialect), []
    for seq, part in enumerate(parts):
        candidate = {"content": {"role": "model", "parts": [part]}}
        if seq == CHUNKS:
            candidate["finishReason"] = "STOP"  # type: ignore[assignment]
        body = wire.dumps({"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": MODEL})
        ms = 400.0 + 60 * seq
        heard.take(ms, body)
        rows.append(RawChunk(exchange=draft.exchange, seq=seq, ms=ms, body=body))
    RawChunk.objects.bulk_create(rows)
    record_reply(draft, heard.folder.reply(), 900.0, heard)
