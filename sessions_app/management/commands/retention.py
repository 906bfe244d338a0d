"""`manage.py retention`: applies the rules of retention now, or says what they would take."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand

from sessions_app.runs.retention import apply_rules, due_now
from sessions_app.wording.retention import REASONS
from sessions_app.wording.sentences import counted


class Command(BaseCommand):
    help = (
        "Purge payloads and erase sessions by the rules of retention (admin, “Retention rules”), as a "
        "running server does every hour. With --dry-run nothing is changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would go")

    def handle(self, *args: Any, dry_run: bool, **options: Any) -> None:
        due = due_now()
        counts = Counter(one.rule for one in due)
        for rule, count in counts.items():
            size = sum(one.size for one in due if one.rule is rule)
            self.stdout.write(f"{REASONS[rule]}: {counted(count, 'session')}, {size:,} bytes")
        if dry_run or not due:
            self.stdout.write(f"{counted(len(due), 'session')} due; nothing was changed")
            return
        done = apply_rules(due)
        if done is not None:
            self.stdout.write(
                f"purged {counted(done.purged_exchanges, 'exchange')} of "
                f"{counted(done.purged_sessions, 'session')}, erased "
                f"{counted(done.erased_sessions, 'session')} and {done.erased_from_trash} from the trash"
            )
