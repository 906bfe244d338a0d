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
    """

    explicit_minimum: int | None
    implicit_minimum: int
    thinking: Thinking
    levels: tuple[str, ...]
    signatures_required: bool
    input_limit: int
    output_limit: int
    sampling: bool


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


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """One entry of the catalogue.

    `served_by` is the model the provider routes this name to; its prices hold. `rerouted_on` is the day
    the routing began, for a name that was a model of its own before; the emulator, whose recordings are
    older, still serves it as such. `is_emulated`: the emulator lists and serves it.
    """

    name: str
    title: str
    generation: float
    traits: ModelTraits
    served_by: str = ""
    rerouted_on: date | None = None
    is_emulated: bool = True
    prices: tuple[PublishedPrice, ...] = ()

    def price_on(self, day: date) -> PublishedPrice | None:
        """The newest of its own prices that is valid on `day`."""
        valid = [price for price in self.prices if price.valid_from <= day]
        return max(valid, key=lambda price: price.valid_from, default=None)


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
    if entry.served_by and entry.served_by not in catalogue:
        yield f"served_by names {entry.served_by}, which is not listed"
    elif not (catalogue[entry.served_by] if entry.served_by else entry).prices:
        yield "prices are missing, its own or those of served_by"
    if any(not price.source for price in entry.prices):
        yield "source of a price is missing"
    if len({price.valid_from for price in entry.prices}) < len(entry.prices):
        yield "two prices have the same valid_from"
    if (entry.traits.thinking == "level") != bool(entry.traits.levels):
        yield "levels and thinking disagree"
