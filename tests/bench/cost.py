"""`bench cost`: what one long conversation costs under each way of caching, in dollars of its input side.

The emulator counts what was cached; prices turn that into money. Output tokens cost the same under every
way and are left out. It needs no network, no key and no idle machine: tokens are not milliseconds.
"""

import asyncio
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from multiprocessing import get_context
from typing import Any

from sessions_app.catalogue import CATALOGUE
from sessions_app.errors import PipewebError
from sessions_app.prompt.detach import SEED, Thresholds
from sessions_app.prompt.pricing import Rates, cost, creation_cost, storage_cost
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.rollover import (
    NEVER,
    PastExchange,
    hit_share,
    lifetime,
    longest_lifetime,
    pace_of,
    thresholds_for,
)
from sessions_app.prompt.strategy import Situation, Strategy, StrategyReason, StrategyRecord, choose_strategy
from tests.bench.base import Aim, Bench, Say, add_json_argument, json_path, ratio, write_json
from tests.bench.cost_replay import (
    TURN_SECONDS,
    CachingMethod,
    Replay,
    Tally,
    buffered_tokens,
    conversation,
)

TURNS = 200
PRICED_ON = date(2026, 11, 1)
RATES = {
    name: Rates(price.input, price.cached, price.output, price.storage)
    for name in ("gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-4-argon")
    if (price := CATALOGUE[name].price_on(PRICED_ON))
}
"""Up to 200,000 tokens of prompt."""

THRESHOLDS = (1_000, 2_000, 4_000, 8_000, 10_000, 16_000, 32_000, 64_000)
PIPE_THRESHOLDS = (25_000, 50_000)
PIPE_LIFETIME = timedelta(seconds=900)
PAUSE_HOURS = 3 / 4 * TURN_SECONDS / 3_600
"""Of the conversation: every third turn has two requests."""

NAIVE = "naive: nothing cached"
EXPLICIT = "explicit, adaptive"
IMPLICIT = "implicit, adaptive"
FIXED = "explicit, rolled at"
SAME = {NAIVE: "implicit, volatile data first"}
"""A method → the method that sends the same requests."""

COLUMNS = ("$", "of naive", "cached", "caches", "making $", "storage $", "requests")
HEADING = "  " + " " * 34 + "".join(f"{column:>10}" for column in COLUMNS)


def methods_for(model: str) -> tuple[CachingMethod, ...]:
    """Every method that the model allows, the naive one first."""
    rates = RATES[model]
    # The same life for all, so that they differ in nothing but when they roll.
    lasting = timedelta(seconds=lifetime(rates, PAUSE_HOURS))
    never, seed = fixed(NEVER, NEVER, lasting), fixed(SEED, NEVER, lasting)
    implicit = (
        CachingMethod(NAIVE, never, is_volatile_first=True),
        CachingMethod("implicit, volatile data first", never, is_volatile_first=True),
        CachingMethod("implicit, as the layers stand", never),
        CachingMethod("implicit, seed 4’s thresholds", seed),
        *(
            CachingMethod(
                f"implicit, rolled at {tail // 1_000}k", fixed(thresholds_for(tail, 3), NEVER, lasting)
            )
            for tail in THRESHOLDS[:4]
        ),
        CachingMethod(IMPLICIT, adaptive(rates, is_offered=False)),
    )
    if rates.storage is None:
        return implicit
    return (
        *implicit,
        CachingMethod("explicit, static layer only", never, is_explicit=True),
        *(
            CachingMethod(
                f"{FIXED} {tail // 1_000}k", fixed(NEVER, thresholds_for(tail, 1), lasting), is_explicit=True
            )
            for tail in THRESHOLDS
        ),
        *map(pipe, PIPE_THRESHOLDS),
        CachingMethod("explicit, seed 4’s thresholds", seed, is_explicit=True),
        CachingMethod(EXPLICIT, adaptive(rates, is_offered=True), is_explicit=True),
    )


Choice = Callable[[Sequence[PastExchange], int], Strategy]

SET = StrategyRecord("explicit", "seed", StrategyReason.AS_SET)


def fixed(before: Thresholds, after: Thresholds, lasting: timedelta) -> Choice:
    """The same thresholds for every request."""
    strategy = Strategy(SET, before, after, lasting)
    return lambda seen, count: strategy


def pipe(tail: int) -> CachingMethod:
    """pipe: past the threshold all but the last turn is cached, before the request that found out."""
    waiting = Strategy(SET, NEVER, NEVER, PIPE_LIFETIME)
    due = replace(waiting, before=Thresholds(1, 1, 1, 0))
    return CachingMethod(
        f"explicit, as pipe at {tail // 1_000}k",
        lambda seen, count: due if buffered_tokens(seen) >= tail else waiting,
        is_explicit=True,
        buys_at=tail,
    )


def adaptive(rates: Rates, *, is_offered: bool) -> Choice:
    """What the product would choose with these prices."""

    def choice(seen: Sequence[PastExchange], count: int) -> Strategy:
        last = seen[-1] if seen else None
        return choose_strategy(
            Situation(
                is_offered=is_offered,
                mode="auto",
                policy="adaptive",
                rates=rates,
                pace=pace_of(seen, count, longest_lifetime(rates) / 3_600),
                prefix=last.prefix if last else None,
                prompt=last.prompt if last else 0,
                hit_share=hit_share(seen, last.route if last else ""),
            )
        )

    return choice


@dataclass(frozen=True, slots=True)
class MethodCost:
    """One method on one model: dollars of the input side, `making` and `storage` of caches included."""

    model: str
    method: str
    usd: float
    making: float
    storage: float
    tally: Tally

    @classmethod
    def of(cls, model: str, method: str, tally: Tally, rates: Rates) -> "MethodCost":
        """What the provider would charge for this tally."""
        made = creation_cost(tally.created, rates).total
        held = storage_cost(1, tally.stored, rates) or Decimal(0)
        sent = cost(Usage(prompt=tally.prompt, cached=tally.cached), rates).total
        return cls(model, method, float(sent + made + held), float(made), float(held), tally)

    def line(self, naive: float) -> str:
        tally = self.tally
        cells = (
            f"{self.usd:.3f}",
            f"{100 * self.usd / naive:.1f} %" if naive else "–",
            f"{100 * ratio(tally.cached, tally.prompt):.0f} %",
            f"{tally.caches}",
            f"{self.making:.3f}",
            f"{self.storage:.3f}",
            f"{tally.requests}",
        )
        return f"  {self.method:<34}" + "".join(f"{cell:>10}" for cell in cells)


def replay(model: str, name: str, turns: int) -> Tally:
    """One conversation; runs in a process of its own."""
    method = next(method for method in methods_for(model) if method.name == name)
    return asyncio.run(Replay(model, method).run(list(conversation(turns))))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--models", type=lambda text: tuple(text.split(",")), help=f"comma-separated, of {', '.join(RATES)}"
    )
    parser.add_argument("--ways", help="only the ways whose name holds this; the naive one always runs")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of the conversation (%(default)s)")
    add_json_argument(parser)


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    models, wanted, path = given.get("models") or tuple(RATES), given.get("ways") or "", json_path(given)
    unknown = [model for model in models if model not in RATES]
    if unknown:
        raise PipewebError(f"There is no price for {unknown[0]} here.", hint=f"Known: {', '.join(RATES)}.")
    turns = max(1, int(given.get("turns") or TURNS))
    names = [(model, method.name) for model in models for method in methods_for(model)]
    asked = [(model, name) for model, name in names if name == NAIVE or wanted in name]
    rows = list(replay_all(asked, turns, say))
    for line in lines(rows, turns):
        say(line)
    write_json(path, [asdict(row) for row in rows])
    return aims(rows)


def replay_all(asked: Sequence[tuple[str, str]], turns: int, say: Say) -> Iterator[MethodCost]:
    """Every conversation asked for, on all cores, in the order given."""
    workers = min(os.cpu_count() or 1, len(asked))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        # The naive way sends what another way sends, without its discount.
        sent = dict.fromkeys((model, SAME.get(name, name)) for model, name in asked)
        waiting = {(model, name): pool.submit(replay, model, name, turns) for model, name in sent}
        for model, name in asked:
            tally = waiting[model, SAME.get(name, name)].result()
            tally = replace(tally, cached=0) if name == NAIVE else tally
            row = MethodCost.of(model, name, tally, RATES[model])
            say(f"  {model}, {name}: ${row.usd:.3f}")
            yield row


def lines(rows: Sequence[MethodCost], turns: int) -> Iterator[str]:
    yield ""
    yield f"{turns} turns; dollars of the input side, with the making and the storage of caches."
    for model, usd in by_model(rows):
        yield from ("", model, HEADING)
        yield from (row.line(usd.get(NAIVE, 0.0)) for row in rows if row.model == model)
    yield ""


def aims(rows: Sequence[MethodCost]) -> list[Aim]:
    """What is wanted of the product's own choice, per model."""
    found = []
    for model, usd in by_model(rows):
        naive = usd.get(NAIVE)
        if RATES[model].storage is None:
            found.append(Aim(f"{model}: implicit, % of naive", 20, percent(usd.get(IMPLICIT), naive)))
            continue
        best = min((one for name, one in usd.items() if name.startswith(FIXED)), default=None)
        found += [
            Aim(f"{model}: adaptive, % of naive", 25, percent(usd.get(EXPLICIT), naive)),
            Aim(f"{model}: adaptive, % of the best fixed threshold", 103, percent(usd.get(EXPLICIT), best)),
        ]
    return found


def by_model(rows: Sequence[MethodCost]) -> Iterator[tuple[str, dict[str, float]]]:
    """Each model with the dollars of its methods."""
    for model in dict.fromkeys(row.model for row in rows):
        yield model, {row.method: row.usd for row in rows if row.model == model}


def percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


BENCH = Bench("cost", "what a long conversation costs under each way of caching", add_arguments, run)
