"""How a run ended when it did not end well, in words for the place where the answer would be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from sessions_app.errors import first_sentence
from sessions_app.models import Exchange, Run
from sessions_app.prompt.reply import Outcome

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

    @classmethod
    def of(cls, run: Run, exchanges: Sequence[Exchange]) -> Self | None:
        """None for an active run and for a complete answer."""
        if run.status == Run.Status.FAILED:
            title, detail = first_sentence(str(run.error.get("message") or "The run failed."))
            return cls(
                "error",
                title,
                str(run.error.get("hint") or ""),
                cost_words(exchanges),
                exchanges[-1].response_id if exchanges else "",
                detail,
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
        return cls("note", outcome.words, outcome.hint, cost_words(exchanges))


def cost_words(exchanges: Sequence[Exchange]) -> str:
    """Whether a run that brought no answer cost something."""
    prompt = sum(exchange.prompt_tokens or 0 for exchange in exchanges)
    output = sum((exchange.output_tokens or 0) + (exchange.thought_tokens or 0) for exchange in exchanges)
    if not prompt and not output:
        return UNCHARGED
    return f"It cost {prompt:,} prompt and {output:,} output tokens."


def _outcome(value: str) -> Outcome | None:
    return next((outcome for outcome in Outcome if outcome.value == value), None)
