"""Frozen old turns that moved into the static layer."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connections, models, transaction

from sessions_app.models.blob import Blob, digest
from sessions_app.prompt import layers
from sessions_app.prompt.detach import chunk_text
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.turns import Turn as TurnValue

if TYPE_CHECKING:
    from sessions_app.models.session import Session

CHAIN = """
WITH RECURSIVE chain(id, parent_id) AS (
    SELECT id, parent_id FROM sessions_app_historychunk WHERE id = %s
    UNION ALL
    SELECT chunk.id, chunk.parent_id
    FROM sessions_app_historychunk chunk JOIN chain ON chunk.id = chain.parent_id
)
SELECT chunk.id, chunk.sha256, chunk.tokens, chunk.content_id
FROM sessions_app_historychunk chunk JOIN chain ON chunk.id = chain.id ORDER BY chunk.id
"""
"""From a chunk to the first one, oldest first: a chunk is always made after its parent."""

KEPT_SIZE = 64_000_000
"""Bytes of chunks that a process keeps ready, escaped and hashed."""


class _Shelf:
    """Chunks that were sent lately, the longest unused given up first."""

    def __init__(self) -> None:
        self._chunks: OrderedDict[tuple[int, str], layers.HistoryChunk] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def find(self, key: tuple[int, str]) -> layers.HistoryChunk | None:
        with self._lock:
            found = self._chunks.get(key)
            if found is not None:
                self._chunks.move_to_end(key)
            return found

    def clear(self) -> None:
        with self._lock:
            self._chunks.clear()
            self._size = 0

    def put(self, key: tuple[int, str], chunk: layers.HistoryChunk) -> None:
        with self._lock:
            if key not in self._chunks:
                self._chunks[key] = chunk
                self._size += len(chunk.text)
            while self._size > KEPT_SIZE:
                self._size -= len(self._chunks.popitem(last=False)[1].text)


shelf = _Shelf()


class HistoryChunkQuerySet(models.QuerySet["HistoryChunk"]):
    def chain(self, newest: int | None) -> tuple[layers.HistoryChunk, ...]:
        """The chunks up to the newest, oldest first: one query, and one more for texts not kept ready."""
        if newest is None:
            return ()
        with connections[self.db].cursor() as cursor:
            cursor.execute(CHAIN, [newest])
            rows = cursor.fetchall()
        found = {pk: shelf.find((pk, sha256)) for pk, sha256, _, _ in rows}
        missing = [row for row in rows if found[row[0]] is None]
        bodies = Blob.objects.in_bulk([content for *_, content in missing]) if missing else {}
        for pk, sha256, tokens, content in missing:
            found[pk] = chunk = layers.HistoryChunk(str(pk), bodies[content].bytes.decode(), tokens)
            shelf.put((pk, sha256), chunk)
        return tuple(chunk for chunk in found.values() if chunk is not None)

    # What fails here fails the caller's transaction: no savepoints of its own, for there may be forty chunks.
    @transaction.atomic(savepoint=False)
    def freeze(
        self, session: "Session", parent: int | None, turns: Sequence[TurnValue], policy: str
    ) -> "HistoryChunk":
        """The chunk of these turns below `parent`; the one that is there when another was faster."""
        body = chunk_text(turns).encode()
        first, last = UUID(turns[0].key), UUID(turns[-1].key)
        ends = session.turns.only("public", "created_at").in_bulk([first, last], field_name="public")
        facts: dict[str, Any] = {
            "session": session,
            "parent_id": parent,
            "name": name_of(ends[first].created_at, ends[last].created_at),
            "content_id": Blob.objects.keep(session.owner_id, [body])[digest(body)],
            "sha256": digest(body),
            "tokens": estimate(body),
            "messages": len(turns),
            "policy": policy,
        }
        return self.get_or_create(last_turn=ends[last], defaults=facts)[0]


def name_of(first: datetime, last: datetime) -> str:
    """`Chat HH:MM–HH:MM` in UTC, from when its first and its last turn came."""
    times = (moment.astimezone(UTC).strftime("%H:%M") for moment in (first, last))
    return "Chat " + "–".join(times)


class HistoryChunk(models.Model):
    """Valid for every branch through its last turn; never changed, only followed by another."""

    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="history_chunks")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    last_turn = models.OneToOneField("Turn", on_delete=models.CASCADE, related_name="ends_chunk")
    name = models.CharField(max_length=80, help_text="Chat HH:MM–HH:MM, in UTC.")
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    sha256 = models.CharField(max_length=64)
    tokens = models.PositiveIntegerField(help_text="Estimated.")
    messages = models.PositiveIntegerField(help_text="Turns that it holds.")
    policy = models.CharField(max_length=12, blank=True, help_text="Which rule detached it.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = HistoryChunkQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name
