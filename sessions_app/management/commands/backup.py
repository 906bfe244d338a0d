"""`manage.py backup`: one file with the database and the workspaces, made while people chat."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.backups.making import make_backup
from sessions_app.errors import BackupError
from sessions_app.wording.sentences import counted


class Command(BaseCommand):
    help = (
        "Write the database and the workspaces into one new file that only its owner can read. The server "
        "may run meanwhile. With --with-secrets also what signs cookies, and a key entered on a page."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the file to write, such as pipeweb-2026-11-23.tar.gz")
        parser.add_argument("--with-secrets", action="store_true")

    def handle(self, *args: Any, path: Path, with_secrets: bool, **options: Any) -> None:
        try:
            manifest = make_backup(path.absolute(), with_secrets=with_secrets)
        except BackupError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error
        size = sum(entry.size for entry in manifest.files.values())
        self.stdout.write(f"{path}: {counted(len(manifest.files), 'file')}, {size:,} bytes before packing")
