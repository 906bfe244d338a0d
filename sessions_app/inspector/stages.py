"""The pipeline's stage records, as an exchange or a refused run keeps them."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from sessions_app.inspector import texts

TITLES = {
    "build_trigger": "Build the trigger",
    "mark_notifications": "Mark notifications",
    "snapshot_history": "Snapshot the history",
    "detach_history": "Detach old history",
    "validate_history": "Validate the history",
    "refresh_panels": "Refresh the panels",
    "prepare_prompt_arguments": "Prepare the prompt arguments",
    "render_templates": "Render the templates",
    "order_panels": "Order the panels",
    "build_layers": "Build the layers",
    "plan_cache": "Plan the cache",
    "check": "Check the request",
}

MARKS = {
    "ok": ("✓", "good", "done"),
    "nothing": ("·", "", "nothing to do"),
    "noticed": ("!", "warn", "done, with something to know"),
    "repaired": ("↻", "warn", "repaired"),
    "fallback": ("↩", "warn", "fell back to the original text"),
    "blocked": ("✕", "bad", "refused: nothing was sent"),
}
"""Status → its mark, the tone of its colour, and what it means."""


class StoredStage(BaseModel):
    """One entry of `Exchange.stages` or `Run.stages`; `ms` is our own time."""

    model_config = ConfigDict(extra="ignore")

    name: str = ""
    status: str = ""
    came_in: str = ""
    came_out: str = ""
    details: tuple[str, ...] = ()
    ms: float = 0.0

    @field_validator("came_in", "came_out", "status", "name", "details")
    @classmethod
    def _as_shown(cls, value: Any) -> Any:
        return texts.visible(value) if isinstance(value, str) else tuple(map(texts.visible, value))


STORED = TypeAdapter(tuple[StoredStage, ...])


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage on the page. `start` and `width` are percent of the time of all stages."""

    number: int
    name: str
    title: str
    status: str
    mark: str
    tone: str
    meaning: str
    came_in: str
    came_out: str
    details: tuple[str, ...]
    ms: float
    start: float
    width: float


def stages_of(stored: Any) -> list[Stage]:
    """In the order they ran."""
    records = STORED.validate_python(stored or ())
    total, at, found = sum(record.ms for record in records), 0.0, []
    for number, record in enumerate(records, 1):
        mark, tone, meaning = MARKS.get(record.status, ("?", "", record.status))
        width = 100 * record.ms / total if total else 0.0
        found.append(
            Stage(
                number,
                record.name,
                TITLES.get(record.name, record.name.replace("_", " ").capitalize()),
                record.status,
                mark,
                tone,
                meaning,
                record.came_in,
                record.came_out,
                tuple(detail for detail in record.details if detail),
                record.ms,
                round(at, 2),
                round(width, 2),
            )
        )
        at += width
    return found
