"""`manage.py restore`: puts a backup in the place of the data, which is set aside, and has it audited."""

import sys
from argparse import ArgumentParser
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from sessions_app.audit.session_money import audit_left_caches
from sessions_app.backups.restoring import restore
from sessions_app.errors import BackupError
from sessions_app.management.commands.audit import line_of, of_sessions, of_spending
from sessions_app.models import Session
from sessions_app.wording.sentences import counted


class Command(BaseCommand):
    help = (
        "Check a backup, set the present data aside and put the backup in its place; then migrate and audit "
        "every session. Refuses a damaged backup, one of a newer version, and data without --force. The "
        "server has to be stopped. Exits with 1 when the audit finds a difference."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a file that `backup` wrote")
        parser.add_argument("--force", action="store_true", help="although there is data: it is set aside")
        parser.add_argument("--no-audit", action="store_true", help="trust the digests alone")

    def handle(self, *args: Any, path: Path, force: bool, no_audit: bool, **options: Any) -> None:
        try:
            aside = restore(path.absolute(), force=force)
        except BackupError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error
        self.stdout.write(f"Restored. What was there before is in {aside}.")
        call_command("migrate", interactive=False, verbosity=0)
        if no_audit:
            return
        sessions = list(Session.objects.order_by("pk"))
        found = 0
        for difference in chain(of_sessions(sessions), of_spending(), audit_left_caches()):
            found += 1
            self.stdout.write(line_of(difference))
        self.stdout.write(f"{counted(len(sessions), 'session')} audited, {counted(found, 'difference')}")
        if found:
            sys.exit(1)
