"""`manage.py conform`: checks our assumptions against the provider or the emulator."""

import asyncio
import sys
from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from sessions_app.conform.cost_plan import BOUND
from sessions_app.conform.probe_run import ProbeRun
from sessions_app.conform.probes import PROBES
from sessions_app.conform.report import SETTLED, ConformanceReport, ProbeOutcome
from sessions_app.conform.report_comparison import compare
from sessions_app.errors import PipewebError
from sessions_app.management.conform_options import INVALID, MODEL, check_options, confirm, go_on, opened, usd
from sessions_app.management.conformance import (
    Target,
    emulator_target,
    live_target,
    new_report,
    run_of,
    save_facts,
)
from sessions_app.management.recording_options import add_recording_arguments, judge_recordings
from sessions_app.prompt.pricing import dollars, format_rate

DIFFERS = 2
INTERRUPTED = 130


class Command(BaseCommand):
    help = (
        "Check our assumptions about Gemini. Without --live the built-in emulator answers, which costs "
        "nothing; with it the provider of GEMINI_API_KEY, for a few cents: the plan with its price is shown "
        "first. The report is a file without key or account data that can be given away."
    )

    requires_system_checks = ()
    stealth_options = ("stdin",)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--live", action="store_true", help="ask the real provider; needs GEMINI_API_KEY")
        add("--yes", action="store_true", help="with --live: do not ask before anything is sent")
        add("--model", default="", help=f"default: {MODEL}, or that of the report")
        add("--base-url", default="", metavar="URL", help="default: GOOGLE_GEMINI_BASE_URL, or Google's")
        add(
            "--budget",
            type=usd,
            default=BOUND,
            metavar="USD",
            help=f"a run costs no more; with --live at most {BOUND}, which is the default",
        )
        names = ", ".join(probe.name for probe in PROBES)
        add("--skip", action="append", default=[], metavar="PROBE", help=f"leave one out: {names}")
        add("--report", type=Path, metavar="FILE", help="where to write it; default: in PIPEWEB_DATA/conform")
        add("--resume", type=Path, metavar="FILE", help="run what this report lacks, and complete it")
        add("--compare", type=Path, metavar="FILE", help="what the emulator does otherwise than this report")
        add(
            "--save",
            action="store_true",
            help="put what was found into the capability table; only with --live",
        )
        add_recording_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["recordings"]:
            judge_recordings(options, self.stdout.write)
            return
        check_options(options)
        try:
            if options["compare"]:
                self._compare(ConformanceReport.read(options["compare"]))
            else:
                self._check(**options)
        except PipewebError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error
        except DatabaseError as error:
            raise CommandError(
                "The database is not ready. Run manage.py migrate, or manage.py up."
            ) from error

    def _check(self, *, live: bool, yes: bool, skip: list[str], save: bool, **options: Any) -> None:
        """Raises CommandError where an assumption differs, or something is missing."""
        target = live_target(options["base_url"]) if live else emulator_target()
        report, path = opened(target, **options)
        run = run_of(target, report, skip)
        if live:
            self._show_plan(run, target)
            if not yes:
                confirm(options.get("stdin") or sys.stdin, self)
        self._run(run, target, path)
        self.stdout.write(report.summary())
        self.stdout.write(f"Kept in {path}")
        if save:
            self.stdout.write(
                f"The capability table now says of {report.model}: {save_facts(report) or 'checked'}"
            )
        complain(run, path, live=live)

    def _show_plan(self, run: ProbeRun, target: Target) -> None:
        """Raises CommandError where the plan could cost more than the budget."""
        report, prices, plan = run.report, run.report.prices, run.plan()
        storage = "unknown" if prices.storage is None else format_rate(prices.storage)
        self.stdout.write(f"{report.model} at {target.host}")
        self.stdout.write(
            f"US dollars per million tokens: {format_rate(prices.input)} in, {format_rate(prices.cached)} "
            f"cached, {format_rate(prices.output)} out, {storage} for an hour of storage ({prices.source})"
        )
        for line in plan.lines(report.budget):
            self.stdout.write(line)
        if plan.usd > report.budget:
            dear = ", ".join(f"{probe.name} ({dollars(probe.usd)})" for probe in plan.dearest())
            raise CommandError(
                f"Nothing was sent: it could cost {dollars(plan.usd)}, and the budget is "
                f"{dollars(report.budget)}. Choose a cheaper --model, or --skip one of the dearest: {dear}.",
                returncode=INVALID,
            )

    def _run(self, run: ProbeRun, target: Target, path: Path) -> None:
        """Writes the report after each probe. Raises GatewayError, and CommandError when interrupted."""
        run.show, run.tell = self._show, self._tell
        run.store = lambda report: report.write(path)
        try:
            asyncio.run(run_to_end(run, target))
        except KeyboardInterrupt:
            raise CommandError(f"Stopped.\n{go_on(path)}", returncode=INTERRUPTED) from None
        except PipewebError as error:
            error.hint = f"{error.hint}\n{go_on(path)}".strip()
            raise

    def _compare(self, live: ConformanceReport) -> None:
        """Raises CommandError where the emulator does otherwise."""
        target = emulator_target()
        report = new_report(target, live.model, Decimal(1))
        asked = {probe.probe for probe in live.probes if probe.verdict in SETTLED}
        run = run_of(target, report, [])
        run.chosen = [probe for probe in PROBES if probe.name in asked]
        asyncio.run(run_to_end(run, target))
        self.stdout.write(f"{live.model} at {live.host} on {live.began:%Y-%m-%d}, and the emulator of today")
        found = compare(live, report)
        for comparison in found:
            for line in comparison.lines():
                self.stdout.write(line)
        differing = sum(bool(comparison.differences) for comparison in found)
        if differing:
            raise CommandError(f"{differing} of {len(found)} probes differ in form.")

    def _show(self, probe: ProbeOutcome) -> None:
        self._tell(probe.line)

    def _tell(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


async def run_to_end(run: ProbeRun, target: Target) -> None:
    try:
        await run.run()
    finally:
        await target.gateway.aclose()


def complain(run: ProbeRun, path: Path, *, live: bool) -> None:
    """Raises CommandError where something is missing or differs."""
    report = run.report
    if report.left:
        run.tell(f"{report.left} of our caches may be left at the provider; they expire within minutes.")
    missing = [probe for probe in report.probes if probe.verdict == "failed"]
    if live and (report.stopped_by or missing):
        reason = report.stopped_by or f"{len(missing)} probes could not be run."
        raise CommandError(f"{reason}\n{go_on(path)}")
    if report.differs:
        count = len(report.differs)
        words = "1 assumption differs" if count == 1 else f"{count} assumptions differ"
        raise CommandError(f"{words} from what was found.", returncode=DIFFERS)
