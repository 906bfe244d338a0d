"""What a session cost with everything it caused, beside the sums of its exchanges."""

from sessions_app.exchange_sums import has_bound
from sessions_app.models import Booking, Exchange, Session
from sessions_app.prompt.bookings import CauseSum
from sessions_app.wording import costs


def session_totals(session: Session) -> dict[str, str]:
    """The whole cost (`session`), and the same by cause (`causes`); empty without a booking. Two queries."""
    sums = causes_of(session)
    if not sums:
        return {}
    paid = session.spent_usd - session.emulated_usd
    is_bound = session.unpriced > 0 or has_bound(Exchange.objects.filter(session=session))
    bound = costs.BOUNDS["at_least" if is_bound else "exact"]
    return {
        "causes": costs.cause_sums(sums),
        "session": costs.amount(paid, session.emulated_usd, bound),
    }


def causes_of(session: Session) -> list[CauseSum]:
    return Booking.objects.filter(session=session).by_cause()
