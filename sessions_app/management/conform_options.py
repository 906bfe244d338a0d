"""The options of `manage.py conform`: which go together, which report they mean, and the question."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from sessions_app.conform.cost_plan import BOUND
from sessions_app.conform.probes import PROBES
from sessions_app.conform.report import ConformanceReport, file_name
from sessions_app.management.conformance import Target, new_report
from sessions_app.prompt.pricing import dollars

MODEL = "gemini-3-flash-preview"
INVALID = 2


def usd(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    if not (value.is_finite() and value >= 0):
        raise ValueError(text)
    return value


def check_options(options: dict[str, Any]) -> None:
    """Raises CommandError for options that do not go together."""
    live, unknown = options["live"], set(options["skip"]) - {probe.name for probe in PROBES}
    problems = {
        "What the emulator answers is no fact about a model. Add --live to save.": options["save"]
        and not live,
        "--compare asks the emulator: it goes without --live, --report and --resume.": options["compare"]
        and (live or options["report"] or options["resume"]),
        "--resume writes into the same file: leave --report out.": options["resume"] and options["report"],
        "--yes, --resume and --base-url are for --live.": not live
        and (options["yes"] or options["resume"] or options["base_url"]),
        f"With --live the budget is at most {dollars(BOUND)}.": live and options["budget"] > BOUND,
        f"There is no probe named {', '.join(sorted(unknown))}.": unknown,
    }
    for problem, is_there in problems.items():
        if is_there:
            raise CommandError(problem, returncode=INVALID)


def opened(target: Target, **options: Any) -> tuple[ConformanceReport, Path]:
    """The report to fill, and its file. Raises ReportUnreadable, CommandError."""
    path, model = options["resume"], options["model"]
    if path is None:
        report = new_report(target, model or MODEL, options["budget"])
        path = options["report"] or settings.PIPEWEB_DATA / "conform" / file_name(report)
        if path.exists():
            raise CommandError(f"{path} exists. Go on with it by --resume, or name another.")
        return report, path
    report = ConformanceReport.read(path)
    if report.host != target.host:
        raise CommandError(f"{path} was made at {report.host}, not at {target.host}.")
    if model and report.model != model:
        raise CommandError(f"{path} is about {report.model}, not about {model}.")
    return report, path


def confirm(stdin: TextIO, command: BaseCommand) -> None:
    """Raises CommandError unless somebody says yes."""
    if not stdin.isatty():
        raise CommandError(
            "Nothing was sent, since nobody can be asked here. Add --yes to go on without a question.",
            returncode=INVALID,
        )
    command.stdout.write("Go on? [y/N] ", ending="")
    command.stdout.flush()
    if stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("Nothing was sent.", returncode=1)


def go_on(path: Path) -> str:
    return f"Go on with: python3 manage.py conform --live --resume {path}"
