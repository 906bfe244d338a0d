"""What was repaired or found while a request was built, as the exchange's row remembers it."""

from pydantic import BaseModel, ConfigDict, TypeAdapter

from sessions_app.models import Exchange


class StoredNote(BaseModel):
    """One entry of `Exchange.notes`: a repair (`action`, `reason`) or a finding (`code`, `words`)."""

    model_config = ConfigDict(extra="ignore")

    turn: str = ""
    part: int | None = None
    action: str = ""
    reason: str = ""
    code: str = ""
    words: str = ""

    @property
    def is_removal(self) -> bool:
        return self.action in ("removed", "dropped")

    @property
    def label(self) -> str:
        return self.action or self.code.replace("_", " ") or "note"

    @property
    def sentence(self) -> str:
        where = f"Turn {self.turn[:8]}" + ("" if self.part is None else f", part {self.part}")
        return f"{where}: {self.reason or self.words}" if self.turn else self.reason or self.words


NOTES = TypeAdapter(tuple[StoredNote, ...])


def notes_of(exchange: Exchange) -> tuple[StoredNote, ...]:
    return NOTES.validate_python(exchange.notes)
