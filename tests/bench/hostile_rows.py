"""Rows of `bench hostile` that no server would write: runs of a dead process whose chunks cannot be read."""

import uuid
from datetime import timedelta

from tests.bench.hostile_upstream import DEPTH
from tests.bench.processes import set_up_django

POISONED_ROWS = 50
SILENCE = timedelta(minutes=1)
"""Since the last heartbeat: the leases are over before the attack begins."""

PROCESS = "nobody"
BODY = b'{"candidates":[{"content":{"parts":' + b"[" * DEPTH + b"]" * DEPTH + b"}}]}"


def poison_rows(public: str) -> None:
    """For the owner of this session, in one transaction: one by one they take as long as the attack."""
    set_up_django()
    from django.db import transaction

    from sessions_app.models import Session

    owner = Session.objects.get(public=public).owner_id
    with transaction.atomic():
        for _ in range(POISONED_ROWS):
            _poison_one(owner)


def _poison_one(owner: int) -> None:
    from django.utils import timezone

    from sessions_app.models import Exchange, RawChunk, Run, Session

    session = Session.objects.create(owner_id=owner, model="gemini-3-flash-preview")
    run = Run.objects.create(
        session=session,
        client_id=uuid.uuid4(),
        status=Run.Status.RUNNING,
        process=PROCESS,
        heartbeat_at=timezone.now() - SILENCE,
    )
    exchange = Exchange.objects.create(
        session=session, run=run, number=1, step=1, model=session.model, request_size=0
    )
    RawChunk.objects.create(exchange=exchange, seq=0, ms=1.0, body=BODY)


def count_active_rows() -> int:
    """The runs among them that no process has ended."""
    from sessions_app.models import Run

    return Run.objects.active().filter(process=PROCESS).count()
