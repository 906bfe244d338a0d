"""What a session cost with everything it caused, beside the sums of its exchanges."""

from sessions_app.exchange_sums import cost_of_session
from sessions_app.models import Booking, Session
from sessions_app.prompt.bookings import CauseSum
from sessions_app.wording import costs


def session_totals(session: Session) -> dict[str, str]:
    """The whole cost (`session`), and the same by cause (`causes`); empty without a booking. One query."""
    sums = causes_of(session)
    return {"causes": costs.cause_sums(sums), "session": cost_of_session(session)} if sums else {}


def causes_of(session: Session) -> list[CauseSum]:
    return Booking.objects.filter(session=session).by_cause()
