"""The list of what was captured: sessions, the newest on top, with their requests and lanes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from django.db.models import Count, Max
from django.utils import timezone

from sessions_app.capture.placements import LaneRole
from sessions_app.models import CapturedRequest
from sessions_app.wording import capture

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SHOWN = 300
"""Requests on the page, the newest; a session that began before them is shown from there on."""

LOST = timedelta(minutes=15)
"""After so long nobody will tell how a request ended."""


@dataclass(frozen=True, slots=True)
class ListedRequest:
    row: CapturedRequest
    number: int
    lane: int
    """Its place among the lanes of the session, 0 for the main one."""

    @property
    def label(self) -> str:
        """What it is in its session."""
        return capture.relation(self.row.relation, is_guess=self.row.is_guess) if self.row.relation else ""

    @property
    def role(self) -> str:
        return capture.ROLES[self.row.role] if self.row.role else ""

    @property
    def fault(self) -> str:
        return capture.fault(self.row.fault) if self.row.fault else ""

    @property
    def is_under_way(self) -> bool:
        return self.row.is_open and not self.is_lost

    @property
    def is_lost(self) -> bool:
        return self.row.is_open and self.row.received_at < timezone.now() - LOST

    @property
    def is_failed(self) -> bool:
        return bool(self.row.fault) or (self.row.status or 0) >= 400

    @property
    def cached_share(self) -> float | None:
        prompt, cached = self.row.prompt_tokens, self.row.cached_tokens
        return None if not prompt or cached is None else 100 * cached / prompt


@dataclass(slots=True)
class ListedSession:
    """Requests of one session, or the single request that belongs to none."""

    key: str
    requests: list[ListedRequest] = field(default_factory=list)

    @property
    def newest(self) -> CapturedRequest:
        return self.requests[-1].row

    @property
    def title(self) -> str:
        """The name that the client gave, else who asked."""
        first = self.requests[0].row
        return first.name or first.client.partition("/")[0] or "unknown program"

    @property
    def lanes(self) -> int:
        return len({request.lane for request in self.requests})

    @property
    def prompt(self) -> int:
        return sum(request.row.prompt_tokens or 0 for request in self.requests)

    @property
    def cached_share(self) -> float | None:
        cached = sum(request.row.cached_tokens or 0 for request in self.requests)
        return 100 * cached / self.prompt if self.prompt else None


def listed(user: "User") -> list[ListedSession]:
    rows = CapturedRequest.objects.of(user).select_related("address")
    rows = rows.defer("headers", "response_headers", "packets", "calls")
    sessions: dict[tuple[int, str], ListedSession] = {}
    for row in reversed(rows[:SHOWN]):
        key = row.session or str(row.public)
        session = sessions.setdefault((row.address_id, key), ListedSession(key))
        session.requests.append(ListedRequest(row, len(session.requests) + 1, 0))
    found = [_with_lanes(session) for session in sessions.values()]
    return sorted(found, key=lambda session: session.newest.pk, reverse=True)


def state_of(user: "User") -> str:
    """Changes whenever the list does."""
    rows = CapturedRequest.objects.of(user)
    facts = rows.aggregate(Max("pk"), Count("pk"), Max("ended_at"), Count("ended_at"))
    return sha256(repr(sorted(facts.items())).encode()).hexdigest()[:16]


def _with_lanes(session: ListedSession) -> ListedSession:
    """Main lanes first, then others in the order in which they began."""
    order: dict[str, int] = {}
    for lane in _lanes(session.requests):
        order.setdefault(lane, len(order))
    session.requests = [
        ListedRequest(one.row, one.number, order.get(one.row.lane, 0)) for one in session.requests
    ]
    return session


def _lanes(requests: Iterable[ListedRequest]) -> Iterator[str]:
    rows = [one.row for one in requests]
    yield from (row.lane for row in rows if row.role == LaneRole.MAIN)
    yield from (row.lane for row in rows if row.role != LaneRole.MAIN)
