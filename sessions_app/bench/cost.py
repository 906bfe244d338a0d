"""`bench cost`: what one long conversation costs under each way of caching, in dollars of its input side.

The emulator counts what was cached; prices turn that into money. Output tokens cost the same under every
way and are left out. It needs no network, no key and no idle machine: tokens are not milliseconds.
"""

import asyncio
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from sessions_app.bench.cost_replay import Replay, Tally
from sessions_app.bench.cost_script import TURNS, conversation
from sessions_app.bench.cost_ways import RATES, ways_for
from sessions_app.bench.registry import Bench, Say
from sessions_app.bench.report import Aim, aim_line
from sessions_app.errors import PipewebError
from sessions_app.prompt.pricing import Rates

NAIVE = "naive: nothing cached"
EXPLICIT = "explicit, adaptive"
IMPLICIT = "implicit, adaptive"
FIXED = "explicit, rolled at"
SAME = {NAIVE: "implicit, volatile data first"}
"""A way → the way that sends the same requests."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way on one model: dollars of the input side, `making` and `storage` of caches included."""

    model: str
    way: str
    usd: float
    making: float
    storage: float
    tally: Tally

    @property
    def cached_share(self) -> float:
        return self.tally.cached / self.tally.prompt if self.tally.prompt else 0.0


def priced(model: str, way: str, tally: Tally, rates: Rates) -> Row:
    """What the provider would charge for this tally."""
    making = tally.created * float(rates.input) / 1e6
    storage = tally.stored * float(rates.storage or 0) / 1e6
    fresh = (tally.prompt - tally.cached) * float(rates.input) / 1e6
    held = tally.cached * float(rates.cached) / 1e6
    return Row(model, way, fresh + held + making + storage, making, storage, tally)


def play(model: str, way_name: str, turns: int) -> Tally:
    """One conversation; runs in a process of its own."""
    way = next(way for way in ways_for(model) if way.name == way_name)
    return asyncio.run(Replay(model, way).run(list(conversation(turns))))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--models", type=lambda text: tuple(text.split(",")), help=f"comma-separated, of {', '.join(RATES)}"
    )
    parser.add_argument("--ways", help="only the ways whose name holds this; the naive one always runs")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of the conversation (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")


def run(given: Mapping[str, Any], say: Say) -> None:
    models, wanted, path = given.get("models") or tuple(RATES), given.get("ways") or "", given.get("json")
    strangers = [model for model in models if model not in RATES]
    if strangers:
        raise PipewebError(f"There is no price for {strangers[0]} here.", hint=f"Known: {', '.join(RATES)}.")
    if path and not Path(path).parent.is_dir():
        raise PipewebError(f"There is no folder for {path}.")
    turns = max(1, int(given.get("turns") or TURNS))
    asked = [(model, way.name) for model in models for way in ways_for(model) if _is_asked(way.name, wanted)]
    rows = list(replay_all(asked, turns, say))
    for line in lines(rows, turns):
        say(line)
    if path:
        Path(path).write_bytes(orjson.dumps([asdict(row) for row in rows], option=orjson.OPT_INDENT_2))


def replay_all(asked: Sequence[tuple[str, str]], turns: int, say: Say) -> Iterator[Row]:
    """Every conversation asked for, on all cores, in the order given."""
    workers = min(os.cpu_count() or 1, len(asked))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        # The naive way sends what another way sends, without its discount.
        plays = {(model, SAME.get(way, way)): None for model, way in asked}
        waiting = {(model, way): pool.submit(play, model, way, turns) for model, way in plays}
        for model, way in asked:
            tally = waiting[model, SAME.get(way, way)].result()
            tally = replace(tally, cached=0) if way == NAIVE else tally
            row = priced(model, way, tally, RATES[model])
            say(f"  {model}, {way}: ${row.usd:.3f}")
            yield row


def lines(rows: Sequence[Row], turns: int) -> Iterator[str]:
    yield ""
    yield f"{turns} turns; dollars of the input side, with the making and the storage of caches."
    for model in dict.fromkeys(row.model for row in rows):
        mine = [row for row in rows if row.model == model]
        yield from ("", model, HEADING)
        yield from (_line(row, mine) for row in mine)
    yield ""
    yield from (aim_line(aim) for aim in aims(rows))


def aims(rows: Sequence[Row]) -> Iterator[Aim]:
    """What is wanted of the product's own choice, per model."""
    for model in dict.fromkeys(row.model for row in rows):
        mine = {row.way: row.usd for row in rows if row.model == model}
        naive, explicit, implicit = mine.get(NAIVE), mine.get(EXPLICIT), mine.get(IMPLICIT)
        if RATES[model].storage is None:
            yield Aim(f"{model}: implicit, % of naive", 20, _percent(implicit, naive))
            continue
        fixed = min((usd for way, usd in mine.items() if way.startswith(FIXED)), default=None)
        yield Aim(f"{model}: adaptive, % of naive", 25, _percent(explicit, naive))
        yield Aim(f"{model}: adaptive, % of the best fixed threshold", 103, _percent(explicit, fixed))


COLUMNS = ("$", "of naive", "cached", "caches", "making $", "storage $", "requests")
HEADING = "  " + " " * 34 + "".join(f"{column:>10}" for column in COLUMNS)


def _line(row: Row, beside: Sequence[Row]) -> str:
    naive = next((one.usd for one in beside if one.way == NAIVE), 0.0)
    cells = (
        f"{row.usd:.3f}",
        f"{100 * row.usd / naive:.1f} %" if naive else "–",
        f"{100 * row.cached_share:.0f} %",
        f"{row.tally.caches}",
        f"{row.making:.3f}",
        f"{row.storage:.3f}",
        f"{row.tally.requests}",
    )
    return f"  {row.way:<34}" + "".join(f"{cell:>10}" for cell in cells)


def _percent(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else 100 * part / whole


def _is_asked(way: str, wanted: str) -> bool:
    return way == NAIVE or wanted in way


BENCH = Bench("cost", "what a long conversation costs under each way of caching", add_arguments, run)
