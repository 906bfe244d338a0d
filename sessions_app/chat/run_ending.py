"""How a run ended, as the chat shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Self

from sessions_app.chat.session_form import option_label
from sessions_app.errors import excerpt
from sessions_app.exchange_sums import is_cut_off
from sessions_app.models import Exchange, Run
from sessions_app.models.turn_numbers import numbered_error
from sessions_app.prompt.outcomes import Outcome, is_unknown
from sessions_app.wording import endings, outcomes, refusals
from sessions_app.wording.refusals import stored_error_texts

Kind = Literal["error", "note"]

ANSWERED = (Outcome.CALLS, Outcome.CONTINUES)
"""Outcomes of a request that was answered and is followed by another one."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: `error` replaces the answer, `note` follows a partial one."""

    kind: Kind
    title: str
    hint: str
    cost: str
    request_id: str = ""
    detail: str = ""
    """The whole error message, where the title is an excerpt of it."""
    setting: str = ""
    """The setting of the session that would help."""
    ready_at: datetime | None = None
    """When the provider accepts requests again, if known."""

    @classmethod
    def of(cls, run: Run, exchanges: Sequence[Exchange], *, is_cut: bool = False) -> Self | None:
        """None for an active run or a complete answer. `is_cut`: the beginning of an answer stands there."""
        if run.is_active:
            return None
        outcome = _outcome(run.outcome)
        if run.status == Run.Status.FAILED:
            return cls._of_failure(run, exchanges, outcome, is_cut=is_cut)
        cost = cost_of(exchanges)
        if run.status in (Run.Status.STOPPED, Run.Status.INTERRUPTED):
            kind: Kind = "note" if run.status == Run.Status.STOPPED else "error"
            has_arrived = is_cut or any(one.first_chunk_ms is not None for one in exchanges)
            texts = endings.broken_off_texts(run.status, is_asked=bool(exchanges), has_arrived=has_arrived)
            return cls(kind, *texts, cost)
        if outcome in (None, Outcome.COMPLETE, Outcome.CALLS):
            return cls._of_news(exchanges, cost)
        title, hint = outcomes.sentence(outcome), outcomes.hint(outcome, is_captured=_is_captured(exchanges))
        hint = endings.beside_what_stands(hint, is_cut=is_cut and outcome is Outcome.UNFINISHED)
        return cls("note", title, hint, cost, setting=outcome.setting)

    @classmethod
    def _of_news(cls, exchanges: Sequence[Exchange], cost: str) -> Self | None:
        """A finish reason that is not known, below an answer that stands."""
        unknown = [one for one in exchanges if is_unknown(one.finish_reason)]
        if not unknown:
            return None
        has_called = any(one.outcome == Outcome.CALLS for one in unknown)
        texts = outcomes.news_texts(
            unknown[-1].finish_reason, is_captured=_is_captured(exchanges), has_called=has_called
        )
        return cls("note", *texts, cost)

    @classmethod
    def _of_failure(
        cls, run: Run, exchanges: Sequence[Exchange], outcome: Outcome | None, *, is_cut: bool
    ) -> Self:
        text, hint = stored_error_texts(numbered_error(run), is_captured=_is_captured(exchanges))
        # Our own refusals say themselves what became of the answer.
        is_ours = run.error.get("reason") in refusals.SENTENCES
        hint = endings.beside_what_stands(hint, is_cut=is_cut and not is_ours)
        message = (text or endings.title("failed")).strip()
        title = excerpt(message)
        # What failed after an answered request, such as one that was not sent, has no response.
        is_before = bool(exchanges) and exchanges[-1].outcome in ANSWERED
        return cls(
            "error",
            title,
            hint,
            cost_of(exchanges, is_before=is_before),
            exchanges[-1].response_id if exchanges and not is_before else "",
            "" if title == message else message,
            outcome.setting if outcome else "",
            _ready_at(run),
        )

    @property
    def setting_label(self) -> str:
        return option_label(self.setting)


def _ready_at(run: Run) -> datetime | None:
    wait = run.error.get("retry_after")
    return run.ended_at + timedelta(seconds=float(wait)) if wait and run.ended_at else None


def cost_of(exchanges: Sequence[Exchange], *, is_before: bool = False) -> str:
    """What a run without an answer cost; empty where no request of it is known.

    `is_before`: what failed came after the answers to its requests.
    """
    if not exchanges:
        return ""
    prompt = sum(exchange.prompt_tokens or 0 for exchange in exchanges)
    output = sum((exchange.output_tokens or 0) + (exchange.thought_tokens or 0) for exchange in exchanges)
    return endings.cost(prompt, output, is_cut_off=any(map(is_cut_off, exchanges)), is_before=is_before)


def _is_captured(exchanges: Sequence[Exchange]) -> bool:
    """Whether another program asked: then there is no chat to be changed, and nobody to try again."""
    return any(one.is_captured for one in exchanges)


def _outcome(value: str) -> Outcome | None:
    return next((outcome for outcome in Outcome if outcome.value == value), None)
