"""`manage.py audit`: whether what is stored about sessions follows from their raw rows."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference
from sessions_app.audit.reservations import audit_reservations
from sessions_app.audit.session_money import audit_left_caches, audit_money
from sessions_app.audit.spending import audit_days, audit_month, booked_months
from sessions_app.management.session_arguments import add_session_arguments, chosen_sessions
from sessions_app.management.shown_money import shown_month, shown_session
from sessions_app.models import Session
from sessions_app.wording.sentences import counted

SHOWN = 120
"""Characters of a value."""


class Command(BaseCommand):
    help = (
        "Compute every figure and verdict of each session's exchanges, bookings, ledgers and sums again, "
        "from chunks, request bytes, turns, cache events, model facts and price rows alone (with --all also "
        "those of Spending), "
        "by code that shares nothing with the product's. Nothing is sent or written. Exits with 1 when a "
        "figure differs, with 2 when a session does not exist."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_session_arguments(parser)

    def handle(self, *args: Any, sessions: list[str], **options: Any) -> None:
        chosen = chosen_sessions(sessions, all_of_them=options["all"])
        found = 0
        installation = [of_spending, audit_left_caches] if options["all"] else []
        for difference in chain(of_sessions(chosen), *map(read_twice, installation)):
            found += 1
            self.stdout.write(line_of(difference))
        self.stdout.write(f"{counted(len(chosen), 'session')}, {counted(found, 'difference')}")
        if found:
            sys.exit(1)


def of_sessions(sessions: Iterable[Session]) -> Iterator[Difference]:
    for session in sessions:
        yield from read_twice(partial(_of_session, session))


def _of_session(session: Session) -> Iterator[Difference]:
    public = str(session.public)
    yield from audit_session(session.pk, public)
    yield from audit_money(session.pk, public, shown_session(session))


def read_twice(audit: Callable[[], Iterator[Difference]]) -> Iterator[Difference]:
    """What differs in two readings: while a server works, one may see half of what is stored together."""
    if first := {_place(one) for one in audit()}:
        yield from (one for one in audit() if _place(one) in first)


def _place(one: Difference) -> tuple[str, int, str]:
    return one.session, one.exchange, one.figure


def of_spending() -> Iterator[Difference]:
    """What belongs to people: the sums of their days, and each month as their page shows it."""
    yield from audit_days()
    yield from audit_reservations()
    for owner, month in booked_months():
        yield from audit_month(owner, month, shown_month(owner, month))


def line_of(difference: Difference) -> str:
    stored, found = (repr(value)[:SHOWN] for value in (difference.stored, difference.found))
    place = difference.session + (f" exchange {difference.exchange}" if difference.exchange else "")
    return f"{place}: {difference.figure} is stored as {stored}, the raw rows give {found}"
