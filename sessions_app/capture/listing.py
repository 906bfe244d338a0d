"""The list of what was captured: sessions, the newest on top, with their requests and lanes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Sum
from django.urls import reverse
from django.utils import timezone

from sessions_app.capture.placements import LaneRole
from sessions_app.exchange_sums import ShownCost, cost_of, cost_of_sums, sums
from sessions_app.models import CaptureAddress, CapturedRequest, Session
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.tokens import cached_percent
from sessions_app.prompt.verdict import MEANINGS
from sessions_app.wording import capture, verdicts

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SHOWN = 300
"""Requests on the page, the newest; a session that began before them is shown from there on."""

OF_ONE = 20
"""Requests of one session on the page, the newest; the inspector has all."""

LOST = timedelta(minutes=15)
"""After so long nobody will tell how a request ended."""

LARGE_COLUMNS = ("manifest", "stages", "notes", "ledger", "plan_figures", "verdict_figures")
"""Columns of an exchange that the list does not show."""


@dataclass(frozen=True, slots=True)
class ListedRequest:
    row: CapturedRequest
    number: int
    lane: int
    """Its place among the lanes of the session, 0 for the main one."""

    @property
    def url(self) -> str:
        """In the inspector, where it belongs to a session."""
        if self.row.exchange is not None:
            return self.row.exchange.get_absolute_url()
        return reverse("captured-request", args=[self.row.public])

    @property
    def label(self) -> str:
        """What it is in its session."""
        return capture.relation(self.row.relation, is_guess=self.row.is_guess) if self.row.relation else ""

    @property
    def program(self) -> str:
        return capture.program(self.row.client)

    @property
    def role(self) -> str:
        return capture.ROLES[self.row.role] if self.row.role else ""

    @property
    def fault(self) -> str:
        return capture.fault(self.row.fault) if self.row.fault else ""

    @property
    def verdict(self) -> str:
        exchange = self.row.exchange
        return verdicts.label(exchange.verdict) if exchange and exchange.verdict else ""

    @property
    def tone(self) -> str:
        exchange = self.row.exchange
        return MEANINGS[VerdictCode(exchange.verdict)].tone if exchange and exchange.verdict else ""

    @property
    def cost(self) -> ShownCost | None:
        exchange = self.row.exchange
        return cost_of(exchange) if exchange else None

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
    def cached_share(self) -> int | None:
        return cached_percent(self.row.cached_tokens, self.row.prompt_tokens)


@dataclass(slots=True)
class ListedSession:
    """Requests of one session, or with a `session` of None those that belong to none.

    `count`, `prompt`, `cached` and `cost` are of all its requests, also of those that are not listed.
    """

    session: Session | None = None
    requests: list[ListedRequest] = field(default_factory=list)
    count: int = 1
    prompt: int = 0
    cached: int = 0
    cost: ShownCost | None = None

    @property
    def newest(self) -> CapturedRequest:
        return self.requests[-1].row

    @property
    def title(self) -> str:
        return self.session.shown_title if self.session else capture.OTHER_REQUESTS

    @property
    def program(self) -> str:
        return capture.program(self.requests[0].row.client)

    @property
    def lanes(self) -> int:
        return len({request.lane for request in self.requests})

    @property
    def more(self) -> int:
        return self.count - len(self.requests) if self.session else 0

    @property
    def cached_share(self) -> int | None:
        return cached_percent(self.cached, self.prompt)


def listed(user: "User") -> list[ListedSession]:
    """Two queries."""
    rows = CapturedRequest.objects.of(user).filter(exchange__session__deleted_at=None)
    rows = rows.select_related("address", "exchange__session").defer(
        "headers", "response_headers", "packets", "calls", "framing"
    )
    rows = rows.defer(*(f"exchange__{name}" for name in LARGE_COLUMNS))
    sessions: dict[int, ListedSession] = {}
    for row in reversed(rows[:SHOWN]):
        own = row.exchange.session if row.exchange else None
        of_session = sessions.setdefault(own.pk if own else 0, ListedSession(own))
        number = row.exchange.number if row.exchange else 0
        of_session.requests.append(ListedRequest(row, number, 0))
    _add_sums([one for one in sessions.values() if one.session])
    found = [_with_lanes(session) for session in sessions.values()]
    return sorted(found, key=lambda session: session.newest.pk, reverse=True)


def state_of(user: "User") -> str:
    """Changes whenever the list does."""
    rows = CapturedRequest.objects.of(user)
    facts = rows.aggregate(Max("pk"), Count("pk"), Max("ended_at"), Count("ended_at"))
    changes = CaptureAddress.objects.of(user).aggregate(Sum("regroupings"))
    titles = list(Session.objects.of(user).captured().values_list("pk", "title")[:SHOWN])
    return sha256(repr((sorted({**facts, **changes}.items()), titles)).encode()).hexdigest()[:16]


def _add_sums(sessions: Iterable[ListedSession]) -> None:
    by_session = {one.session.pk: one for one in sessions if one.session}
    rows = CapturedRequest.objects.filter(exchange__session__in=list(by_session)).order_by()
    counts = sums("exchange__") | {"prompt": Sum("prompt_tokens"), "cached": Sum("cached_tokens")}
    found = rows.values("exchange__session").annotate(**counts)
    for row in map(dict[str, Any], found):
        one = by_session[row["exchange__session"]]
        one.count, one.cost = row["count"], cost_of_sums(row) if row["priced"] else None
        one.prompt, one.cached = row["prompt"] or 0, row["cached"] or 0


def _with_lanes(session: ListedSession) -> ListedSession:
    """Main lanes first, then others in the order in which they began; the newest requests."""
    if session.session is None:
        return session
    order: dict[str, int] = {}
    for lane in _lanes(session.requests):
        order.setdefault(lane, len(order))
    session.requests = [
        ListedRequest(one.row, one.number, order.get(one.row.lane, 0)) for one in session.requests[-OF_ONE:]
    ]
    return session


def _lanes(requests: Iterable[ListedRequest]) -> Iterator[str]:
    rows = [one.row for one in requests]
    yield from (row.lane for row in rows if row.role == LaneRole.MAIN)
    yield from (row.lane for row in rows if row.role != LaneRole.MAIN)
