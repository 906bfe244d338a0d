"""Runs of the probes against an emulator in the process, with a clock that nobody waits for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx2

from sessions_app.conform.probe_context import ProbeContext
from sessions_app.conform.probe_run import ProbeRun
from sessions_app.conform.probes import PROBES
from sessions_app.conform.report import ConformanceReport, PricesUsed, now
from sessions_app.conform.wire_log import WireLog
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.model_capabilities import Capabilities, capabilities_of
from sessions_app.prompt.pricing import Rates

MODEL = "gemini-3-flash-preview"
KEY = "AIza" + "Planted-Key_0123456789abcdefghijkl"
RATES = Rates(Decimal("0.50"), Decimal("0.05"), Decimal("3.00"), Decimal("1.00"))
Handler = Callable[[httpx2.Request], httpx2.Response | Exception | None]


class Provider(httpx2.AsyncBaseTransport):
    """The emulator as the provider; `handler` may answer or fail a request in its place."""

    def __init__(self, handler: Handler = lambda request: None) -> None:
        self.waited: list[float] = []
        self.requests: list[httpx2.Request] = []
        self.handler = handler
        self.emulator = Emulator(delay=0, clock=self._now)
        self._transport = EmulatorTransport(self.emulator)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.handler(request)
        if isinstance(answer, Exception):
            raise answer
        return answer or await self._transport.handle_async_request(request)

    async def pause(self, seconds: float) -> None:
        self.waited.append(seconds)

    def _now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=sum(self.waited))

    @property
    def streams(self) -> int:
        return sum(request.url.path.endswith(":streamGenerateContent") for request in self.requests)


def failing(status: int, message: str, *, times: int = 1, retry_after: str = "") -> Handler:
    """Refuses the first generations with this status."""
    left = [times]
    headers = {"Retry-After": retry_after} if retry_after else {}

    def handle(request: httpx2.Request) -> httpx2.Response | None:
        if not left[0] or not request.url.path.endswith(":streamGenerateContent"):
            return None
        left[0] -= 1
        error = {"code": status, "message": message, "status": "SOME_ERROR"}
        return httpx2.Response(status, headers=headers, json={"error": error})

    return handle


def empty_report(model: str = MODEL, *, budget: str = "1", **fields: Any) -> ConformanceReport:
    prices = PricesUsed(input=1, cached=1, output=1, storage=1, source="a test")
    given: dict[str, Any] = {
        "model": model,
        "provider": "Gemini",
        "host": "gemini.invalid",
        "is_emulator": False,
        "run": "0123456789ab",
        "began": now(),
        "pipeweb": "0",
        "sdk": "0",
        "budget": Decimal(budget),
        "prices": prices,
    }
    return ConformanceReport.model_validate(given | fields)


@dataclass
class Bench:
    """A run with everything around it."""

    run: ProbeRun
    provider: Provider
    stored: list[str] = field(default_factory=list)


def bench(
    provider: Provider | None = None,
    report: ConformanceReport | None = None,
    *,
    facts: Capabilities | None = None,
    rates: Rates = RATES,
    key: str = KEY,
) -> Bench:
    provider = provider or Provider()
    report = report or empty_report()
    log = WireLog(provider)
    gateway = Gateway(api_key=key, base_url="http://gemini.invalid", transport=log)
    context = ProbeContext(
        gateway, facts or capabilities_of(report.model), rates, run=report.run, pause=provider.pause
    )
    made = Bench(ProbeRun(context, report, log, secrets=(key,)), provider)
    made.run.store = lambda report: made.stored.append(report.model_dump_json())
    return made


def chosen(*names: str) -> Any:
    return [probe for probe in PROBES if probe.name in names]


def verdicts(report: ConformanceReport) -> dict[str, str]:
    return {probe.probe: probe.verdict for probe in report.probes}
