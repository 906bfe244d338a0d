"""Sessions named on a command line."""

from argparse import ArgumentParser

from django.core.management.base import CommandError

from sessions_app.models import Session
from sessions_app.values import uuid_or_none


def add_session_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="public id of a session")
    parser.add_argument("--all", action="store_true", help="every session that is not deleted")


def chosen_sessions(names: list[str], *, all_of_them: bool) -> list[Session]:
    """Raises CommandError (exit code 2) for no name and for one that no session has."""
    if all_of_them:
        return list(Session.objects.filter(deleted_at=None).order_by("pk"))
    if not names:
        raise CommandError("Name a session, or say --all.", returncode=2)
    return [_find(name) for name in names]


def _find(name: str) -> Session:
    key = uuid_or_none(name)
    found = Session.objects.filter(public=key, deleted_at=None).first() if key else None
    if found is None:
        raise CommandError(f"There is no session {name!r}.", returncode=2)
    return found
