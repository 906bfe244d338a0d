"""Where the tree of turns forks: which turns stand beside each other, and where a branch ends now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connections
from django.db.models import Q

from sessions_app.models.turn import BRANCH, Turn

NEWEST_BELOW = """
WITH RECURSIVE below(id) AS (
    SELECT id FROM sessions_app_turn WHERE id = %s
    UNION ALL
    SELECT turn.id FROM sessions_app_turn turn JOIN below ON turn.parent_id = below.id
)
SELECT max(id) FROM below
"""
"""A turn is younger than its parent, so the youngest below a turn is a leaf."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A turn among the turns that answer or follow the same one: branch `position` of `count`."""

    position: int
    count: int
    previous: UUID | None
    next: UUID | None


def newest_leaf(turn: Turn) -> Turn:
    """The end of the branch that was written last among those that go through this turn."""
    with connections[Turn.objects.db].cursor() as cursor:
        cursor.execute(NEWEST_BELOW, [turn.pk])
        (found,) = cursor.fetchone()
    return turn if found == turn.pk else Turn.objects.get(pk=found)


def is_on_branch(turn: Turn, head_id: int | None) -> bool:
    """Whether the walk from this head comes by the turn."""
    walk = Turn.objects.raw(BRANCH, [head_id, turn.depth]) if head_id else ()
    return any(passed.pk == turn.pk for passed in walk)


def choices_of(turns: Iterable[Turn]) -> Mapping[int, Choice]:
    """For each turn that has siblings, its place among them, oldest first: one query."""
    shown = list(turns)
    if not shown:
        return {}
    parents = Q(parent__in={turn.parent_id for turn in shown if turn.parent_id})
    roots = Q(session=shown[0].session_id, parent=None) if shown[0].parent_id is None else Q()
    families: dict[int | None, list[tuple[int, UUID]]] = {}
    rows = Turn.objects.filter(parents | roots).order_by("pk").values_list("parent_id", "pk", "public")
    for parent, pk, public in rows:
        families.setdefault(parent, []).append((pk, public))
    found = ((turn.pk, _choice(turn, families[turn.parent_id])) for turn in shown)
    return {pk: choice for pk, choice in found if choice.count > 1}


def _choice(turn: Turn, family: list[tuple[int, UUID]]) -> Choice:
    index = next(index for index, (pk, _) in enumerate(family) if pk == turn.pk)
    names = [public for _, public in family]
    return Choice(
        position=index + 1,
        count=len(family),
        previous=names[index - 1] if index else None,
        next=names[index + 1] if index + 1 < len(names) else None,
    )
