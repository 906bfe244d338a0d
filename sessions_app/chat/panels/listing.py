"""The list of panels beside a chat: what the model reads now, and what it could read."""

from dataclasses import dataclass
from typing import Self

from django.utils import timezone

from sessions_app.chat.panels.notices import Notice, notice_of
from sessions_app.chat.panels.offers import Offers
from sessions_app.context.panels import ReadPanel, read_panels
from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session


@dataclass(frozen=True, slots=True)
class PanelList:
    """Every kind of panel with what it says now; `offers` are the tools."""

    session: Session
    panels: tuple[ReadPanel, ...]
    offers: Offers

    @classmethod
    def of(cls, session: Session, *asked: str) -> Self:
        """`asked` are kinds to read although they are off. Two statements, and one more each for history
        and statistics where they are read; the session has its assistant."""
        offers = Offers.of(session)
        workspace = workspace_of(session.owner_id)
        panels = read_panels(session, workspace, timezone.now(), tools=offers.states, asked=asked)
        return cls(session, tuple(panels), offers)

    @property
    def on(self) -> list[ReadPanel]:
        return [one for one in self.panels if one.is_on]

    @property
    def off(self) -> list[ReadPanel]:
        return [one for one in self.panels if not one.is_on]

    @property
    def sent(self) -> list[ReadPanel]:
        """What has something to say: an empty panel costs nothing."""
        return [one for one in self.on if one.panel]

    @property
    def tokens(self) -> int:
        """Estimated, of all panels that are sent."""
        return sum(one.tokens for one in self.sent)

    def named(self, key: str) -> ReadPanel:
        return next(one for one in self.panels if one.kind.key == key)


@dataclass(frozen=True, slots=True)
class Drawer:
    """All that stands beside a chat: the panels, what the last request had to tell, what was put away."""

    list: PanelList
    notice: Notice | None
    has_chunks: bool

    @classmethod
    def of(cls, session: Session) -> Self:
        chunks = session.history_chunks.exists()
        return cls(PanelList.of(session), notice_of(session), chunks)
