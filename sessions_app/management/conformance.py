"""What `manage.py conform` is made of: where it asks, at which prices, and what it keeps."""

import asyncio
import sys
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from sessions_app.conform.cost_plan import DEAREST
from sessions_app.conform.probe_context import ProbeContext, new_run
from sessions_app.conform.probe_run import ProbeRun
from sessions_app.conform.report import ConformanceReport, PricesUsed, now
from sessions_app.conform.wire_log import WireLog
from sessions_app.context.model_lookup import facts_of
from sessions_app.context.outbound import provider_transport
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import SettingsError
from sessions_app.gemini.gateway import Gateway
from sessions_app.hosts import GOOGLE
from sessions_app.models import ModelFacts, Price
from sessions_app.prompt.pricing import Rates


@dataclass(frozen=True, slots=True)
class Target:
    """Who answers the probes. `pause` waits for so many seconds."""

    gateway: Gateway
    log: WireLog
    pause: Callable[[float], Awaitable[None]]

    @property
    def host(self) -> str:
        """Without credentials or path."""
        parts = urlsplit(self.gateway.base_url)
        return (parts.hostname or "") + (f":{parts.port}" if parts.port else "")


def emulator_target() -> Target:
    """The emulator in this process. Its clock goes on by what a probe waits."""
    waited = timedelta()

    async def pause(seconds: float) -> None:
        nonlocal waited
        waited += timedelta(seconds=seconds)

    emulator = Emulator(delay=0, clock=lambda: datetime.now(UTC) + waited)
    log = WireLog(EmulatorTransport(emulator))
    return Target(Gateway.to_emulator(log), log, pause)


def live_target(base_url: str) -> Target:
    """The provider of the key. Raises SettingsError without one."""
    if not settings.GEMINI_API_KEY:
        raise SettingsError(
            "--live asks the real provider and needs a key.",
            hint="Set GEMINI_API_KEY (https://aistudio.google.com/apikey). Without --live no key is needed.",
        )
    base_url = base_url or settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
    log = WireLog(provider_transport(base_url))
    return Target(
        Gateway(api_key=settings.GEMINI_API_KEY, base_url=base_url, transport=log), log, asyncio.sleep
    )


def new_report(target: Target, model: str, budget: Decimal) -> ConformanceReport:
    """A report of nothing yet, with today's prices, or the highest known ones where none is entered."""
    price = Price.objects.of(facts_of(model).family, timezone.now().date(), family=model)
    rates = price.rates(0) if price else DEAREST
    source = f"{price.source}, from {price.valid_from}" if price else "the dearest listed model"
    return ConformanceReport(
        model=facts_of(model).model,
        provider=target.gateway.label,
        host=target.host,
        is_emulator=target.gateway.is_emulator,
        run=new_run(),
        began=now(),
        pipeweb=own_version(),
        sdk=f"google-genai {version('google-genai')}, Python {sys.version.split()[0]}",
        budget=budget,
        prices=PricesUsed(
            input=rates.input, cached=rates.cached, output=rates.output, storage=rates.storage, source=source
        ),
    )


def run_of(target: Target, report: ConformanceReport, skipped: list[str]) -> ProbeRun:
    """The probes that the report lacks, at its prices."""
    prices = report.prices
    context = ProbeContext(
        target.gateway,
        facts_of(report.model),
        Rates(prices.input, prices.cached, prices.output, prices.storage),
        run=report.run,
        pause=target.pause,
    )
    secrets = (settings.GEMINI_API_KEY,)
    return ProbeRun(context, report, target.log, secrets=secrets, skipped=frozenset(skipped))


def save_facts(report: ConformanceReport) -> str:
    """Stores the findings in the model's row; returns them as text."""
    learned = report.learned()
    ModelFacts.objects.update_or_create(
        model=report.model, is_family=False, defaults=learned | {"checked_at": report.began}
    )
    return ", ".join(f"{name} {value}" for name, value in learned.items())


def own_version() -> str:
    project = tomllib.loads((Path(settings.BASE_DIR) / "pyproject.toml").read_text())
    return str(project["project"]["version"])
