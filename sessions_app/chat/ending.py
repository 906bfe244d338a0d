"""How a run ended when it did not end well, in words for the place where the answer would be."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Self

from sessions_app.errors import first_sentence
from sessions_app.models import Exchange, Run
from sessions_app.prompt.reply import Outcome

SETTINGS = {
    "continue_cut": "Going on by itself",
    "thinking_level": "Thinking level",
    "language": "Language",
    "model": "Model",
    "tools": "Tools",
    "history_policy": "Broken history",
    "background": "Background",
}
"""What the buttons that lead to a setting are called."""

UNCHARGED = "The provider counted no tokens for it."


@dataclass(frozen=True, slots=True)
class Ending:
    """`error` takes the place of an answer, `note` stands below a partial one."""

    kind: Literal["error", "note"]
    title: str
    hint: str
    cost: str
    request_id: str = ""
    detail: str = ""
    """What a provider said beyond its first sentence."""
    setting: str = ""
    """The field of the session's settings that would change it."""
    ready_at: datetime | None = None
    """When the provider takes a request again, if it said so."""

    @classmethod
    def of(cls, run: Run, exchanges: Sequence[Exchange]) -> Self | None:
        """None for an active run and for a complete answer."""
        outcome = _outcome(run.outcome)
        if run.status == Run.Status.FAILED:
            title, detail = first_sentence(str(run.error.get("message") or "The run failed."))
            return cls(
                "error",
                title,
                str(run.error.get("hint") or ""),
                cost_words(exchanges),
                exchanges[-1].response_id if exchanges else "",
                detail,
                outcome.setting if outcome else "",
                _ready_at(run),
            )
        if run.status == Run.Status.STOPPED:
            return cls("note", "Stopped.", "What had arrived is kept.", cost_words(exchanges))
        if run.status == Run.Status.INTERRUPTED:
            return cls(
                "error",
                "The server stopped while this was being answered.",
                "What had arrived is kept. Retry asks again.",
                cost_words(exchanges),
            )
        return cls._of_outcome(run, exchanges)

    @classmethod
    def _of_outcome(cls, run: Run, exchanges: Sequence[Exchange]) -> Self | None:
        outcome = _outcome(run.outcome)
        if run.is_active or outcome in (None, Outcome.COMPLETE, Outcome.CALLS):
            return None
        cost = cost_words(exchanges)
        return cls("note", outcome.words, outcome.hint, cost, setting=outcome.setting)

    @property
    def setting_words(self) -> str:
        return SETTINGS.get(self.setting, "")


def _ready_at(run: Run) -> datetime | None:
    wait = run.error.get("retry_after")
    return run.ended_at + timedelta(seconds=float(wait)) if wait and run.ended_at else None


def cost_words(exchanges: Sequence[Exchange]) -> str:
    """Whether a run that brought no answer cost something."""
    prompt = sum(exchange.prompt_tokens or 0 for exchange in exchanges)
    output = sum((exchange.output_tokens or 0) + (exchange.thought_tokens or 0) for exchange in exchanges)
    if not prompt and not output:
        return UNCHARGED
    return f"It cost {prompt:,} prompt and {output:,} output tokens."


def _outcome(value: str) -> Outcome | None:
    return next((outcome for outcome in Outcome if outcome.value == value), None)
