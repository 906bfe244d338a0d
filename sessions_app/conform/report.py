"""What the probes found, as values and as the table that is printed and kept."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

Verdict = Literal["same", "differs", "open", "skipped", "failed"]
"""As assumed; not as assumed; not to be told from one answer; not run; could not be run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`learned` are fields of the capability table that the answer settles."""

    verdict: Verdict
    found: str
    learned: dict[str, Any] = field(default_factory=dict)


def told(words: str, *, same: bool, **learned: Any) -> Finding:
    """The finding where one answer settles it."""
    return Finding("same" if same else "differs", words, learned)


@dataclass(frozen=True, slots=True)
class Row:
    """One probe's line. `usd` is what it cost, by the provider's counts and our rates."""

    probe: str
    expected: str
    finding: Finding
    usd: float
    at: datetime

    @property
    def line(self) -> str:
        finding = self.finding
        return (
            f"{self.at:%Y-%m-%d}  {finding.verdict:<8} {self.probe:<19} {self.expected:<34} {finding.found}"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """All of one run; holds no key and no text of a person."""

    model: str
    provider: str
    is_emulator: bool
    began: datetime
    budget: float
    rows: tuple[Row, ...]
    left: str = ""
    """A cache that could not be deleted; it ends by itself in two minutes."""

    @property
    def usd(self) -> float:
        return sum(row.usd for row in self.rows)

    @property
    def differs(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.finding.verdict == "differs")

    def learned(self) -> dict[str, Any]:
        """What the capability table should say of this model, by field."""
        return {name: value for row in self.rows for name, value in row.finding.learned.items()}

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"usd": round(self.usd, 6), "learned": self.learned()}

    def lines(self) -> list[str]:
        """The table, one line a probe, and a line that sums it up."""
        return [*(row.line for row in self.rows), self._sum()]

    def _sum(self) -> str:
        verdicts = [row.finding.verdict for row in self.rows]
        words: Sequence[str] = [f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts)]
        return f"{self.model} at {self.provider}: {', '.join(words)}; ${self.usd:.4f} of ${self.budget:.2f}"
