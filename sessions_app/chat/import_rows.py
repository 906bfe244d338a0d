"""Writes the session of a checked file, entry by entry, in short transactions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from uuid import UUID, uuid4

from django.db import IntegrityError, connection
from django.utils import timezone

from sessions_app.chat.import_check import SOURCES, CheckedFile, Entry, settings_of
from sessions_app.chat.import_slices import Slices
from sessions_app.chat.transfer_format import ExportedRun, ExportedSession, ExportedTurn
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import Assistant, Blob, PromptText, Run, Session, Turn
from sessions_app.models.blob import PackedBlob, digest
from sessions_app.models.blob_slice import SLICE, BlobSlice
from sessions_app.models.turn import MARKS, searched_text
from sessions_app.panels.row_transfer import add_rows

COLUMNS = {"title", "titled_by_hand", "purpose", "background", "args", "model"}
OVER = {Run.Status.COMPLETED, Run.Status.STOPPED, Run.Status.FAILED, Run.Status.INTERRUPTED}


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn with what takes time to make, made outside of the transaction.

    Its content is an unsaved blob or, if it is large, an incomplete one that is stored.
    """

    exported: ExportedTurn
    sha256: str
    blob: PackedBlob | int
    text: str


class SessionWriter:
    """Writes the rows of a checked file. The session stays hidden until the caller shows it.

    Turns keep the route of their signatures. Exchanges are not imported.
    """

    def __init__(self, checked: CheckedFile, session: Session, slices: Slices) -> None:
        self._checked = checked
        self._session = session
        self._slices = slices
        self._runs: dict[UUID, int] = {}
        self._triggered: dict[UUID, list[int]] = {}
        """Key of a turn → the runs that it triggers."""
        self._turns: dict[UUID, tuple[int, int]] = {}
        """Key of a turn → its primary key and its depth."""

    def write(self) -> int | None:
        """Writes everything and returns the primary key of the head."""
        for batch in self._slices.batches(self._checked.runs()):
            runs = [entry.read() for entry in batch]
            self._slices.commit(partial(self._write_runs, runs), len(runs))
        for turns in self._slices.batches(self._checked.turns()):
            self._add_turns(turns)
        for key in self._checked.panels:
            self._write_panel(key)
        head = self._checked.session.head
        return self._turns[head][0] if head else None

    def _write_runs(self, runs: Sequence[ExportedRun]) -> None:
        rows = Run.objects.bulk_create(
            Run(
                session=self._session,
                client_id=uuid4(),
                # One that went on when the file was made is not resumed, and no server stopped in it.
                status=run.status if run.status in OVER else Run.Status.STOPPED,
                outcome=run.outcome,
                error=run.error,
                now=run.now or timezone.now(),
                ended_at=run.ended_at,
                continuations=run.continuations,
            )
            for run in runs
        )
        for run, row in zip(runs, rows, strict=True):
            self._runs[run.key] = row.pk
            if run.trigger:
                self._triggered.setdefault(run.trigger, []).append(row.pk)

    def _add_turns(self, batch: Sequence[Entry[ExportedTurn]]) -> None:
        turns = [self._prepare(entry.read()) for entry in batch]
        self._slices.commit(partial(self._write_turns, turns), len(turns))

    def _prepare(self, exported: ExportedTurn) -> PreparedTurn:
        body = exported.content
        # Without its content, which may have megabytes.
        rest = exported.model_copy(update={"content": b""})
        return PreparedTurn(rest, digest(body), self._stored(body), searched_text(exported.kind, body))

    def _stored(self, body: bytes) -> PackedBlob | int:
        owner = self._session.owner_id
        if len(body) <= SLICE:
            return PackedBlob.of(owner, digest(body), body)
        commit = partial(self._slices.commit, entries=0)
        return BlobSlice.objects.write(owner, BytesIO(body), len(body), commit)

    def _write_turns(self, turns: Sequence[PreparedTurn]) -> None:
        contents = self._write_contents(turns)
        rows = []
        for turn, key in zip(turns, _reserve_keys(len(turns)), strict=True):
            rows.append(self._turn_row(turn, key, contents[turn.sha256]))
            self._turns[turn.exported.key] = key, rows[-1].depth
        Turn.objects.bulk_create(rows)
        self._set_times(turns, rows)
        triggered = [
            Run(pk=run, trigger_id=row.pk)
            for turn, row in zip(turns, rows, strict=True)
            for run in self._triggered.get(turn.exported.key, ())
        ]
        Run.objects.bulk_update(triggered, ["trigger"])

    def _set_times(self, turns: Sequence[PreparedTurn], rows: Sequence[Turn]) -> None:
        """Turns keep the times at which they were written, by which history chunks are named."""
        dated = []
        for turn, row in zip(turns, rows, strict=True):
            if turn.exported.created_at is not None:
                row.created_at = turn.exported.created_at
                dated.append(row)
        Turn.objects.bulk_update(dated, ["created_at"])

    def _write_contents(self, turns: Sequence[PreparedTurn]) -> Mapping[str, int]:
        """sha256 → primary key of the blob."""
        small = {turn.sha256: turn.blob for turn in turns if isinstance(turn.blob, PackedBlob)}
        contents = Blob.objects.store_packed(list(small.values()))
        for turn in turns:
            if isinstance(turn.blob, int):
                key = Blob.objects.complete(self._session.owner_id, turn.sha256, turn.blob)
                assert key is not None
                contents[turn.sha256] = key
        return contents

    def _turn_row(self, turn: PreparedTurn, key: int, content: int) -> Turn:
        exported = turn.exported
        parent = self._turns[exported.parent] if exported.parent else None
        origin = self._turns.get(exported.origin) if exported.origin else None
        return Turn(
            pk=key,
            session=self._session,
            parent_id=parent[0] if parent else None,
            depth=parent[1] + 1 if parent else 0,
            content_id=content,
            text=turn.text,
            run_id=self._runs.get(exported.run) if exported.run else None,
            origin_id=origin[0] if origin else None,
            **exported.model_dump(include=set(MARKS)),
        )

    def _write_panel(self, key: str) -> None:
        for batch in self._slices.batches(self._checked.rows(key)):
            rows = [entry.read() for entry in batch]
            try:
                self._slices.commit(partial(add_rows, SOURCES[key], self._session, rows), len(rows))
            except IntegrityError as error:
                raise NotImportable(ImportProblem.ROWS, where=f"panels.{key}") from error


def create_session(owner_id: int, exported: ExportedSession) -> Session:
    """The session without turns, hidden; in a transaction."""
    texts = PromptText.objects
    session = Session.objects.create(
        owner_id=owner_id,
        is_importing=True,
        settings=settings_of(exported),
        procedure=texts.filter(kind=PromptText.Kind.PROCEDURE, name=exported.procedure).first(),
        assistant=Assistant.objects.usable_by(owner_id).filter(name=exported.assistant).first(),
        **exported.model_dump(include=COLUMNS),
    )
    session.roles.set(texts.filter(kind=PromptText.Kind.ROLE, name__in=exported.roles))
    if exported.created_at is not None:
        # Prompt arguments name it, so texts with it read as they did.
        session.created_at = exported.created_at
        session.save(update_fields=["created_at"])
    return session


def _reserve_keys(count: int) -> list[int]:
    """Primary keys for new turns, which may then name each other as parents; in a transaction."""
    table = Turn._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # The transaction holds the write lock, so nobody else takes them.
            cursor.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
            first = cursor.fetchone()[0] + 1
            return list(range(first, first + count))
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
        )
        return sorted(key for (key,) in cursor.fetchall())
