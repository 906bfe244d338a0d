"""`manage.py conform`: checks our assumptions against the provider or the emulator."""

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from sessions_app.conform.probe_context import DEAREST, ProbeContext
from sessions_app.conform.probes import ConformanceReport, ProbeResult, conform
from sessions_app.context.model_lookup import facts_of
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import PipewebError, SettingsError
from sessions_app.gemini.gateway import GOOGLE, Gateway
from sessions_app.models import ModelFacts, Price

BUDGET = 0.05
MODEL = "gemini-3-flash-preview"


class Command(BaseCommand):
    help = (
        "Check our assumptions about Gemini. Without --live the built-in emulator answers, which costs "
        "nothing; with it the provider of GEMINI_API_KEY, for a few cents. What was found is kept in "
        "PIPEWEB_DATA/conform."
    )

    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--live", action="store_true", help="ask the real provider; needs GEMINI_API_KEY")
        parser.add_argument("--model", default=MODEL, help=f"default: {MODEL}")
        parser.add_argument(
            "--budget",
            type=float,
            default=BUDGET,
            metavar="USD",
            help=f"probes that could exceed it are skipped; default: {BUDGET}",
        )
        parser.add_argument(
            "--save",
            action="store_true",
            help="put what was found into the capability table; only with --live",
        )

    def handle(self, *args: Any, live: bool, model: str, budget: float, save: bool, **options: Any) -> None:
        if save and not live:
            raise CommandError("What the emulator answers is no fact about a model. Add --live to save.")
        try:
            report = asyncio.run(self._conform(gateway(live), model, budget))
        except PipewebError as error:
            raise CommandError(f"{error} {error.hint}".strip()) from error
        except DatabaseError as error:
            raise CommandError(
                "The database is not ready. Run manage.py migrate, or manage.py up."
            ) from error
        self.stdout.write(report.lines()[-1])
        self.stdout.write(f"Kept in {write_report(report, settings.PIPEWEB_DATA / 'conform')}")
        if save:
            self.stdout.write(f"The capability table now says of {model}: {save_facts(report) or 'checked'}")
        if report.differs:
            count = len(report.differs)
            words = "1 assumption differs" if count == 1 else f"{count} assumptions differ"
            raise CommandError(f"{words} from what was found.", returncode=2)

    async def _conform(self, gateway: Gateway, model: str, budget: float) -> ConformanceReport:
        """Raises GatewayError when no request gets through."""
        try:
            context = await asyncio.to_thread(context_of, gateway, model)
            return await conform(context, budget, self._show)
        finally:
            await gateway.aclose()

    def _show(self, row: ProbeResult) -> None:
        self.stdout.write(row.line)
        self.stdout.flush()


def gateway(live: bool) -> Gateway:
    """Raises SettingsError for --live without a key."""
    if not live:
        return Gateway.to_emulator(EmulatorTransport(Emulator(delay=0)))
    if not settings.GEMINI_API_KEY:
        raise SettingsError(
            "--live asks the real provider and needs a key.",
            hint="Set GEMINI_API_KEY (https://aistudio.google.com/apikey). Without --live no key is needed.",
        )
    return Gateway(api_key=settings.GEMINI_API_KEY, base_url=settings.GOOGLE_GEMINI_BASE_URL or GOOGLE)


def context_of(gateway: Gateway, model: str) -> ProbeContext:
    """With today's price, or the highest known one where none is entered."""
    facts = facts_of(model)
    price = Price.objects.of(model, timezone.now().date(), family=facts.family)
    return ProbeContext(gateway, facts, price.rates(0) if price else DEAREST)


def write_report(report: ConformanceReport, folder: Path) -> Path:
    """Writes the report to a file named by time, place and model."""
    folder.mkdir(parents=True, exist_ok=True)
    where = "emulator" if report.is_emulator else "live"
    path = folder / f"{report.began:%Y%m%dT%H%M%S}-{where}-{report.model.replace('/', '_')}.json"
    path.write_bytes(orjson.dumps(report.as_json(), option=orjson.OPT_INDENT_2))
    return path


def save_facts(report: ConformanceReport) -> str:
    """Stores the findings in the model's row; returns them as text."""
    learned = report.learned()
    ModelFacts.objects.update_or_create(
        model=report.model, is_family=False, defaults=learned | {"checked_at": report.began}
    )
    return ", ".join(f"{name} {value}" for name, value in learned.items())
