"""What the last request had to tell the person: texts sent as written, repairs, cache breakers."""

from dataclasses import dataclass

from sessions_app.models import Session

ALWAYS = frozenset({"fallback", "repaired", "blocked"})

NOTICED_IN = frozenset({"prepare_prompt_arguments", "render_templates", "check"})
"""Stages whose remarks concern what a person wrote or chose; a panel's problem stands at the panel."""

DONE = " was rendered"
LINES = 4


@dataclass(frozen=True, slots=True)
class Notice:
    """Of one exchange: `number` leads to its records in the inspector."""

    number: int
    lines: tuple[str, ...]
    more: int = 0


def notice_of(session: Session) -> Notice | None:
    """None when the last request had nothing to tell, or there was none. One statement."""
    last = session.exchanges.order_by("-number").only("number", "stages").first()
    if last is None:
        return None
    lines = [line for stage in last.stages or () for line in _lines(stage)]
    return Notice(last.number, tuple(lines[:LINES]), max(0, len(lines) - LINES)) if lines else None


def _lines(stage: dict[str, object]) -> list[str]:
    status, name, details = stage.get("status"), stage.get("name"), stage.get("details")
    if status not in ALWAYS and not (status == "noticed" and name in NOTICED_IN):
        return []
    told = [str(line) for line in details if line] if isinstance(details, list) else []
    return [line for line in told if not line.endswith(DONE)] or [str(stage.get("came_out", ""))]
