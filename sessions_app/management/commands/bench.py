"""`manage.py bench`: measurements of the product on this machine."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.bench.registry import benches
from sessions_app.errors import PipewebError


class Command(BaseCommand):
    help = "Measure Pipeweb on this machine. Without a name it lists what can be measured."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = parser.add_subparsers(dest="bench", metavar="NAME", title="benches")
        for bench in benches().values():
            bench.add_arguments(names.add_parser(bench.name, help=bench.words, description=bench.words))

    def handle(self, *args: Any, bench: str | None, **options: Any) -> None:
        if bench is None:
            self.list()
            return
        try:
            benches()[bench].run(options, self.say)
        except PipewebError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error

    def list(self) -> None:
        for bench in benches().values():
            self.stdout.write(f"{bench.name:<12}{bench.words}")

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
