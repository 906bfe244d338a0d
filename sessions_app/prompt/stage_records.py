"""Records of the stages of a request: status, figures, remarks.

Codes and figures only; `wording.stages` turns them into sentences. Figures whose names begin with
`usd` are US dollars, as decimal strings once stored.
"""

from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SerializeAsAny, TypeAdapter, field_validator, model_validator

from sessions_app.prompt.remarks import Remark, RemarkCode


class StageName(StrEnum):
    """In the order in which they run; the last three come after the call."""

    BUILD_TRIGGER = "build_trigger"
    CHECK_BUDGET = "check_budget"
    MARK_NOTIFICATIONS = "mark_notifications"
    SNAPSHOT_HISTORY = "snapshot_history"
    DETACH_HISTORY = "detach_history"
    VALIDATE_HISTORY = "validate_history"
    OFFER_TOOLS = "offer_tools"
    PREPARE_ARGUMENTS = "prepare_prompt_arguments"
    REFRESH_PANELS = "refresh_panels"
    RENDER_TEMPLATES = "render_templates"
    ORDER_PANELS = "order_panels"
    BUILD_LAYERS = "build_layers"
    PLAN_CACHE = "plan_cache"
    CHECK = "check"
    SEND = "send"
    ACCOUNT = "account"
    CONTINUE = "continue"


class StageStatus(StrEnum):
    """How a stage ended. `FALLBACK`: a text was used as it was written. `BLOCKED`: nothing is sent. `FAILED`:
    it was sent and not answered.
    """

    OK = "ok"
    NOTHING = "nothing"
    NOTICED = "noticed"
    REPAIRED = "repaired"
    FALLBACK = "fallback"
    BLOCKED = "blocked"
    FAILED = "failed"


class StageFigures(BaseModel):
    """The figures of a stage. `case` distinguishes the ways in which it can end."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    case: str = ""


class TriggerFigures(StageFigures):
    case: Literal["user_text", "tool_results"] = "user_text"
    characters: int = 0
    round: int = 0


class BudgetFigures(StageFigures):
    case: Literal["unlimited", "limited"] = "unlimited"
    budgets: int = 0
    usd_left: Decimal | None = None


class NotificationFigures(StageFigures):
    case: Literal["round", "none", "seen"] = "none"
    seen: int = 0


class HistoryFigures(StageFigures):
    """History chunks and turns, before the stage and after it."""

    chunks: int = 0
    turns: int = 0
    chunks_before: int = 0
    turns_before: int = 0


class ValidFigures(HistoryFigures):
    case: Literal["valid", "repaired"] = "valid"


class OfferFigures(StageFigures):
    """Functions that are declared, the provider's tools by name, and what is left out of a wish."""

    functions: int = 0
    tools: tuple[str, ...] = ()
    schemas: int = 0
    left: int = 0


class PanelFigures(StageFigures):
    kinds: int = 0
    panels: int = 0
    tokens: int = 0
    changed: int = 0


class ArgumentFigures(StageFigures):
    own: int = 0
    names: int = 0


class TemplateFigures(StageFigures):
    case: Literal["written", "rendered"] = "written"
    texts: int = 0
    templates: int = 0


class OrderFigures(StageFigures):
    panels: tuple[str, ...] = ()


class LayerFigures(StageFigures):
    turns: int = 0
    buffered: int = 0


class CacheFigures(StageFigures):
    fingerprint: str = ""
    mode: str = ""
    policy: str = ""
    action: str = ""


class CheckFigures(StageFigures):
    items: int = 0
    size: int = 0


class SendFigures(StageFigures):
    """`size` in bytes, `error` is the provider's message."""

    case: Literal["answered", "failed"] = "answered"
    size: int = 0
    outcome: str = ""
    error: str = ""


class AccountFigures(StageFigures):
    """Tokens as the provider counted them; `usd` is None where no price is known. `uncounted`: it counted
    nothing, and nothing was booked.
    """

    case: Literal["", "uncounted"] = ""
    prompt: int = 0
    output: int = 0
    usd: Decimal | None = None


ContinueCase = Literal[
    "message", "cut", "todos", "held_cut", "held_todos", "stopped", "failed", "interrupted", "nothing"
]


class ContinueFigures(StageFigures):
    """How the run ended, and why the session continues (the first three cases) or does not."""

    case: ContinueCase = "nothing"
    ended: str = ""
    waiting: int = 0
    todos: int = 0
    continuation: int = 0
    most: int | None = None


FIGURES: dict[str, type[StageFigures]] = {
    StageName.BUILD_TRIGGER: TriggerFigures,
    StageName.CHECK_BUDGET: BudgetFigures,
    StageName.MARK_NOTIFICATIONS: NotificationFigures,
    StageName.SNAPSHOT_HISTORY: HistoryFigures,
    StageName.DETACH_HISTORY: HistoryFigures,
    StageName.VALIDATE_HISTORY: ValidFigures,
    StageName.OFFER_TOOLS: OfferFigures,
    StageName.REFRESH_PANELS: PanelFigures,
    StageName.PREPARE_ARGUMENTS: ArgumentFigures,
    StageName.RENDER_TEMPLATES: TemplateFigures,
    StageName.ORDER_PANELS: OrderFigures,
    StageName.BUILD_LAYERS: LayerFigures,
    StageName.PLAN_CACHE: CacheFigures,
    StageName.CHECK: CheckFigures,
    StageName.SEND: SendFigures,
    StageName.ACCOUNT: AccountFigures,
    StageName.CONTINUE: ContinueFigures,
}


class StageRecord(BaseModel):
    """One entry of `Exchange.stages` or `Run.stages`; `ms` is our own time.

    `figures` is None for a stage that refused, whose one remark then says why, and for records of
    earlier versions, which hold sentences: `came_in`, `came_out`, and a remark for each further line.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""
    status: str = ""
    figures: SerializeAsAny[StageFigures] | None = None
    remarks: tuple[Remark, ...] = ()
    ms: float = 0.0
    came_in: str = ""
    came_out: str = ""

    @model_validator(mode="before")
    @classmethod
    def _earlier(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("details"):
            lines = [{"code": RemarkCode.EARLIER_WORDING, "text": line} for line in value["details"] if line]
            return value | {"remarks": lines}
        return value

    @field_validator("figures", mode="before")
    @classmethod
    def _of_its_stage(cls, value: Any, info: Any) -> Any:
        if isinstance(value, dict):
            return FIGURES.get(info.data.get("name"), StageFigures).model_validate(value)
        return value

    @property
    def is_blocked(self) -> bool:
        return self.status == StageStatus.BLOCKED

    @property
    def outcome(self) -> str:
        """The status, also of a request that failed: it was stored as any other that was sent."""
        has_failed = isinstance(self.figures, SendFigures) and self.figures.case == "failed"
        return StageStatus.FAILED if has_failed else self.status

    def stored(self) -> dict[str, Any]:
        kept: dict[str, Any] = self.model_dump(mode="json", exclude={"came_in", "came_out"})
        return kept


STAGES: TypeAdapter[tuple[StageRecord, ...]] = TypeAdapter(tuple[StageRecord, ...])
"""Reads `Exchange.stages` and `Run.stages`, of this version and earlier ones."""
