"""What a session knows about itself: how far its branch is, what was put away, what it cost."""

from typing import Any

from django.db import connections
from django.db.models import Count, Sum

from sessions_app.models import Session
from sessions_app.models.turn import BRANCH

USER_TURNS = BRANCH.replace("turn.*", "count(*)").replace(
    "ORDER BY turn.depth", "WHERE turn.kind = 'user_task'"
)

CHUNKS = BRANCH.replace("turn.*", "chunk.name, chunk.messages, chunk.tokens").replace(
    "ORDER BY", "JOIN sessions_app_historychunk chunk ON chunk.last_turn_id = turn.id ORDER BY"
)


def user_turns(session: Session) -> int:
    """Messages of the person on the branch in view."""
    if session.head_id is None:
        return 0
    ((count,),) = _rows(USER_TURNS, session.head_id)
    return int(count)


def history_of(session: Session) -> list[dict[str, Any]]:
    """The parts of the branch that were put away, oldest first."""
    if session.head_id is None:
        return []
    rows = _rows(CHUNKS, session.head_id)
    return [{"name": name, "messages": messages, "tokens": tokens} for name, messages, tokens in rows]


def statistics_of(session: Session) -> dict[str, Any]:
    """Requests, tokens and dollars of the session so far; empty before the first answer."""
    figures = session.exchanges.exclude(ended_at=None).aggregate(
        requests=Count("pk"),
        prompt_tokens=Sum("prompt_tokens"),
        cached_tokens=Sum("cached_tokens"),
        output_tokens=Sum("output_tokens"),
        thought_tokens=Sum("thought_tokens"),
        usd=Sum("usd"),
    )
    if not figures["requests"]:
        return {}
    known = {name: value for name, value in figures.items() if value is not None}
    return known | ({"usd": f"{known['usd']:.6f}"} if "usd" in known else {})


def _rows(sql: str, head: int) -> list[Any]:
    with connections[Session.objects.db].cursor() as cursor:
        cursor.execute(sql, [head, 0])
        return list(cursor.fetchall())
