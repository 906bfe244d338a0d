"""What each part of a session's prompts has cost, on the page of what would have saved money."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.exchange_sums import money_of
from sessions_app.inspector import formatting
from sessions_app.inspector.tabs.cache_tab import count_of, unseen_in
from sessions_app.models import Exchange, Session
from sessions_app.models.source import names_and_tokens
from sessions_app.prompt.part_costs import CountedRequest, PartCost, PartSum, part_costs
from sessions_app.prompt.pricing import dollars
from sessions_app.wording import costs
from sessions_app.wording import savings as wording
from sessions_app.wording.sources import part_title

ITEMS_READ = 50_000
"""Items of requests that are read for one page, the newest requests first."""

COLUMNS = ("manifest", "money", "usage", "prompt_tokens", "cached_tokens", "cache_name")


@dataclass(frozen=True, slots=True)
class PartCostRow:
    """A row, formatted."""

    name: str
    layer: str
    requests: int
    cached: int
    new: int
    cost: str


@dataclass(frozen=True, slots=True)
class PartCostTable:
    """`told` says of which requests the rows are, `remark` that nothing of it was paid; empty otherwise."""

    rows: Sequence[PartCostRow]
    told: str
    remark: str


def shown_parts(session: Session) -> PartCostTable:
    """Three queries; no rows where the provider counted nothing, or the payloads were purged."""
    counted = Exchange.objects.filter(session=session, prompt_tokens__isnull=False).exclude(manifest={})
    read = list(_newest(counted.order_by("-number").only(*COLUMNS).iterator()))
    known = names_and_tokens({entry[0] for one in read for entry in _listed(one)})
    parts = part_costs(_counted(one, known) for one in read)
    is_emulated = bool(parts) and not any(part.paid.usd or part.unpriced for part in parts)
    return PartCostTable(
        [_shown(part, is_emulated=is_emulated) for part in parts],
        wording.parts_of(len(read), counted.count()),
        wording.emulated() if is_emulated else "",
    )


def _newest(exchanges: Iterator[Exchange]) -> Iterator[Exchange]:
    items = 0
    for exchange in exchanges:
        items += len(_listed(exchange))
        yield exchange
        if items >= ITEMS_READ:
            return


def _listed(exchange: Exchange) -> list[list[Any]]:
    listed: list[list[Any]] = exchange.manifest.get("entries", [])
    return listed


def _counted(exchange: Exchange, known: Mapping[int, tuple[str, int]]) -> CountedRequest:
    money = money_of(exchange)
    count = count_of(exchange, money)
    assert count is not None
    items = exchange.ledger_entries(known=known)
    return CountedRequest([*unseen_in(exchange, items, count), *items], count, money)


def _shown(part: PartCost, *, is_emulated: bool) -> PartCostRow:
    """`is_emulated`: all parts are, so that each needs not say so."""
    name = formatting.visible(part_title(part.source))
    paid, emulated = _spent(part.paid, part.unpriced), _spent(part.emulated)
    told = emulated.bound + dollars(emulated.usd) if is_emulated else costs.spent_by_source(paid, emulated)
    return PartCostRow(name, part.layer, part.requests, part.cached, part.new, told)


def _spent(own: PartSum, unpriced: int = 0) -> costs.Spent:
    return costs.Spent(own.usd, unpriced, own.cut_off, own.estimates)
