"""What a person sets for one session: the shape of the JSON column `Session.settings`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SessionSettings(BaseModel):
    """What a person may set per session; the JSON column is read only through this."""

    model_config = ConfigDict(extra="ignore")

    temperature: float | None = Field(default=None, ge=0, le=2)
    thinking_level: Literal["", "LOW", "MEDIUM", "HIGH"] = ""
    include_thoughts: bool = True
    language: str = ""
    time_zone: str = "UTC"
    clock_minutes: int = Field(default=60, ge=1, le=1440)
    """The clock in the dynamic layer is rounded down to this, so that it rarely breaks a prefix."""
    tools: list[str] | None = None
    """Names of the enabled tools; None means the standard ones."""
    thinking_budget: int | None = Field(default=None, ge=-1, le=65_536)
    """Tokens of thought on models that take a budget; -1 lets the model decide."""
    message_language: str = ""
    """The language a person says they write in; prompts know it as message.language."""
    auto_title: Literal["words", "model"] = "words"
    panels: dict[str, bool] = Field(default_factory=dict)
    """Panels that a person switched on or off; what is not named keeps its kind's default."""
    skills: list[str] | None = None
    """Names of the skills whose text the model sees; None means all that the library has."""
    dynamic_texts: list[str] = Field(default_factory=list)
    """Sources (`role:<pk>`, `purpose`, …) that a person moved from the static to the dynamic layer."""
    history_policy: Literal["repair", "strict"] = "repair"
    cache_policy: Literal["adaptive", "seed"] = "adaptive"
    cache_mode: Literal["auto", "explicit", "implicit"] = "auto"
    continue_cut: bool = True
    """Go on by itself when an answer was cut by the output limit."""
    continue_todos: bool = False
    """Go on by itself until every todo is done."""
    max_rounds: int = Field(default=10, ge=1, le=100)
    max_tokens: int | None = Field(default=1_000_000, ge=1)
    """Tokens, sent and received, after which a run is not continued."""
    max_usd: float | None = Field(default=1.0, gt=0)
    max_seconds: int | None = Field(default=1_200, ge=1)
    max_continuations: int = Field(default=5, ge=0, le=100)
    budget_usd: float | None = Field(default=None, gt=0)
    """What the whole session may cost; the call that would begin beyond it is not made."""
