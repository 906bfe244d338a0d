"""What a list that stands still (filtered, ordered otherwise, or a later page) tells of what came since."""

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from sessions_app.inspector.exchange_filters import Filters
from sessions_app.inspector.list_state import MAX_OPEN, ListState
from sessions_app.models import Exchange, Session


@dataclass(frozen=True, slots=True)
class StillList:
    """`new` counts the exchanges since the list was read that pass its filters, `ended` those open then.

    A text is not looked for in them again, since that reads all sources: `is_searched` tells that they may
    not contain it.
    """

    filters: Filters
    seen: ListState
    new: int = 0
    ended: int = 0

    @classmethod
    def of(cls, session: Session, filters: Filters) -> Self:
        """A list that is read now. One query."""
        waiting = Exchange.objects.filter(session=session, ended_at=None).order_by("-number")
        numbers = waiting.values_list("number", flat=True)[:MAX_OPEN]
        seen = ListState(session.exchange_count, dict.fromkeys(numbers, 0), 0, active=False, is_empty=False)
        return cls(filters, seen)

    @classmethod
    def since(cls, session: Session, params: Any, seen: ListState) -> Self:
        """One query where nothing was sent and none was open."""
        filters = Filters(params, [])
        own = Exchange.objects.filter(session=session)
        new = 0
        if session.exchange_count > seen.newest:
            new = filters.apply(own.filter(number__gt=seen.newest)).count()
        ended = own.filter(number__in=seen.open, ended_at__isnull=False).count() if seen.open else 0
        return cls(filters, seen, new, ended)

    @property
    def is_searched(self) -> bool:
        return bool(self.filters.text)

    @property
    def told(self) -> str:
        """What the page says now, for the next poll."""
        return f"{self.new}-{self.ended}"

    @property
    def fresh_list(self) -> str:
        """The query string of the first page of this list."""
        return urlencode(self.filters.given)

    @property
    def query(self) -> str:
        return f"{self.seen.query}&{urlencode(self.filters.given | {'told': self.told})}"
