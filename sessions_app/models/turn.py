"""One entry of a session's history, a node of a tree that only grows."""

import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connections, models

from sessions_app.models.blob import Blob
from sessions_app.models.columns import storable
from sessions_app.models.instances import new
from sessions_app.models.prepared import insert
from sessions_app.models.related import attach
from sessions_app.models.turn_statements import ANY_CHUNK, BRANCH, BUFFERED, EXCHANGE, MESSAGE, MESSAGES
from sessions_app.models.turn_values import content_cache, language_of, values_of
from sessions_app.prompt import turns as prompt_turns
from sessions_app.prompt.answer_schema import Fit
from sessions_app.prompt.citations import Citations
from sessions_app.prompt.parts import PartView, parts_of, text_of

if TYPE_CHECKING:
    from sessions_app.models.exchange import Exchange
    from sessions_app.models.run import Run
    from sessions_app.models.session import Session

ELSEWHERE = 0
"""`refused_in` of a turn whose signatures were refused in an exchange of another session."""

BATCH = 500
"""Turns that one statement names."""


class Buffered(NamedTuple):
    """The turns of a branch after its newest chunk, oldest first, and that chunk's key.

    `language` is the newest that was said of a message of the branch from that chunk's last turn on.
    """

    turns: tuple[prompt_turns.Turn, ...]
    chunk: int | None
    language: str


class TurnQuerySet(models.QuerySet["Turn"]):
    def branch(self, head_id: int | None, floor: int = 0) -> "list[Turn]":
        """The branch that ends here, oldest first, from depth `floor`, with contents: three queries."""
        if head_id is None:
            return []
        turns = list(self.raw(BRANCH, [head_id, floor]))
        attach(turns, "content", "run")
        return turns

    def message_above(self, turn_id: int) -> "Turn | None":
        """The newest user task of the branch that ends here: one query."""
        return next(iter(self.raw(MESSAGE, [turn_id, 0])), None)

    def exchange_above(self, turn_id: int) -> int | None:
        """The key of the nearest exchange with a counted prompt on the branch that ends here: one query."""
        with connections[self.db].cursor() as cursor:
            cursor.execute(EXCHANGE, [turn_id, 0])
            row = cursor.fetchone()
        return int(row[0]) if row else None

    def count_messages(self, head_id: int | None) -> int:
        """How many user tasks the branch that ends here has: one query."""
        if head_id is None:
            return 0
        with connections[self.db].cursor() as cursor:
            cursor.execute(MESSAGES, [head_id, 0])
            return int(cursor.fetchone()[0])

    def buffered(self, head_id: int | None, newest: int = ANY_CHUNK) -> Buffered:
        """The turns after the newest chunk of the branch that ends here.

        One query, one for contents that are not in memory, and one per sliced blob of these. Chunks made
        after the chunk `newest` do not count; 0 stands for no chunk. Raises HistoryGone when the session is
        erased between the two.
        """
        rows = self._walk(head_id, newest)
        chunk = rows[0][-1] if rows else None
        return Buffered(values_of([row for row in rows if row[-1] is None]), chunk, language_of(rows))

    def language(self, head_id: int | None) -> str:
        """The language of `buffered`, without reading contents."""
        return language_of(self._walk(head_id, ANY_CHUNK))

    def _walk(self, head_id: int | None, newest: int) -> list[tuple[Any, ...]]:
        if head_id is None:
            return []
        with connections[self.db].cursor() as cursor:
            cursor.execute(BUFFERED, [head_id, newest])
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def mark_refused(self, session_pk: int, keys: Sequence[str], exchange: int) -> bool:
        """Marks these turns of the session, and copies of them anywhere, as refused in `exchange`.

        Returns whether one of them was not marked before.
        """
        marked = 0
        for start in range(0, len(keys), BATCH):
            named = self.filter(session=session_pk, public__in=keys[start : start + BATCH], refused_in=None)
            # A copy has the same content, whichever of the two came first.
            contents = list(named.values_list("content", flat=True))
            same = self.filter(content__in=contents, refused_in=None)
            marked += same.filter(session=session_pk).update(refused_in=exchange)
            same.update(refused_in=ELSEWHERE)
        return marked > 0


SEARCHED = 200_000
"""Characters of a turn that a search finds. Indexing megabytes would hold the write lock for seconds."""

MARKS = (
    *("kind", "route", "refused_in", "edited", "summary", "covers", "language", "cut", "closing"),
    *("citations", "fit"),
)
"""Fields that copies and exports of a turn keep beside its content."""


def said_text(kind: str, wire_bytes: bytes) -> str:
    """The text of a content: what a model says in pieces goes on, the pieces of a person are paragraphs."""
    return text_of(wire_bytes, "" if prompt_turns.TurnKind(kind).is_model else "\n\n")


def searched_text(kind: str, wire_bytes: bytes) -> str:
    """`Turn.text` for the content."""
    return storable(said_text(kind, wire_bytes), SEARCHED)


class Turn(models.Model):
    """`content` is the turn as requests have it, one content of Gemini's. It never changes: whoever edits a
    history makes other turns (`branches`).
    """

    Kind = prompt_turns.TurnKind

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="turns", db_index=False)
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    depth = models.PositiveIntegerField(help_text="Distance from the root: orders a branch without a walk.")
    kind = models.CharField(
        max_length=20, choices=[(kind.value, kind.name) for kind in prompt_turns.TurnKind]
    )
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(
        blank=True, help_text="What a search finds: the beginning of the content's text, without NUL."
    )
    run = models.ForeignKey("Run", null=True, on_delete=models.CASCADE, related_name="turns")
    exchange = models.ForeignKey(
        "Exchange",
        null=True,
        on_delete=models.SET_NULL,
        related_name="turns",
        help_text="The exchange that produced it; empty for what a person or a tool said.",
    )
    route = models.CharField(max_length=64, blank=True, help_text="Whose signatures these are (design §2).")
    refused_in = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Number of the exchange in which its signatures were refused; 0: in another session.",
    )
    origin = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="copies",
        help_text="The turn that this one stands for in another branch.",
    )
    edited = models.BooleanField(
        default=False, help_text="A person changed it: it carries no signature of its own."
    )
    summary = models.BooleanField(default=False, help_text="A short form shown in the place of its origin.")
    covers = models.PositiveIntegerField(default=0, help_text="Turns that a compressed history stands for.")
    language = models.CharField(max_length=40, blank=True, help_text="Of a user task, as far as it was said.")
    cut = models.BooleanField(
        default=False, help_text="The model had not finished: stopped, failed or interrupted."
    )
    closing = models.BooleanField(
        default=False, help_text="Written by Pipeweb below a tool round that brought no answer."
    )
    citations = models.JSONField(
        default=dict, blank=True, help_text="What the answer rests on (prompt.citations.Citations)."
    )
    fit = models.JSONField(
        default=dict,
        blank=True,
        help_text="Whether a JSON answer fits its schema (prompt.answer_schema.Fit); empty without one.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["session", "depth"], name="turn_by_depth")]

    def __str__(self) -> str:
        return f"turn {self.public}"

    @classmethod
    def append(
        cls,
        session: "Session",
        value: prompt_turns.Turn,
        *,
        parent: "Turn | None",
        run: "Run | None" = None,
        exchange: "Exchange | None" = None,
        cut: bool = False,
        closing: bool = False,
        language: str = "",
        citations: Citations | None = None,
        fit: Fit | None = None,
        advances: bool = True,
    ) -> "Turn":
        """Adds a turn below `parent`; the session's head moves to it, unless not `advances`."""
        blob = Blob.objects.store(session.owner_id, [value.wire])
        content_cache.put(next(iter(blob)), value.wire, len(value.wire))
        turn = insert(
            new(
                cls,
                public=uuid.UUID(value.key),
                session=session,
                parent=parent,
                depth=parent.depth + 1 if parent else 0,
                kind=value.kind.value,
                content_id=next(iter(blob.values())),
                text=searched_text(value.kind, value.wire),
                run=run,
                exchange=exchange,
                route=value.route,
                cut=cut,
                closing=closing,
                language=language,
                citations=citations.stored() if citations else {},
                fit=fit.stored() if fit else {},
            )
        )
        turn.value = value
        if advances:
            session.advance(turn)
        return turn

    @property
    def number(self) -> int:
        """Its place on its branch, from 1 on: what every page calls it."""
        return self.depth + 1

    @property
    def marks(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in MARKS}

    @property
    def marks_elsewhere(self) -> dict[str, Any]:
        """The marks of a copy in another session."""
        return self.marks if self.refused_in is None else self.marks | {"refused_in": ELSEWHERE}

    @property
    def wire(self) -> bytes:
        return self.content.bytes

    @property
    def whole_text(self) -> str:
        """`text` without its limit."""
        return self.text if len(self.text) < SEARCHED else said_text(self.kind, self.wire).replace("\0", "")

    @cached_property
    def value(self) -> prompt_turns.Turn:
        """The turn as the prompt core uses it; its key is the public id."""
        return prompt_turns.Turn(
            key=str(self.public),
            kind=prompt_turns.TurnKind(self.kind),
            wire=self.wire,
            route=self.route,
            refused_in=self.refused_in,
        )

    @property
    def cited(self) -> Citations:
        return Citations.restored(self.citations)

    @property
    def schema_fit(self) -> Fit | None:
        """None for an answer without a schema."""
        return Fit.restored(self.fit)

    @property
    def parts(self) -> tuple[PartView, ...]:
        return parts_of(self.wire)
