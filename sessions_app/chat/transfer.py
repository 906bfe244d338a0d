"""Sessions as files: out as JSON or Markdown, in from JSON."""

import json
import uuid
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from pydantic import ValidationError

from sessions_app.chat import portable
from sessions_app.chat.portable import Export, PortableExchange, PortableRun, PortableSession, PortableTurn
from sessions_app.chat.transcript import Transcript
from sessions_app.errors import NotImportable
from sessions_app.models import Assistant, Blob, PromptText, Run, Session, SessionSettings, Turn
from sessions_app.models.blob import digest
from sessions_app.models.turn import MARKS
from sessions_app.prompt.turns import text_of

BATCH = 500
COLUMNS = {"title", "titled_by_hand", "purpose", "background", "args", "model"}


def export(session: Session) -> bytes:
    """The whole tree as JSON, in a constant number of queries."""
    turns = list(session.turns.select_related("content").order_by("pk"))
    publics = {turn.pk: turn.public for turn in turns}
    runs = list(session.runs.order_by("pk"))
    names = {run.pk: run.public for run in runs}
    return (
        Export(
            exported_at=timezone.now(),
            session=_session(session, publics),
            turns=[_turn(turn, publics, names) for turn in turns],
            runs=[_run(run, publics) for run in runs],
            exchanges=_exchanges(session, names),
        )
        .model_dump_json(indent=1)
        .encode()
    )


def markdown(session: Session) -> str:
    """The branch in view as a person reads it."""
    lines = [f"# {session.shown_title}", f"{session.model}, {session.created_at:%Y-%m-%d}"]
    whole = Transcript.whole(session.head)
    for view in whole.runs:
        lines += ["## You", *(f"*Attached: {file.title}*" for file in view.files), view.text]
        for step in view.steps:
            said = text_of(step.turn.wire)
            lines += ["## Gemini", said] if said else []
            lines += [_card(card.name, card.args, card.response) for card in step.cards]
    return "\n\n".join(lines) + "\n"


def _card(name: str, args: str, response: str) -> str:
    return f"Tool `{name}`:\n\n~~~json\n{args}\n~~~\n\n~~~json\n{response}\n~~~"


@transaction.atomic
def import_session(owner: User, body: bytes) -> Session:
    """A new session from an exported one. Raises NotImportable.

    Every turn keeps the route that made its signatures: elsewhere they are not sent. Runs come back as
    they ended, requests do not come back at all.
    """
    file = portable.read(body)
    session = _new_session(owner, file.session)
    runs = _add_runs(session, file)
    turns = _add_turns(session, file, runs)
    for run in file.runs:
        runs[run.key].trigger = turns.get(run.trigger) if run.trigger else None
    Run.objects.bulk_update(runs.values(), ["trigger"], batch_size=BATCH)
    if file.session.head is not None:
        session.advance(turns[file.session.head])
    return session


def _session(session: Session, publics: Mapping[int, UUID]) -> PortableSession:
    return PortableSession(
        title=session.title,
        titled_by_hand=session.titled_by_hand,
        purpose=session.purpose,
        background=session.background,
        roles=[role.name for role in session.roles.all()],
        procedure=session.procedure.name if session.procedure else "",
        assistant=session.assistant.name if session.assistant else "",
        model=session.model,
        settings=session.settings,
        args=session.args,
        head=publics.get(session.head_id or 0),
        created_at=session.created_at,
    )


def _turn(turn: Turn, publics: Mapping[int, UUID], runs: Mapping[int, UUID]) -> PortableTurn:
    return PortableTurn(
        key=turn.public,
        parent=publics.get(turn.parent_id or 0),
        content=turn.wire.decode(),
        run=runs.get(turn.run_id or 0),
        origin=publics.get(turn.origin_id or 0),
        created_at=turn.created_at,
        **turn.marks,
    )


def _run(run: Run, publics: Mapping[int, UUID]) -> PortableRun:
    return PortableRun(
        key=run.public,
        trigger=publics.get(run.trigger_id or 0),
        status=run.status,
        outcome=run.outcome,
        error=run.error,
        now=run.now,
        ended_at=run.ended_at,
        continuations=run.continuations,
    )


def _exchanges(session: Session, runs: Mapping[int, UUID]) -> list[PortableExchange]:
    names = PortableExchange.model_fields.keys() - {"run", "usd"}
    return [
        PortableExchange(
            run=runs[exchange.run_id],
            usd=None if exchange.usd is None else str(exchange.usd),
            **{name: getattr(exchange, name) for name in names},
        )
        for exchange in session.exchanges.defer("manifest", "stages", "notes")
    ]


def _new_session(owner: User, file: PortableSession) -> Session:
    try:
        settings = SessionSettings.model_validate(file.settings).model_dump(mode="json", exclude_unset=True)
    except ValidationError as error:
        raise NotImportable(
            f"The settings of this session cannot be read: {error.errors()[0]['msg']}.",
            hint="Remove `settings` from the file, or export it again.",
        ) from error
    texts = PromptText.objects
    session = Session.objects.create(
        owner=owner,
        settings=settings,
        procedure=texts.filter(kind=PromptText.Kind.PROCEDURE, name=file.procedure).first(),
        assistant=Assistant.objects.filter(name=file.assistant).first(),
        **_storable(file.model_dump(include=COLUMNS)),
    )
    session.roles.set(texts.filter(kind=PromptText.Kind.ROLE, name__in=file.roles))
    return session


def _storable(fields: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL refuses NUL, in text and in JSON alike."""
    kept: dict[str, Any] = json.loads(json.dumps(fields).replace("\\u0000", ""))
    return kept


def _add_runs(session: Session, file: Export) -> dict[UUID, Run]:
    over = {Run.Status.COMPLETED, Run.Status.STOPPED, Run.Status.FAILED, Run.Status.INTERRUPTED}
    rows = Run.objects.bulk_create(
        [
            Run(
                session=session,
                client_id=uuid.uuid4(),
                # A run that was going on elsewhere does not go on here.
                status=run.status if run.status in over else Run.Status.INTERRUPTED,
                outcome=run.outcome,
                error=_storable(run.error),
                now=run.now or timezone.now(),
                ended_at=run.ended_at,
                continuations=run.continuations,
            )
            for run in file.runs
        ],
        batch_size=BATCH,
    )
    return {run.key: row for run, row in zip(file.runs, rows, strict=True)}


def _add_turns(session: Session, file: Export, runs: Mapping[UUID, Run]) -> dict[UUID, Turn]:
    bodies = [turn.content.encode() for turn in file.turns]
    blobs: dict[str, int] = {}
    for start in range(0, len(bodies), BATCH):
        blobs |= Blob.objects.keep(session.owner_id, bodies[start : start + BATCH])
    depths = file.depths
    rows = Turn.objects.bulk_create(
        [
            Turn(
                session=session,
                depth=depths[turn.key],
                content_id=blobs[digest(body)],
                text=text_of(body).replace("\0", ""),
                run=runs.get(turn.run) if turn.run else None,
                **turn.model_dump(include=set(MARKS)),
            )
            for turn, body in zip(file.turns, bodies, strict=True)
        ],
        batch_size=BATCH,
    )
    made = {turn.key: row for turn, row in zip(file.turns, rows, strict=True)}
    for turn in file.turns:
        made[turn.key].parent = made[turn.parent] if turn.parent else None
        made[turn.key].origin = made.get(turn.origin) if turn.origin else None
    Turn.objects.bulk_update(rows, ["parent", "origin"], batch_size=BATCH)
    return made
