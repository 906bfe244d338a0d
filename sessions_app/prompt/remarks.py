"""Remarks on a request: codes with figures; `wording.remarks` has the sentences."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator


class RemarkCode(StrEnum):
    """Each has a sentence in `wording.remarks`; the comments name its figures."""

    # Texts of the prompt: title; line, reason (of the template engine), or failure, limit (`RenderFailure`)
    # | names | line, path, rate.
    TEXT_FELL_BACK = "text_fell_back"
    TEXT_RENDERED = "text_rendered"
    TEXT_UNDEFINED = "text_undefined"
    TEXT_BREAKS_CACHE = "text_breaks_cache"
    TEXT_IS_DYNAMIC = "text_is_dynamic"
    # Prompt arguments: name, other; line, reason or failure, limit, as above.
    ARGUMENTS_NO_OBJECT = "arguments_no_object"
    ARGUMENTS_TOO_DEEP = "arguments_too_deep"
    ARGUMENT_EMPTY_SEGMENT = "argument_empty_segment"
    ARGUMENT_UNNAMEABLE = "argument_unnameable"
    ARGUMENT_DROPPED = "argument_dropped"
    ARGUMENT_TWICE = "argument_twice"
    ARGUMENT_WINS = "argument_wins"
    ARGUMENT_LOSES = "argument_loses"
    ARGUMENT_MERGED = "argument_merged"
    DESCRIPTION_FELL_BACK = "description_fell_back"
    # Repairs of the history, each at a turn: names | name.
    CALL_UNANSWERED = "call_unanswered"
    TURN_EMPTY = "turn_empty"
    PARTS_REMOVED = "parts_removed"
    RESULTS_REORDERED = "results_reordered"
    RESULT_UNASKED = "result_unasked"
    RESULTS_ORPHANED = "results_orphaned"
    TURN_ORPHANED = "turn_orphaned"
    ANSWER_INSERTED = "answer_inserted"
    MESSAGE_INSERTED = "message_inserted"
    # Signatures, each at a turn and mostly at a part: nothing | exchange, 0 for one of another session.
    SIGNATURE_REMOVED = "signature_removed"
    SIGNATURE_PART_DROPPED = "signature_part_dropped"
    SIGNATURE_FOREIGN = "signature_foreign"
    SIGNATURE_LOST = "signature_lost"
    SIGNATURE_REFUSED = "signature_refused"
    REFUSED_PART_DROPPED = "refused_part_dropped"
    REFUSED_CALL = "refused_call"
    IMPORTED_SIGNATURE = "imported_signature"
    IMPORTED_PART_DROPPED = "imported_part_dropped"
    IMPORTED_CALL = "imported_call"
    IMPORTED_UNSIGNED = "imported_unsigned"
    UNSIGNED_CALL = "unsigned_call"
    STAND_IN_SENT = "dummy"
    UNSIGNED_ANSWER = "unsigned_answer"
    # The model: model, has_caches | model, expected, served.
    MODEL_UNKNOWN = "model_unknown"
    MODEL_ROUTED = "model_routed"
    # A panel: panel, tokens, changed, page, pages, files, problem | panel, since.
    PANEL_READ = "panel_read"
    PANEL_SINCE = "panel_since"
    # What is left out of a request: what (`prompt.provider_tools`), why, model.
    LEFT_OUT = "left_out"
    # Others: chunk, tokens | number, kind, text | a budget (`prompt.pricing.Budget`).
    CHUNK_FROZEN = "chunk_frozen"
    NOTIFICATION = "notification"
    BUDGET_NEAR = "budget_near"
    # `text` is a sentence that an earlier version stored, `label` what it called it.
    EARLIER_WORDING = "earlier_wording"


REMOVALS = frozenset(
    {
        RemarkCode.TURN_EMPTY,
        RemarkCode.PARTS_REMOVED,
        RemarkCode.RESULT_UNASKED,
        RemarkCode.RESULTS_ORPHANED,
        RemarkCode.TURN_ORPHANED,
        RemarkCode.SIGNATURE_REMOVED,
        RemarkCode.SIGNATURE_PART_DROPPED,
        RemarkCode.SIGNATURE_REFUSED,
        RemarkCode.REFUSED_PART_DROPPED,
        RemarkCode.IMPORTED_SIGNATURE,
        RemarkCode.IMPORTED_PART_DROPPED,
    }
)
"""Remarks that a part or a turn was removed."""

REFUSED = frozenset({RemarkCode.SIGNATURE_REFUSED, RemarkCode.REFUSED_PART_DROPPED, RemarkCode.REFUSED_CALL})
"""Remarks on a signature that the provider refused."""


IMPORTED = frozenset({RemarkCode.IMPORTED_CALL, RemarkCode.IMPORTED_UNSIGNED})
"""Remarks on a call of an imported history that gets the dummy."""


class Remark(BaseModel):
    """A code with its figures, which are the other fields; `turn` and `part` say what it is about.

    The code is a RemarkCode, or a RefusalCode where a stage refused the request: then `refused` has the
    figures of the error, which may be called like fields. Also reads what earlier
    versions kept in `Exchange.notes`: a repair (`action`, `reason`) or a finding (`code`, `words`).
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    code: str
    turn: str = ""
    part: int | None = None
    refused: dict[str, Any] = Field(default_factory=dict, exclude_if=lambda figures: not figures)

    @model_validator(mode="before")
    @classmethod
    def _earlier(cls, value: Any) -> Any:
        if isinstance(value, dict) and ("action" in value or "words" in value):
            label, text = value.get("action") or value.get("code"), value.get("reason") or value.get("words")
            kept = {name: value[name] for name in ("turn", "part") if name in value}
            return {"code": RemarkCode.EARLIER_WORDING, "label": label or "", "text": text or "", **kept}
        return value

    @property
    def figures(self) -> dict[str, Any]:
        return self.refused or self.model_extra or {}

    @property
    def is_removal(self) -> bool:
        if self.code == RemarkCode.EARLIER_WORDING:
            return self.figures.get("label") in ("removed", "dropped")
        return self.code in REMOVALS

    def stored(self) -> dict[str, Any]:
        kept: dict[str, Any] = self.model_dump(mode="json")
        return kept


REMARKS: TypeAdapter[tuple[Remark, ...]] = TypeAdapter(tuple[Remark, ...])
"""Reads `Exchange.notes`, of this version and earlier ones."""
