"""`manage.py capture`: makes an address for another program and prints it."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError

from sessions_app.accounts.owner import local_owner
from sessions_app.capture.paths import MOUNT
from sessions_app.context.api_key import keys
from sessions_app.management.bounded_arguments import LARGEST_PORT, line_of_text, whole_number
from sessions_app.management.commands.link import find
from sessions_app.management.served_address import served_at
from sessions_app.models import CaptureAddress
from sessions_app.models.capture_address import LIFETIME, LIVING, LONGEST_DAYS, NAME_LENGTH

NO_KEY = (
    "This command finds no key of the installation: requests to this address are refused until there is one, "
    "unless the running server keeps one in its memory."
)


class Command(BaseCommand):
    help = "Make an address under which another program reaches Gemini through Pipeweb, and print it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--name",
            required=True,
            type=line_of_text(NAME_LENGTH),
            help="what the address is called on the pages",
        )
        parser.add_argument("--user", default="", help="whose it is; default: the first administrator")
        running = urlsplit(served_at())
        parser.add_argument(
            "--host", default=running.hostname, help="of the running server (default: %(default)s)"
        )
        parser.add_argument(
            "--port",
            type=whole_number(1, LARGEST_PORT),
            default=running.port,
            help="of the running server (default: %(default)s)",
        )
        parser.add_argument(
            "--server-key",
            action="store_true",
            help="use the key of this installation: whoever has the address spends the person's budget",
        )
        parser.add_argument("--emulator", action="store_true", help="relay to the built-in emulator")
        parser.add_argument(
            "--days",
            type=whole_number(0, LONGEST_DAYS),
            default=LIFETIME.days,
            help="until it ends; 0: never (default: %(default)s)",
        )

    def handle(
        self,
        *args: Any,
        name: str,
        user: str,
        host: str,
        port: int,
        emulator: bool,
        server_key: bool,
        days: int,
        **options: Any,
    ) -> None:
        person = find(user) if user else local_owner()
        if CaptureAddress.objects.of(person).living().count() >= LIVING:
            raise CommandError(f"There are {LIVING} addresses already; revoke one on the page {MOUNT}.")
        if emulator and server_key:
            raise CommandError("The emulator takes any key: leave out --server-key.")
        upstream = CaptureAddress.Upstream.EMULATOR if emulator else CaptureAddress.Upstream.PROVIDER
        lifetime = timedelta(days=days) if days else None
        _, token = CaptureAddress.issue(
            person.pk, name, upstream=upstream, lifetime=lifetime, uses_server_key=server_key
        )
        if server_key and not keys.current().text:
            self.stderr.write(NO_KEY)
        name_of_host = f"[{host}]" if ":" in host else host
        self.stdout.write(f"http://{name_of_host}:{port}{MOUNT}{token}")
