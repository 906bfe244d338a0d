"""What a session cost with everything it caused, beside the sums of its exchanges."""

from collections.abc import Mapping
from typing import Any

from sessions_app.exchange_sums import has_bound
from sessions_app.models import Booking, Exchange, Session
from sessions_app.prompt.bookings import CauseSum
from sessions_app.wording import costs


def session_totals(session: Session, counted: Mapping[str, Any]) -> dict[str, str]:
    """The whole cost (`session`), and the same by cause (`causes`); empty without a booking.

    `counted` are the `sums` of its exchanges, or of some: then two queries, else one.
    """
    sums = causes_of(session)
    if not sums:
        return {}
    paid = session.spent_usd - session.emulated_usd
    is_bound = session.unpriced > 0 or counted["bounds"] > 0
    if not is_bound and counted["count"] < session.exchange_count:
        is_bound = has_bound(Exchange.objects.filter(session=session))
    bound = costs.BOUNDS["at_least" if is_bound else "exact"]
    return {
        "causes": costs.cause_sums(sums),
        "session": costs.amount(paid, session.emulated_usd, bound),
    }


def causes_of(session: Session) -> list[CauseSum]:
    return Booking.objects.filter(session=session).by_cause()
