"""What an entry of the catalogue of models holds, and what makes it complete."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Literal

LONG_PROMPT = 200_000
"""Prompt tokens above which the provider's second tier of prices holds."""

Thinking = Literal["level", "budget", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTraits:
    """What the models of one generation have in common; counts in tokens.

    `explicit_minimum` is the smallest explicit cache, None where the model has none.
    `implicit_minimum` is the shortest prefix that the provider caches of its own accord.
    `levels` are the thinking levels a request may name; empty unless `thinking` is "level".
    `signatures_required`: a function call of the current turn without its signature is refused.
    `own_tools` are those of the provider that a request may declare (`prompt.provider_tools`);
    `mixes_tools`: they may stand beside functions, and either beside a JSON schema of the answer.
    `tools_source` says where both were read.
    """

    explicit_minimum: int | None
    implicit_minimum: int
    thinking: Thinking
    levels: tuple[str, ...]
    signatures_required: bool
    input_limit: int
    output_limit: int
    sampling: bool
    own_tools: tuple[str, ...]
    mixes_tools: bool
    tools_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSearchPrice:
    """US dollars per thousand searches from one day on, beside the tokens.

    A search is a `query`, or a `prompt` that was answered with a search, however many queries it took.
    """

    valid_from: date
    usd: Decimal
    per: Literal["query", "prompt"]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPrice:
    """US dollars per million tokens from one day on.

    `storage` is per million tokens and hour, None where it was not published: unknown, not free.
    `above` is the prompt size in tokens from which the `*_above` rates hold for the whole request.
    """

    valid_from: date
    input: Decimal
    cached: Decimal
    output: Decimal
    storage: Decimal | None
    source: str
    above: int | None = None
    input_above: Decimal | None = None
    cached_above: Decimal | None = None
    output_above: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleChange:
    """What becomes of a model's name from one day on.

    `served_by` is the model that the provider routes it to; its prices hold. `is_retired`: the provider
    shut the model down. `successor` is what it recommends instead. `source` says where this was read.
    """

    valid_from: date
    source: str
    served_by: str = ""
    is_retired: bool = False
    successor: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One entry of the catalogue. `is_emulated`: the emulator lists and serves it."""

    name: str
    title: str
    generation: float
    traits: ModelTraits
    is_emulated: bool = True
    prices: tuple[PublishedPrice, ...] = ()
    search_prices: tuple[PublishedSearchPrice, ...] = ()
    lifecycle: tuple[LifecycleChange, ...] = ()

    def price_on(self, day: date) -> PublishedPrice | None:
        """The newest of its own prices that is valid on `day`."""
        valid = [price for price in self.prices if price.valid_from <= day]
        return max(valid, key=lambda price: price.valid_from, default=None)

    def served_by_on(self, day: date) -> str:
        """The model that answers to this name on `day`: itself, unless it is routed to another."""
        valid = [change for change in self.lifecycle if change.valid_from <= day]
        newest = max(valid, key=lambda change: change.valid_from, default=None)
        return (newest and newest.served_by) or self.name


def build_catalogue(entries: Iterable[CatalogueModel]) -> Mapping[str, CatalogueModel]:
    """The entries by name, in their order.

    Raises ValueError naming the model and what its entry lacks.
    """
    catalogue: dict[str, CatalogueModel] = {}
    for entry in entries:
        if entry.name in catalogue:
            raise ValueError(f"{entry.name}: listed twice")
        catalogue[entry.name] = entry
    for entry in catalogue.values():
        if fault := next(_faults_of(entry, catalogue), ""):
            raise ValueError(f"{entry.name}: {fault}")
    return MappingProxyType(catalogue)


def price(
    valid_from: date, rates: str, *, storage: str | None, source: str, long_prompts: str = ""
) -> PublishedPrice:
    """A price from printed rates: `rates` are input, cached and output, separated by spaces;
    `long_prompts` are the same three for prompts above `LONG_PROMPT` tokens."""
    input_rate, cached, output = map(Decimal, rates.split())
    first = PublishedPrice(
        valid_from=valid_from,
        input=input_rate,
        cached=cached,
        output=output,
        storage=None if storage is None else Decimal(storage),
        source=source,
    )
    if not long_prompts:
        return first
    input_above, cached_above, output_above = map(Decimal, long_prompts.split())
    return replace(
        first,
        above=LONG_PROMPT,
        input_above=input_above,
        cached_above=cached_above,
        output_above=output_above,
    )


def _faults_of(entry: CatalogueModel, catalogue: Mapping[str, CatalogueModel]) -> Iterator[str]:
    if not entry.title:
        yield "title is missing"
    named = {name for change in entry.lifecycle for name in (change.served_by, change.successor) if name}
    if unlisted := sorted(named - set(catalogue)):
        yield f"served_by or successor names {unlisted[0]}, which is not listed"
    elif not any(catalogue[name].prices for name in (entry.name, *_serving(entry))):
        yield "prices are missing, its own or those of served_by"
    dated = (entry.prices, entry.search_prices, entry.lifecycle)
    if any(not row.source for rows in dated for row in rows):
        yield "source of a price or of a change is missing"
    if any(len({row.valid_from for row in rows}) < len(rows) for rows in dated):
        yield "two prices or two changes have the same valid_from"
    if entry.traits.own_tools and not entry.traits.tools_source:
        yield "source of its tools is missing"
    if (entry.traits.thinking == "level") != bool(entry.traits.levels):
        yield "levels and thinking disagree"


def _serving(entry: CatalogueModel) -> Iterator[str]:
    return (change.served_by for change in entry.lifecycle if change.served_by)
