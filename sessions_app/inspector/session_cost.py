"""What a session cost with everything it caused, beside the sums of its exchanges."""

from typing import Any

from django.db.models import Exists, OuterRef

from sessions_app.exchange_sums import cost_of_session
from sessions_app.models import Booking, CacheEntry, Session
from sessions_app.models.origin import Origin
from sessions_app.prompt.bookings import OF_CACHES, CauseSum
from sessions_app.wording import costs


def session_totals(session: Session) -> dict[str, Any]:
    """The whole cost (`session`), and the same by cause (`causes`), which are missing without a booking.

    `elsewhere`: of so many requests the same answer is booked in another session; `caches`: what the caches
    cost that it named and that no session pays for. One query, three of a captured session.
    """
    sums = causes_of(session)
    told = {"causes": costs.cause_sums(sums), "session": cost_of_session(session)} if sums else {}
    return told | {"elsewhere": booked_elsewhere(session), "caches": costs.cause_sums(caches_of(session))}


def booked_elsewhere(session: Session) -> int:
    if session.origin == Origin.CHAT:
        return 0
    booked = Booking.objects.filter(exchange=OuterRef("pk"))
    return session.exchanges.exclude(usd=None).exclude(Exists(booked)).count()


def caches_of(session: Session) -> list[CauseSum]:
    """What making and keeping the caches cost that its requests named and that a program had made: a program
    may name them in several sessions, so they are booked to none.
    """
    if session.origin == Origin.CHAT:
        return []
    named = session.exchanges.exclude(cache_name="").values("fingerprint")
    names = CacheEntry.objects.filter(is_programs=True, fingerprint__in=named).values("name")
    kept = Booking.objects.filter(owner=session.owner_id, session=None, cache_name__in=names)
    return kept.filter(cause__in=OF_CACHES).by_cause()


def causes_of(session: Session) -> list[CauseSum]:
    return Booking.objects.filter(session=session).by_cause()
