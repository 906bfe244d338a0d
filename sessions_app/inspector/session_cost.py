"""What a session cost with everything it caused, beside the sums of its exchanges."""

from sessions_app.models import Booking, Session
from sessions_app.prompt.bookings import CauseSum
from sessions_app.wording import costs


def session_totals(session: Session) -> dict[str, str]:
    """The whole cost (`session`), and the same by cause (`causes`); empty without a booking. One query."""
    sums = causes_of(session)
    if not sums:
        return {}
    paid = session.spent_usd - session.emulated_usd
    bound = costs.BOUNDS["at_least" if session.unpriced else "exact"]
    return {
        "causes": costs.cause_sums(sums),
        "session": costs.amount(paid, session.emulated_usd, bound),
    }


def causes_of(session: Session) -> list[CauseSum]:
    return Booking.objects.filter(session=session).by_cause()
