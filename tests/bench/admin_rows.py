"""Rows of an installation of 20 people for `bench admin`, written in bulk and as long as those of runs.

A quarter of them is one person's, since a list is dearest for somebody who has much.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from unittest.mock import patch

from django.contrib.auth.models import User
from django.db.models import Model
from django.utils import timezone

from sessions_app.models import (
    AuditEntry,
    Blob,
    Booking,
    Exchange,
    ExchangeAttempt,
    RawChunk,
    Run,
    Session,
    Turn,
)
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import MoneySource

PEOPLE, IN_SESSION, IN_RUN = 20, 20, 2
MODELS = ("gemini-3.8-flash", "gemini-3.5-flash", "gemini-2.5-pro")
ERRORS = {25: "RateLimited", 400: "QuotaExceeded", 9_000: "BadKey"}
"""One exchange of so many ended with it."""

DAYS = 35
"""Over which the exchanges are spread."""

BATCH = 1_000
MANIFEST = {"entries": [[n, "buffered", None, n, 0] for n in range(60)]}
STAGES = [{"stage": "layers", "ms": 1.5, "figures": {"items": 12, "tokens": 4_000}}] * 14
"""As long as those of a request of 60 items."""

TEXT = "It leaves at nine and is on time. " * 9

Row = TypeVar("Row", bound=Model)


class Installation:
    """Adds exchanges, each with what belongs to one: half of a run, a turn, a chunk and so on."""

    def __init__(self, exchanges: int) -> None:
        """`exchanges` is how many there will be in the end, over which the days are spread."""
        self.apart = timedelta(days=DAYS) / exchanges
        self.began = timezone.now() - timedelta(days=DAYS)
        self.written = 0
        self.people = User.objects.bulk_create(User(username=f"person-{n:02}") for n in range(PEOPLE))
        blobs = (Blob(owner=one, sha256=f"{one.pk:064}", size=one.pk, body=b"{}") for one in self.people)
        self.blobs = {blob.owner_id: blob for blob in Blob.objects.bulk_create(blobs)}

    def add(self, exchanges: int) -> None:
        """So many more, rounded up to whole sessions."""
        count = -(-exchanges // IN_SESSION)
        with times_as_given():
            for start in range(0, count, BATCH // IN_SESSION):
                self._add_sessions(min(BATCH // IN_SESSION, count - start))

    def _add_sessions(self, count: int) -> None:
        numbers = range(self.written, self.written + count * IN_SESSION)
        self.written += len(numbers)
        sessions = stored(map(self._session, numbers[::IN_SESSION]))
        runs = stored(
            self._run(sessions[at // IN_SESSION], n) for at, n in enumerate(numbers) if n % IN_RUN == 0
        )
        exchanges = stored(self._exchange(runs[at // IN_RUN], n) for at, n in enumerate(numbers))
        stored(map(self._turn, exchanges))
        stored(RawChunk(exchange=one, seq=0, ms=400, body=b"{}" * 90) for one in exchanges)
        stored(map(attempt_of, exchanges))
        stored(map(booking_of, exchanges))
        stored(map(entry_of, exchanges[::2]))

    def _at(self, number: int) -> datetime:
        return self.began + self.apart * number

    def _session(self, number: int) -> Session:
        place, at = number // IN_SESSION, self._at(number)
        return Session(
            owner=self.people[0 if place % 4 == 0 else place % PEOPLE],
            model=MODELS[place % 3],
            exchange_count=IN_SESSION,
            spent_usd=Decimal(place % 97) / 100,
            updated_at=at,
            created_at=at,
            deleted_at=at if place % 40 == 7 else None,
            archived_at=at if place % 30 == 9 else None,
        )

    def _run(self, session: Session, number: int) -> Run:
        kind, at = kind_of(number), self._at(number)
        return Run(
            session=session,
            client_id=uuid.uuid4(),
            status=Run.Status.FAILED if kind else Run.Status.COMPLETED,
            outcome=Outcome.FAILED if kind else Outcome.COMPLETE,
            error={"kind": kind, "code": 429} if kind else {},
            started_at=at,
            ended_at=at,
        )

    def _exchange(self, run: Run, number: int) -> Exchange:
        codes = list(VerdictCode)
        return Exchange(
            session=run.session,
            run=run,
            number=number % IN_SESSION + 1,
            step=number % IN_RUN + 1,
            model=run.session.model,
            request_sha256=f"{number:064}",
            request_size=4_000 + number % 999,
            manifest=MANIFEST,
            stages=STAGES,
            verdict=codes[number % len(codes)],
            outcome=run.outcome,
            error=run.error,
            usd=Decimal(number % 89) / 1_000,
            prompt_tokens=4_000 + number % 71,
            cached_tokens=number % 4_000,
            output_tokens=number % 300,
            first_chunk_ms=200 + number % 800,
            total_ms=900 + number % 5_000,
            started_at=run.started_at,
            ended_at=run.started_at,
        )

    def _turn(self, exchange: Exchange) -> Turn:
        owner, kind = exchange.session.owner_id, Turn.Kind.MODEL_RESPONSE
        return Turn(
            session=exchange.session,
            run=exchange.run,
            exchange=exchange,
            depth=exchange.number,
            kind=kind,
            content=self.blobs[owner],
            text=TEXT,
            created_at=exchange.started_at,
        )


def attempt_of(exchange: Exchange) -> ExchangeAttempt:
    status = 429 if exchange.error else 200
    return ExchangeAttempt(exchange=exchange, number=1, status=status, started_at=exchange.started_at)


def booking_of(exchange: Exchange) -> Booking:
    return Booking(
        owner_id=exchange.session.owner_id,
        session=exchange.session,
        exchange=exchange,
        day=exchange.started_at.date(),
        model=exchange.model,
        cause=SpendingCause.ANSWER.value,
        source=MoneySource.PROVIDER.value,
        usd=exchange.usd,
        prompt_tokens=exchange.prompt_tokens or 0,
    )


def entry_of(exchange: Exchange) -> AuditEntry:
    owner = exchange.session.owner
    return AuditEntry(
        at=exchange.started_at,
        action="signed_in",
        actor=owner.username,
        actor_key=owner.pk,
        person_key=owner.pk,
    )


def kind_of(number: int) -> str:
    """How the run of this exchange failed; the rarest kind first."""
    place = number // IN_RUN
    return next((kind for every, kind in sorted(ERRORS.items(), reverse=True) if place % every == 3), "")


def stored(rows: Iterable[Row]) -> Sequence[Row]:
    given = list(rows)
    return type(given[0])._default_manager.bulk_create(given) if given else []


@contextmanager
def times_as_given() -> Iterator[None]:
    """Rows keep the time of their beginning that they are made with."""
    columns = ((Run, "started_at"), (Exchange, "started_at"), (Turn, "created_at"), (Session, "created_at"))
    with ExitStack() as stack:
        for model, name in columns:
            field: Any = model._meta.get_field(name)
            stack.enter_context(patch.object(field, "auto_now_add", False))
        yield
