"""The notifications panel: events of a session that the model should know of."""

from typing import Any

from django.db.models import Q, QuerySet

from sessions_app.models import Notification, Session
from sessions_app.panels.base import Action, PanelKind, existing
from sessions_app.panels.rows import PanelRow

SEEN_SENT = 10
"""How many notifications that were seen are still sent, the newest ones."""


class NotificationRow(PanelRow):
    number: int
    kind: str
    text: str

    @property
    def value(self) -> dict[str, Any]:
        return {"id": f"N{self.number}", "kind": self.kind, "text": self.text}


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

    def template_context(self, session: Session, read: object) -> dict[str, Any]:
        rows = list(self.stored(session))
        seen = [one for one in reversed(rows) if one.status == Notification.Status.SEEN]
        return {"open": [one for one in rows if one not in seen], "seen": seen}
