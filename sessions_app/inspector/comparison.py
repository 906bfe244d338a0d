"""Which exchange another one is compared with: any of the same owner, for others of the same session."""

import re
from dataclasses import dataclass

from django.http import Http404

from sessions_app.models import Exchange, Session
from sessions_app.prompt.comparisons import ComparisonProblem

_ADDRESS = re.compile(
    r"(?P<session>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(?:inspect/)?(?P<number>\d{1,9})(?:[/?#]|$)",
    re.IGNORECASE,
)
"""`session/number`, or the address of an exchange's page with whatever follows."""

LONGEST = 500
"""Characters of an address that are read."""


@dataclass(frozen=True, slots=True)
class RequestComparison:
    """`other` is None where there is nothing to compare with; `asked` is what a person wrote."""

    other: Exchange | None
    problem: ComparisonProblem | None = None
    asked: str = ""


def comparison_of(exchange: Exchange, wanted: str, previous: int) -> RequestComparison:
    """With the exchange that is wanted, else with the previous one of its session; not with a purged one.

    Raises Http404 for the number of an exchange that its session does not have.
    """
    found = _named(exchange, wanted, previous)
    if found.other is not None and found.other.payload_purged_at is not None:
        return RequestComparison(None, ComparisonProblem.PURGED, found.asked)
    return found


def _named(exchange: Exchange, wanted: str, previous: int) -> RequestComparison:
    wanted = wanted.strip()[:LONGEST]
    own = Exchange.objects.filter(session=exchange.session_id).select_related("session")
    if wanted.isdecimal() and len(wanted) < 10:
        other = own.filter(number=int(wanted)).first()
        if other is None:
            raise Http404
        return RequestComparison(other)
    if not wanted:
        return RequestComparison(own.filter(number=previous).first())
    address = _ADDRESS.search(wanted)
    if address is None:
        return RequestComparison(own.filter(number=previous).first(), ComparisonProblem.NOT_READ, wanted)
    sessions = Session.objects.of(exchange.session.owner).filter(public=address["session"])
    if exchange.session.grant is not None:
        # A grant is for one session.
        sessions = sessions.filter(pk=exchange.session_id)
    found = Exchange.objects.filter(session__in=sessions, number=int(address["number"]))
    other = found.select_related("session").first()
    return RequestComparison(other, None if other else ComparisonProblem.NOT_FOUND, wanted)
