"""Sessions named on a command line."""

from argparse import ArgumentParser
from uuid import UUID

from django.core.management.base import CommandError

from sessions_app.models import Session


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
    try:
        found = Session.objects.filter(public=UUID(name), deleted_at=None).first()
    except ValueError:
        found = None
    if found is None:
        raise CommandError(f"There is no session {name!r}.", returncode=2)
    return found
