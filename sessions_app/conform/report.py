"""The dated report of a run: a file that goes on where it stopped, and that can be given away."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from sessions_app.errors import ReportUnreadable

LARGEST = 50_000_000
"""Bytes of a report that is read."""

Verdict = Literal["same", "differs", "open", "skipped", "failed"]
"""As assumed; not as assumed; undecided by one answer; not run; could not be run."""

SETTLED = ("same", "differs", "open")
"""Verdicts after which a probe is not run again."""

Text = Annotated[str, Field(max_length=2_000_000)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WireExchange(_Entry):
    """One HTTP exchange, masked. `status` is None when nothing was answered."""

    method: str
    path: str
    request: Text
    status: int | None
    headers: dict[str, str]
    response: Text
    end: Literal["whole", "broken", "left"]
    """How the response ended; `left`: we had read enough."""


class ProbeOutcome(_Entry):
    """One probe. `usd` is what it cost, by the provider's counts and our prices; `faults` are the errors
    after which it was tried again."""

    probe: str
    expected: str
    verdict: Verdict
    found: str
    figures: dict[str, JsonValue] = {}
    learned: dict[str, JsonValue] = {}
    usd: Decimal
    at: AwareDatetime
    faults: list[str] = []
    exchanges: list[WireExchange] = []

    @property
    def line(self) -> str:
        return f"{self.at:%Y-%m-%d}  {self.verdict:<8} {self.probe:<22} {self.expected:<34} {self.found}"


class PricesUsed(_Entry):
    """US dollars per million tokens; `storage` per hour, None where it is not published."""

    input: Decimal
    cached: Decimal
    output: Decimal
    storage: Decimal | None
    source: str


class ConformanceReport(_Entry):
    """All of a run; holds no key and no account data.

    `run` marks what the run makes at the provider. `usd` also counts probes that were broken off.
    """

    format: Literal[1] = 1
    model: str
    provider: str
    host: str
    is_emulator: bool
    run: str = Field(pattern=r"^[0-9a-f]{12}$")
    began: AwareDatetime
    ended: AwareDatetime | None = None
    pipeweb: str
    sdk: str
    budget: Decimal
    prices: PricesUsed
    usd: Decimal = Decimal(0)
    stopped_by: str = ""
    left: int = 0
    """Caches that could not be deleted; they expire within minutes."""
    probes: list[ProbeOutcome] = []

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ReportUnreadable."""
        try:
            if path.stat().st_size > LARGEST:
                raise ReportUnreadable(f"{path} is too large for a report.")
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ReportUnreadable(f"{path} cannot be read: {error.strerror}.") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise ReportUnreadable(f"{path} is no report of conform: {where}: {first['msg']}.") from None

    def write(self, path: Path) -> None:
        """Replaces the file as a whole; only its owner can read it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(self.model_dump_json(indent=1).encode())
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        finally:
            with suppress(FileNotFoundError):
                fresh.unlink()

    def add(self, probe: ProbeOutcome) -> None:
        """The newest result of a probe is the one that counts."""
        self.probes = [*(other for other in self.probes if other.probe != probe.probe), probe]

    def has(self, probe: str) -> bool:
        """Whether the probe need not be run again."""
        return any(found.probe == probe and found.verdict in SETTLED for found in self.probes)

    @property
    def differs(self) -> tuple[ProbeOutcome, ...]:
        return tuple(probe for probe in self.probes if probe.verdict == "differs")

    def learned(self) -> dict[str, Any]:
        """What the capability table should say of this model, by field."""
        return {name: value for probe in self.probes for name, value in probe.learned.items()}

    def summary(self) -> str:
        verdicts = [probe.verdict for probe in self.probes]
        counts = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
        return (
            f"{self.model} at {self.host}: {counts or 'nothing run'}; ${self.usd:.4f} of ${self.budget:.2f}"
        )


def file_name(report: ConformanceReport) -> str:
    where = "emulator" if report.is_emulator else "live"
    return f"{report.began:%Y%m%dT%H%M%S}-{where}-{report.model.replace('/', '_')}.json"


def now() -> datetime:
    return datetime.now(UTC)
