"""How full the model's window is: what the last request held, against what the model takes."""

from dataclasses import dataclass
from typing import Literal, Self

from sessions_app.context.capabilities import facts_of
from sessions_app.models import Exchange, Session

NEARLY, ALMOST = 70, 90
"""Percent from which a person is warned, and from which the next message may not fit."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """Tokens that the next request begins with: all of the last one and its answer."""

    used: int
    limit: int

    @classmethod
    def of(cls, session: Session) -> Self | None:
        """None while nothing was counted on the branch in view. One query."""
        if session.head_id is None:  # Django would look for runs without turns, of anybody
            return None
        counted = Exchange.objects.filter(
            session=session, prompt_tokens__isnull=False, run__turns=session.head_id
        )
        fields = ("model", "served_model", "prompt_tokens", "output_tokens")
        last = counted.order_by("-number").only(*fields).first()
        if last is None:
            return None
        limit = facts_of(session.model, last.served_model if last.model == session.model else "").input_limit
        return cls((last.prompt_tokens or 0) + (last.output_tokens or 0), limit)

    @property
    def percent(self) -> float:
        return round(min(100.0, 100 * self.used / self.limit), 1) if self.limit else 0.0

    @property
    def level(self) -> Literal["calm", "nearly", "almost"]:
        if self.percent >= ALMOST:
            return "almost"
        return "nearly" if self.percent >= NEARLY else "calm"

    @property
    def warning(self) -> str:
        return {
            "calm": "",
            "nearly": "The window is filling up: close files, or compress what was said.",
            "almost": "The next message may not fit: compress what was said, or go on in a new session.",
        }[self.level]
