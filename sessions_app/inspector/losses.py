"""What the provider stopped serving from its cache in some exchanges, summed by cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, QuerySet, Sum

from sessions_app.models import Exchange
from sessions_app.prompt.pricing import dollars
from sessions_app.wording import costs, verdicts


@dataclass(frozen=True, slots=True)
class CauseLoss:
    """The losses of the exchanges with one verdict: of `unknown` not known, of `unpriced` without a price."""

    verdict: str
    exchanges: int
    tokens: int
    usd: Decimal
    unknown: int
    unpriced: int

    @property
    def cause(self) -> str:
        return verdicts.label(self.verdict)

    @property
    def cost(self) -> str:
        return shown_sum(self.usd, is_whole=not self.unknown and not self.unpriced)


@dataclass(frozen=True, slots=True)
class Losses:
    causes: Sequence[CauseLoss]

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.causes)

    @property
    def cost(self) -> str:
        is_whole = not any(one.unknown or one.unpriced for one in self.causes)
        return shown_sum(sum((one.usd for one in self.causes), Decimal(0)), is_whole=is_whole)


def shown_sum(usd: Decimal, *, is_whole: bool) -> str:
    """A lower bound where something is unknown; a sum of nothing known is unknown."""
    if is_whole:
        return dollars(usd)
    return costs.BOUNDS["at_least"] + dollars(usd) if usd else dollars(None)


def losses_of(exchanges: QuerySet[Exchange]) -> Losses:
    """One query. Exchanges that nothing was counted for, such as refused ones, have lost nothing."""
    counted = exchanges.order_by().filter(prompt_tokens__isnull=False).exclude(verdict="")
    rows = (
        counted.filter(Q(lost_tokens__gt=0) | Q(lost_tokens=None))
        .values("verdict")
        .annotate(
            count=Count("pk"),
            tokens=Sum("lost_tokens"),
            usd=Sum("lost_usd"),
            unknown=Count("pk", filter=Q(lost_tokens=None)),
            unpriced=Count("pk", filter=Q(lost_tokens__gt=0, lost_usd=None)),
        )
    )
    found = [
        CauseLoss(
            row["verdict"],
            row["count"],
            row["tokens"] or 0,
            row["usd"] or Decimal(0),
            row["unknown"],
            row["unpriced"],
        )
        for row in rows
    ]
    return Losses(sorted(found, key=lambda one: (-one.usd, -one.tokens, one.verdict)))
