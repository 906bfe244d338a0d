"""Use of the model's context window, and the context of the chat page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from sessions_app.chat.cost_forecast import CostForecast
from sessions_app.chat.emulator_strip import wants_strip
from sessions_app.chat.model_notices import ShownNotice, shown_notices
from sessions_app.chat.model_offers import ChosenModel
from sessions_app.chat.open_files import OpenFileChip, open_files
from sessions_app.chat.transcript import Transcript
from sessions_app.context.api_key import keys
from sessions_app.context.model_lookup import facts_of
from sessions_app.hosts import EMULATOR, GOOGLE, host_of, is_google
from sessions_app.key_codes import KeyOrigin
from sessions_app.models import Attachment, Exchange, Session, Turn
from sessions_app.models.branches import is_on_branch, newest_leaf
from sessions_app.wording.sessions import WINDOW_WARNINGS

WARNING_PERCENT, CRITICAL_PERCENT = 70, 90
"""Percent of the input limit."""


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """Tokens of the last request and its answer, which the next request begins with."""

    used: int
    limit: int

    @classmethod
    def of(cls, session: Session) -> Self | None:
        """None if no request of the branch in view was counted. One query."""
        if session.head_id is None:  # None would match runs without turns
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
        if self.percent >= CRITICAL_PERCENT:
            return "almost"
        return "nearly" if self.percent >= WARNING_PERCENT else "calm"

    @property
    def warning(self) -> str:
        return WINDOW_WARNINGS[self.level]


def provider_context(request: HttpRequest) -> dict[str, Any]:
    """Context processor: who answers now."""
    key = keys.current()
    is_emulator = not key.text
    base_url = EMULATOR if is_emulator else settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
    return {
        "provider_host": host_of(base_url),
        "is_google": is_google(base_url),
        "is_emulator": is_emulator,
        "is_key_unreadable": key.origin is KeyOrigin.UNREADABLE,
        "shows_emulator_strip": is_emulator and wants_strip(request),
    }


@dataclass(frozen=True, slots=True)
class ChatPage:
    """`other` is the leaf of a branch that is shown but not in view."""

    session: Session
    transcript: Transcript
    outlook: CostForecast
    attachments: QuerySet[Attachment]
    """Files of the message that is being written."""
    open_files: Sequence[OpenFileChip]
    gauge: ContextUsage | None
    other: Turn | None = None

    @property
    def chosen_model(self) -> ChosenModel:
        return ChosenModel.of(self.session)

    @property
    def model_notices(self) -> tuple[ShownNotice, ...]:
        return shown_notices(self.session.model)

    @classmethod
    def of(cls, session: Session, at: Turn | None = None) -> Self:
        """`at` is a turn the page must show, on any branch."""
        other = newest_leaf(at) if at and not is_on_branch(at, session.head_id) else None
        transcript = Transcript.ending_at(other or session.head, at)
        waiting = Attachment.objects.in_composer(session)
        return cls(
            session,
            transcript,
            CostForecast.of(session),
            waiting,
            open_files(session),
            ContextUsage.of(session),
            other,
        )
