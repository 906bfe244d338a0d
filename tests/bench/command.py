"""`manage.py bench`: runs a benchmark."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import django
from django.core.management.base import BaseCommand, CommandError

from sessions_app.errors import PipewebError
from tests.bench import (
    admin,
    assembly,
    capture,
    captured,
    cost,
    hostile,
    inspector,
    markup,
    pages,
    people,
    relay,
    soak,
    templates,
    upload,
    weight,
    writers,
)

MODULES = (
    relay,
    capture,
    captured,
    writers,
    assembly,
    cost,
    inspector,
    admin,
    people,
    pages,
    markup,
    templates,
    upload,
    hostile,
    soak,
    weight,
)
BENCHES = {module.BENCH.name: module.BENCH for module in MODULES}


class Command(BaseCommand):
    help = "Measure Pipeweb on this machine. Without a name it lists what can be measured."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = parser.add_subparsers(dest="bench", metavar="NAME", title="benches")
        for bench in BENCHES.values():
            options = names.add_parser(bench.name, help=bench.summary, description=bench.summary)
            options.add_argument("--check", action="store_true", help="exit with 1 when an aim is missed")
            bench.add_arguments(options)

    def handle(self, *args: Any, bench: str | None, **options: Any) -> None:
        if bench is None:
            for known in BENCHES.values():
                self.write_line(f"{known.name:<12}{known.summary}")
            return
        try:
            aims = BENCHES[bench].run(options, self.write_line)
        except PipewebError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error
        for aim in aims:
            self.write_line(aim.line)
        missed = sum(aim.is_missed for aim in aims)
        if options["check"] and missed:
            raise CommandError(f"{missed} of {len(aims)} aims missed.")

    def write_line(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    """`arguments` begin with the program and `bench`, as in `sys.argv`. Exits with 1 on a CommandError."""
    django.setup()
    Command().run_from_argv(list(arguments))
