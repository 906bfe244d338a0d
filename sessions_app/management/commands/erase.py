"""`manage.py erase`: erases a person, and gives back the pages of the database that deleted rows leave."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from sessions_app.fulltext import compact
from sessions_app.runs.person_erasure import erase_person


class Command(BaseCommand):
    help = (
        "Erase a person with all that is theirs; sums of money stay without their name. --compact rewrites "
        "the database afterwards, so that no byte of deleted rows is left in its files (SQLite: others wait "
        "meanwhile)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", help="user name; none: only --compact")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--compact", action="store_true", help="rewrite the database")

    def handle(self, *args: Any, user: str, yes: bool, **options: Any) -> None:
        if not user and not options["compact"]:
            raise CommandError("Name the user to erase, or say --compact.")
        if user:
            person = User.objects.filter(username=user).first()
            if person is None:
                raise CommandError(f"There is no user named {user!r}.")
            if not yes and answer(f"Type {user} again to erase everything of theirs: ") != user:
                raise CommandError("Nothing was erased.")
            erase_person(person, by=None)
            self.stdout.write(f"Erased {user}. Backups keep what they hold until they are deleted.")
        if options["compact"]:
            compact(connection)
            self.stdout.write("The database was rewritten without deleted rows.")


def answer(question: str) -> str:
    """What is typed. Raises CommandError where nobody can type."""
    try:
        return input(question)
    except EOFError as error:
        raise CommandError("Nothing was erased. Say --yes where nobody can answer.") from error
