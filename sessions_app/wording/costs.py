"""Sums of money."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from sessions_app.prompt.billing import BilledAs, ItemChange
from sessions_app.prompt.bookings import CauseSum, SpendingCause
from sessions_app.prompt.pricing import Money, MoneySource, PriceTerm, TermKind, dollars, format_rate

TERMS = {
    TermKind.NEW: "{tokens:,} new × ${rate}",
    TermKind.CACHED: "{tokens:,} cached × ${rate}",
    TermKind.TOOL_USE: "{tokens:,} tool use × ${rate}",
    TermKind.OUTPUT: "{tokens:,} output × ${rate}",
    TermKind.THOUGHTS: "{tokens:,} thoughts × ${rate}",
    TermKind.CACHE_MADE: "{tokens:,} cache made × ${rate}",
    TermKind.SEARCH: "searches: {tokens:,} × ${rate} a thousand",
    TermKind.UNKNOWN: "{tokens:,} × ${rate}",
}

TOKEN_KINDS = {
    TermKind.NEW: "New",
    TermKind.CACHED: "Cached",
    TermKind.TOOL_USE: "Tool use",
    TermKind.OUTPUT: "Output",
    TermKind.THOUGHTS: "Thoughts",
    TermKind.CACHE_MADE: "Cache made",
    TermKind.SEARCH: "Searches",
    TermKind.UNKNOWN: "Unknown tokens",
}

CAUSES = {
    SpendingCause.ANSWER: "answers",
    SpendingCause.RETRY: "retries",
    SpendingCause.TITLE: "titles",
    SpendingCause.SUMMARY: "summaries",
    SpendingCause.CACHE_MADE: "making caches",
    SpendingCause.CACHE_KEPT: "keeping caches",
    SpendingCause.EARLIER: "requests that an earlier version booked without their cause",
    SpendingCause.UNKNOWN: "a cause that this version does not know",
}

CHANGES = {
    ItemChange.UNCHANGED: "unchanged",
    ItemChange.BEHIND: "unchanged, behind a change",
    ItemChange.NEW: "new or changed",
    ItemChange.UNKNOWN: "unknown",
}

BILLED = {
    BilledAs.CACHED: "as cached",
    BilledAs.NEW: "as new",
    BilledAs.BOTH: "{cached:,} as cached, {new:,} as new",
    BilledAs.NOTHING: "no token",
    BilledAs.UNKNOWN: "unknown",
}

BOUNDS = {
    "exact": "",
    "estimated": "≈\N{NO-BREAK SPACE}",
    "at_least": "≥\N{NO-BREAK SPACE}",
    "at_most": "≤\N{NO-BREAK SPACE}",
}

NO_SUM = "–"

UNKNOWN = "cost unknown"

SUM_TITLES = {
    "": "",
    "uncounted": "The provider counted nothing",
    "unpriced": "The price is unknown",
    "bound": "At least: an answer was not received to its end, or a search has no price",
    "estimated": "Where the provider counted nothing, the tokens are our estimate",
    "other_price": "At the price of standard text: that of another service tier, and of tokens that are no "
    "text, is not known",
    "about": "Where the provider counted nothing, the tokens are our estimate; where another price than that "
    "of standard text may hold, it is not known",
    "some_unpriced": "At least: {count:,} more without a known price",
}
"""Behind a sum: why it is not exact, or not there."""

AMOUNTS = {
    "paid": "{paid}",
    "emulated": "would have cost {emulated}",
    "both": "{paid}, and the emulator’s would have cost {emulated}",
    "emulated_unknown": "{paid}, and what the emulator’s would have cost is unknown",
}

CAUSE_SUM = "{usd} for {cause}"

EMULATED_EQUATION = "Would have cost: {equation}"

EQUATIONS = {
    "nothing": "nothing counted = {total}",
    "exact": "{terms} = {total}",
    "estimated": "{terms} ≈ {total}",
    "at_least": "{terms} ≥ {total}",
    "other_service": "{terms}: {total}",
}

STANDARD_PRICE = {"sum": "{total} at the standard text price"}
"""For another service tier, and for tokens that are not text: their prices are not known."""


def equation(money: Money | None) -> str:
    """The sum with its products; the rates in it are per million tokens. Empty without a sum."""
    if money is None:
        return ""
    terms = " + ".join(map(_term, money.terms))
    bound = "other_service" if money.other_price else _bound(money)
    total = priced(dollars(money.total), is_standard_text=not money.other_price)
    told = EQUATIONS[bound if terms else "nothing"].format(terms=terms, total=total)
    return EMULATED_EQUATION.format(equation=told) if money.source is MoneySource.EMULATOR else told


def priced(total: str, *, is_standard_text: bool) -> str:
    """A sum, which is no more than that where other prices may hold."""
    return total if is_standard_text else STANDARD_PRICE["sum"].format(total=total)


def sum_title(case: str, count: int = 0) -> str:
    """`case` is a key of `SUM_TITLES`; `count` of requests without a price."""
    return SUM_TITLES[case].format(count=count)


def bound_of(money: Money | None) -> str:
    """The mark before a sum that is not exact."""
    return BOUNDS[_bound(money)] if money else ""


def _bound(money: Money) -> str:
    return "at_least" if money.is_bound else "estimated" if money.is_estimate else "exact"


def billed(code: BilledAs, cached: int, new: int) -> str:
    return BILLED[code].format(cached=cached, new=new)


class Spent(NamedTuple):
    """What bookings of one source sum up to. `unpriced` of them have no price, `cut_off` are of answers that
    were not received to their end: these cost more. `estimates` cost perhaps less, or more.
    """

    usd: Decimal
    unpriced: int = 0
    cut_off: int = 0
    estimates: int = 0

    @property
    def bound(self) -> str:
        return mark(missing=self.unpriced + self.cut_off, estimates=self.estimates)

    @property
    def is_unknown(self) -> bool:
        """Whether none of them has a price."""
        return bool(self.unpriced and not self.usd)


def spent(booked: Spent, emulated: Decimal = Decimal(0)) -> str:
    """What bookings sum up to, `emulated` of it at the emulator; nobody counted by source how many of them
    have no price, were cut off or are estimates.
    """
    if booked.is_unknown:
        return UNKNOWN
    return amount(booked.usd - emulated, emulated, booked.bound, booked.bound)


def spent_by_source(paid: Spent, emulated: Spent) -> str:
    """What bookings sum up to; each part is exact, a lower bound or unknown by itself."""
    if not (paid.is_unknown or emulated.is_unknown):
        return amount(paid.usd, emulated.usd, paid.bound, emulated.bound)
    if not (paid.usd or emulated.usd):
        return UNKNOWN
    return AMOUNTS["emulated_unknown" if emulated.is_unknown else "both"].format(
        paid=UNKNOWN if paid.is_unknown else paid.bound + dollars(paid.usd),
        emulated=emulated.bound + dollars(emulated.usd),
    )


def mark(*, missing: int, estimates: int) -> str:
    """The mark before a sum: `missing` of its amounts cost more than it says, `estimates` less or more."""
    return BOUNDS["at_least" if missing else "estimated" if estimates else "exact"]


def amount(paid: Decimal, emulated: Decimal, bound: str = "", emulated_bound: str = "") -> str:
    """What was paid, and what the emulator's answers would have cost; the bounds are marks of `BOUNDS`."""
    case = "both" if paid and emulated else "emulated" if emulated else "paid"
    return AMOUNTS[case].format(paid=bound + dollars(paid), emulated=emulated_bound + dollars(emulated))


def cause_sums(sums: Iterable[CauseSum]) -> str:
    """The sums by cause; empty without any."""
    told = ((known_usd(one.usd, [one]), CAUSES[one.cause]) for one in sums)
    return " + ".join(CAUSE_SUM.format(usd=usd, cause=cause) for usd, cause in told)


def known_usd(usd: Decimal, sums: Sequence[CauseSum]) -> str:
    """A sum of bookings with its mark; unknown where none has a price."""
    unpriced, cut_off = sum(one.unpriced for one in sums), sum(one.cut_off for one in sums)
    if unpriced and unpriced == sum(one.bookings for one in sums):
        return dollars(None)
    return Spent(usd, unpriced, cut_off, sum(one.estimates for one in sums)).bound + dollars(usd)


def title_of(cause: SpendingCause) -> str:
    name = CAUSES[cause]
    return name[0].upper() + name[1:]


def _term(term: PriceTerm) -> str:
    return TERMS[term.name].format(tokens=term.tokens, rate=format_rate(term.rate))
