"""Runs the probes one after another and keeps the report up to date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sessions_app.conform.cost_plan import Plan, PlannedProbe
from sessions_app.conform.masking import Mask
from sessions_app.conform.probe_context import Observation, ProbeContext
from sessions_app.conform.probes import PROBES, Probe
from sessions_app.conform.report import ConformanceReport, ProbeOutcome, now
from sessions_app.conform.wire_log import WireLog
from sessions_app.errors import BudgetSpent, GatewayError, ProviderDown, QuotaExceeded, Unreachable, excerpt
from sessions_app.gemini.error_mapping import is_worth_retrying

ATTEMPTS = 3
LONGEST_PAUSE = 90.0
"""Seconds that the provider may ask for before a request is tried again."""

Show = Callable[[ProbeOutcome], None]


@dataclass(slots=True)
class ProbeRun:
    """The probes of one report that are still to do.

    `store` is called with the report after each probe, `tell` with what it waits for. `skipped` are names of
    probes that are not to be run. `secrets` are masked in the report.
    """

    context: ProbeContext
    report: ConformanceReport
    log: WireLog
    show: Show = lambda probe: None
    store: Callable[[ConformanceReport], None] = lambda report: None
    tell: Callable[[str], None] = lambda text: None
    secrets: tuple[str, ...] = ()
    skipped: frozenset[str] = frozenset()
    chosen: Sequence[Probe] = PROBES
    mask: Mask = field(init=False)

    def __post_init__(self) -> None:
        own = {self.context.mark, f"models/{self.context.model}", self.context.model}
        self.mask = Mask(self.secrets, frozenset(own))
        self.context.spent = self.report.usd

    def plan(self) -> Plan:
        return Plan(tuple(self._planned(probe) for probe in self._missing()), self.report.usd)

    async def run(self) -> ConformanceReport:
        """Every probe that is missing and that the budget allows; no cache is left behind.

        Raises BadKey: with a wrong key nothing can be found. An unreachable provider ends the run.
        """
        self.report.stopped_by = ""
        if self.report.left:
            self.report.left = await self.context.clean_up()
        try:
            await self._run_all()
        except GatewayError as error:
            self.report.stopped_by = self.mask.text(error.message)
            raise
        finally:
            await self._end()
        return self.report

    async def _run_all(self) -> None:
        for probe in self._missing():
            self._remember_caches(probe)
            result = await self._attempted(probe)
            self.report.add(result)
            self.report.usd = self.context.spent
            self.store(self.report)
            self.show(result)
            if self.report.stopped_by:
                return

    async def _end(self) -> None:
        """Also when it is cancelled: caches are deleted, and the report knows what was spent."""
        self.report.usd, self.report.ended = self.context.spent, now()
        try:
            if self.context.has_made_caches:
                self.report.left = await self.context.clean_up()
            else:
                self.report.left = 0
        finally:
            self.store(self.report)

    def _remember_caches(self, probe: Probe) -> None:
        """A run that is killed leaves caches, which a resumed one looks for."""
        if probe.cost(self.context.facts).kept and not self.report.left:
            self.report.left = 1
            self.store(self.report)

    def _missing(self) -> list[Probe]:
        return [probe for probe in self.chosen if not self.report.has(probe.name)]

    def _planned(self, probe: Probe) -> PlannedProbe:
        cost = probe.cost(self.context.facts)
        reason = self._skip_reason(probe)
        usd = Decimal(0) if reason else cost.usd(self.context.rates)
        return PlannedProbe(probe.name, cost, usd, reason)

    def _skip_reason(self, probe: Probe) -> str:
        return "left out by you" if probe.name in self.skipped else probe.skip_reason(self.context)

    async def _attempted(self, probe: Probe) -> ProbeOutcome:
        """The result of a probe, tried again after failures that pass."""
        context, at, before = self.context, now(), self.context.spent
        faults: list[str] = []
        finding = self._refused(probe)
        while finding is None:
            self.log.take(self.mask)
            context.limit = min(
                self.report.budget, context.spent + probe.cost(context.facts).usd(context.rates)
            )
            finding = await self._attempt(probe, faults) or self._refused(probe)
        return ProbeOutcome(
            probe=probe.name,
            expected=probe.expected(context.facts),
            verdict=finding.verdict,
            found=self.mask.text(finding.found),
            figures=finding.figures,
            learned=finding.learned,
            usd=context.spent - before,
            at=at,
            faults=faults,
            exchanges=self.log.take(self.mask),
        )

    def _refused(self, probe: Probe) -> Observation | None:
        if reason := self._skip_reason(probe):
            return Observation("skipped", reason)
        most, left = probe.cost(self.context.facts).usd(self.context.rates), self._left
        if most and most > left:
            return Observation("skipped", f"it may cost ${most:.4f}, and ${left:.4f} is left")
        return None

    @property
    def _left(self) -> Decimal:
        return max(Decimal(0), self.report.budget - self.context.spent)

    async def _attempt(self, probe: Probe, faults: list[str]) -> Observation | None:
        """None when it is to be tried again. Raises GatewayError where no probe would get an answer."""
        try:
            return await probe.run(self.context)
        except BudgetSpent:
            return Observation(
                "skipped", f"its bound would be passed; ${self._left:.4f} of the budget is left"
            )
        except (QuotaExceeded, ProviderDown, Unreachable) as error:
            return await self._after(error, faults)
        except GatewayError as error:
            if probe.is_fatal(error):
                raise
            return Observation("failed", _words(error))

    async def _after(self, error: GatewayError, faults: list[str]) -> Observation | None:
        faults.append(self.mask.text(_words(error)))
        delay = error.retry_after or 2.0 ** len(faults)
        hopeless = not is_worth_retrying(error)
        if len(faults) < ATTEMPTS and not hopeless and delay <= LONGEST_PAUSE:
            self.tell(f"{self.mask.text(_words(error))}: trying again in {delay:.0f} s")
            await self.context.pause(delay)
            return None
        if isinstance(error, Unreachable):
            self.report.stopped_by = self.mask.text(error.message)
        is_settled = isinstance(error, QuotaExceeded) and hopeless
        return Observation("open" if is_settled else "failed", _words(error))


def _words(error: GatewayError) -> str:
    return f"{error.code or 'no answer'} {excerpt(error.message, 90)}"
