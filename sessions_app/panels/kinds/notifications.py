"""The notifications panel: events of a session that the model should know of."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from pydantic import Field

from sessions_app.models import Notification, Session
from sessions_app.panels.base import Action, PanelInputs, PanelKind, PanelValue, existing
from sessions_app.panels.rows import Moment, PanelRow

SEEN_SENT = 10
"""How many notifications that were seen are still sent, the newest ones."""


EARLIER_REQUESTS = (
    ". Go on until each is, or say what keeps you from it",
    " Go on exactly where it stopped, without repeating anything.",
    " Open it again if it is needed.",
    " Close files, or begin a new session.",
    " What arrived is kept. Write a message to go on.",
    " Write a message to go on.",
    " Change the limit in the session's settings (“Going on, limits, budget”), or write a message to go on.",
    (
        " What was done is kept. Continue or write a message to go on with a new count, or change the limit "
        "in the session's settings (“Going on, limits, budget”)."
    ),
)
"""What notifications of earlier versions ask of the model or the person, behind what happened.

The turn that continues a session asks the model, once; the page asks the person.
"""


class NotificationRow(PanelRow):
    number: int
    kind: str
    text: str
    status: str = ""
    created_at: Moment = Field(default_factory=timezone.now)
    seen_at: Moment | None = None

    def as_sent(self, began: datetime) -> dict[str, Any]:
        """Open until the end of the run that sent it first: a state that changes within a run would end the
        cached prefix there."""
        is_open = self.status != Notification.Status.SEEN or bool(self.seen_at and self.seen_at >= began)
        return {
            "id": f"N{self.number}",
            "kind": self.kind,
            "state": "open" if is_open else "seen",
            "at": self.created_at.isoformat(timespec="minutes"),
            "text": self._text(),
        }

    def _text(self) -> str:
        """What happened: nothing is asked in a panel, where it would stand for good."""
        text = self.text
        for request in EARLIER_REQUESTS:
            text = text.replace(request, "")
        return text


class MarkSeen(Action):
    number: int

    def carry_out(self, session: Session) -> str:
        rows = session.notifications.filter(number=self.number)
        existing(rows, f"There is no notification N{self.number} any more.").dismiss()
        return f"N{self.number} is marked as seen."


class MarkAllSeen(Action):
    def carry_out(self, session: Session) -> str:
        session.notifications.for_panel().dismiss()
        return "All are marked as seen."


class Notifications(PanelKind[NotificationRow]):
    position = 90
    key = "notifications"
    title = "Notifications"
    description = "What happened that the model should know."
    default_on = True
    model = Notification
    row = NotificationRow
    order = "number"
    is_transferred = False
    transfer_reason = "They tell what happened to this session here; an open one would start a run in a copy."
    actions = (MarkSeen, MarkAllSeen)

    def queryset(self, session: Any, owner: Any) -> "QuerySet[Any]":
        # Without messages of the person: these are in the history, and would change this panel, and so the
        # cached prefix, with every turn.
        told = Notification.objects.filter(session=session).for_panel()
        seen = told.filter(status=Notification.Status.SEEN).order_by("-number").values("pk")[:SEEN_SENT]
        return told.filter(~Q(status=Notification.Status.SEEN) | Q(pk__in=seen))

    def value(self, inputs: PanelInputs) -> PanelValue:
        return PanelValue([row.as_sent(inputs.began) for row in self.of(inputs)])

    def template_context(self, session: Session, read: object) -> dict[str, Any]:
        rows = list(self.stored(session))
        seen = [one for one in reversed(rows) if one.status == Notification.Status.SEEN]
        return {"open": [one for one in rows if one not in seen], "seen": seen}
