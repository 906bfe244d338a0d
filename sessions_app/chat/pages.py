"""What the templates need, built from rows with a constant number of queries."""

from dataclasses import dataclass
from typing import Any, Self

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from sessions_app.chat.lists import SessionList
from sessions_app.chat.outlook import Outlook
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.window import Gauge
from sessions_app.models import Attachment, Session, Turn
from sessions_app.models.branches import is_on_branch, newest_leaf


def provider(request: HttpRequest) -> dict[str, Any]:
    """Context processor: who answers, on every page."""
    is_emulator = not settings.GEMINI_API_KEY
    return {
        "provider_label": "Gemini emulator" if is_emulator else "Google Gemini",
        "is_emulator": is_emulator,
    }


@dataclass(frozen=True, slots=True)
class ChatPage:
    """`other` is the end of a branch that is read without being in view (design §4)."""

    session: Session
    transcript: Transcript
    side: SessionList
    outlook: Outlook
    attachments: QuerySet[Attachment]
    """Files of the message that is being written."""
    gauge: Gauge | None
    other: Turn | None = None

    @classmethod
    def of(cls, session: Session, side: SessionList, at: Turn | None = None) -> Self:
        """`at` is a turn that has to be on the page, on whichever branch it is."""
        other = newest_leaf(at) if at and not is_on_branch(at, session.head_id) else None
        transcript = Transcript.ending_at(other or session.head, at)
        waiting = Attachment.objects.in_composer(session)
        return cls(session, transcript, side, Outlook.of(session), waiting, Gauge.of(session), other)
