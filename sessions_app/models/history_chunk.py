"""History chunks: old turns frozen as text of the static layer."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connections, models, transaction

from sessions_app.models.blob import Blob, digest
from sessions_app.models.byte_cache import ByteCache
from sessions_app.models.turn_statements import WALK
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
"""From the first chunk to the given one; a chunk's key is larger than its parent's."""

ON_BRANCH = f"""{WALK}
SELECT chunk.* FROM branch
JOIN sessions_app_turn turn ON turn.id = branch.id
JOIN sessions_app_historychunk chunk ON chunk.last_turn_id = turn.id ORDER BY turn.depth
"""  # noqa: S608 (both parts are constants)

chunk_cache: ByteCache[tuple[int, str], layers.FrozenHistory] = ByteCache("history_chunks")
"""Escaped and hashed chunks, by primary key and sha256."""


class HistoryChunkQuerySet(models.QuerySet["HistoryChunk"]):
    def chain(self, newest: int | None) -> tuple[layers.FrozenHistory, ...]:
        """The chunks up to `newest`, oldest first: one query, and one for texts that are not cached."""
        if newest is None:
            return ()
        with connections[self.db].cursor() as cursor:
            cursor.execute(CHAIN, [newest])
            rows = cursor.fetchall()
        found = {pk: chunk_cache.find((pk, sha256)) for pk, sha256, _, _ in rows}
        missing = [row for row in rows if found[row[0]] is None]
        bodies = Blob.objects.in_bulk([content for *_, content in missing]) if missing else {}
        for pk, sha256, tokens, content in missing:
            found[pk] = chunk = layers.FrozenHistory(str(pk), bodies[content].bytes.decode(), tokens)
            chunk_cache.put((pk, sha256), chunk, len(chunk.text))
        return tuple(chunk for chunk in found.values() if chunk is not None)

    def on_branch(self, head_id: int | None) -> "list[HistoryChunk]":
        """Every chunk that ends on the branch to this turn, oldest first: one query."""
        return list(self.raw(ON_BRANCH, [head_id, 0])) if head_id is not None else []

    # No savepoint: there may be forty chunks, and a failure fails the caller's transaction anyway.
    @transaction.atomic(savepoint=False)
    def freeze(
        self, session: "Session", parent: int | None, turns: Sequence[TurnValue], policy: str
    ) -> "HistoryChunk":
        """Gets or creates the chunk of these turns below `parent`."""
        body = chunk_text(turns).encode()
        first, last = UUID(turns[0].key), UUID(turns[-1].key)
        ends = session.turns.only("public", "created_at").in_bulk([first, last], field_name="public")
        facts: dict[str, Any] = {
            "session": session,
            "parent_id": parent,
            "name": name_of(ends[first].created_at, ends[last].created_at),
            "content_id": Blob.objects.store(session.owner_id, [body])[digest(body)],
            "sha256": digest(body),
            "tokens": estimate(body),
            "messages": len(turns),
            "policy": policy,
        }
        return self.get_or_create(last_turn=ends[last], defaults=facts)[0]


def name_of(first: datetime, last: datetime) -> str:
    """`Chat HH:MM–HH:MM` in UTC, from the times of the first and the last turn."""
    times = (moment.astimezone(UTC).strftime("%H:%M") for moment in (first, last))
    return "Chat " + "–".join(times)


class HistoryChunk(models.Model):
    """Valid for every branch through its last turn; never changed."""

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
