"""`manage.py audit`: whether what is stored about sessions follows from their raw rows."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Difference
from sessions_app.management.session_arguments import add_session_arguments, chosen_sessions

SHOWN = 120
"""Characters of a value."""


class Command(BaseCommand):
    help = (
        "Compute every figure and verdict of each session's exchanges again, from chunks, request bytes, "
        "cache events and price rows alone, by code that shares nothing with the product's. Nothing is sent "
        "or written. Exits with 1 when a figure differs, with 2 when a session does not exist."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_session_arguments(parser)

    def handle(self, *args: Any, sessions: list[str], **options: Any) -> None:
        chosen = chosen_sessions(sessions, all_of_them=options["all"])
        found = 0
        for session in chosen:
            for difference in audit_session(session.pk, str(session.public)):
                found += 1
                self.stdout.write(line_of(difference))
        self.stdout.write(f"{len(chosen)} sessions, {found} differences")
        if found:
            sys.exit(1)


def line_of(difference: Difference) -> str:
    stored, found = (repr(value)[:SHOWN] for value in (difference.stored, difference.found))
    place = f"{difference.session} exchange {difference.exchange}"
    return f"{place}: {difference.figure} is stored as {stored}, the raw rows give {found}"
