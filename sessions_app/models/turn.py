"""One entry of a session's history, a node of a tree that only grows."""

import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connections, models

from sessions_app.models.blob import Blob, unpacked
from sessions_app.prompt import turns as prompt_turns

if TYPE_CHECKING:
    from sessions_app.models.exchange import Exchange
    from sessions_app.models.run import Run
    from sessions_app.models.session import Session

BRANCH = """
WITH RECURSIVE branch(id, parent_id) AS (
    SELECT id, parent_id FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id, turn.parent_id FROM sessions_app_turn turn JOIN branch ON turn.id = branch.parent_id
    WHERE turn.depth >= %s
)
SELECT turn.* FROM sessions_app_turn turn JOIN branch ON turn.id = branch.id ORDER BY turn.depth
"""
"""The walk from a head to the root, oldest first; the same SQL on SQLite and PostgreSQL."""


BUFFERED = """
WITH RECURSIVE branch(id, parent_id, chunk_id) AS (
    SELECT id, parent_id, CAST(NULL AS bigint) FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id, turn.parent_id, chunk.id
    FROM sessions_app_turn turn JOIN branch ON turn.id = branch.parent_id AND branch.chunk_id IS NULL
    LEFT JOIN sessions_app_historychunk chunk ON chunk.last_turn_id = turn.id
)
SELECT turn.public, turn.kind, turn.route, blob.packed, blob.body, branch.chunk_id
FROM branch
JOIN sessions_app_turn turn ON turn.id = branch.id
JOIN sessions_app_blob blob ON blob.id = turn.content_id
ORDER BY turn.depth
"""
"""The same walk as far as the newest history chunk, with only what a request is built from.

The head itself never counts as a chunk's end: it asks for an answer, though on another branch it is old.
"""


class Buffered(NamedTuple):
    """The turns of a branch that are in no chunk, oldest first, and the chunk before them."""

    turns: tuple[prompt_turns.Turn, ...]
    chunk: int | None


class TurnQuerySet(models.QuerySet["Turn"]):
    def branch(self, head_id: int | None, floor: int = 0) -> "list[Turn]":
        """The history that ends in this turn, oldest first, with contents: three queries.

        The walk stops at depth `floor`, for pages that show only the end.
        """
        if head_id is None:
            return []
        turns = list(self.raw(BRANCH, [head_id, floor]))
        models.prefetch_related_objects(turns, "content", "run")
        return turns

    def buffered(self, head_id: int | None) -> Buffered:
        """What is sent turn by turn of the branch that ends here: one query, however long it is."""
        if head_id is None:
            return Buffered((), None)
        with connections[self.db].cursor() as cursor:
            cursor.execute(BUFFERED, [head_id])
            rows = cursor.fetchall()
        chunk = rows[0][-1] if rows else None
        return Buffered(tuple(_value(row) for row in rows if row[-1] is None), chunk)


def _value(row: tuple[Any, ...]) -> prompt_turns.Turn:
    public, kind, route, packed, body, _ = row
    # SQLite keeps a uuid as hex without dashes.
    key = str(uuid.UUID(str(public)))
    return prompt_turns.Turn(key, prompt_turns.TurnKind(kind), unpacked(bytes(body), packed), route)


MARKS = ("kind", "route", "edited", "summary", "covers", "language", "cut")
"""What a copy of a turn takes over beside its content, here or in another installation."""


class Turn(models.Model):
    Kind = prompt_turns.TurnKind

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey("Session", on_delete=models.CASCADE, related_name="turns")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    depth = models.PositiveIntegerField(help_text="Distance from the root: orders a branch without a walk.")
    kind = models.CharField(
        max_length=20, choices=[(kind.value, kind.name) for kind in prompt_turns.TurnKind]
    )
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(blank=True, help_text="What a search finds: the content's text without NUL.")
    run = models.ForeignKey("Run", null=True, on_delete=models.CASCADE, related_name="turns")
    exchange = models.ForeignKey(
        "Exchange",
        null=True,
        on_delete=models.SET_NULL,
        related_name="turns",
        help_text="The exchange that produced it; empty for what a person or a tool said.",
    )
    route = models.CharField(max_length=64, blank=True, help_text="Whose signatures these are (design §2).")
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
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TurnQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["session", "depth"], name="turn_by_depth")]

    def __str__(self) -> str:
        return f"{self.kind} {self.public}"

    @classmethod
    def grow(
        cls,
        session: "Session",
        value: prompt_turns.Turn,
        *,
        parent: "Turn | None",
        run: "Run | None" = None,
        exchange: "Exchange | None" = None,
        cut: bool = False,
        language: str = "",
    ) -> "Turn":
        """Adds a turn below `parent` and moves the session's head to it."""
        blob = Blob.objects.keep(session.owner_id, [value.wire])
        turn = cls.objects.create(
            public=uuid.UUID(value.key),
            session=session,
            parent=parent,
            depth=parent.depth + 1 if parent else 0,
            kind=value.kind.value,
            content_id=next(iter(blob.values())),
            text=prompt_turns.text_of(value.wire).replace("\0", ""),
            run=run,
            exchange=exchange,
            route=value.route,
            cut=cut,
            language=language,
        )
        session.advance(turn)
        return turn

    @property
    def marks(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in MARKS}

    @property
    def wire(self) -> bytes:
        return self.content.bytes

    @property
    def value(self) -> prompt_turns.Turn:
        """The pure value the prompt core works with; its key is the public id."""
        return prompt_turns.Turn(
            key=str(self.public), kind=prompt_turns.TurnKind(self.kind), wire=self.wire, route=self.route
        )

    @property
    def parts(self) -> "tuple[prompt_turns.PartView, ...]":
        return prompt_turns.parts_of(self.wire)
