"""`bench markup`: what it costs to format a block while it grows, beside formatting it once at its end.

The same text is taken in pieces of a stream, with the open block shown as plain text and as HTML by turns, so
that a busy machine slows both. Processor time counts, and the bytes that travel to the browser.
"""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from statistics import median
from time import process_time
from typing import Any

from sessions_app.markup import Blocks
from tests.bench.base import Aim, Bench, Say, positive, ratio

CHARACTERS = 30_000
PIECE = 60
"""Characters of one piece of a stream."""

ROUNDS = 5
AIM = 2.0
"""Times the cost of the plain text."""

_WORDS = "words that say what to do there and how "
KINDS = {
    "list": f"1. **Tip** {_WORDS * 4}as in [it](http://a/b)\n",
    "bullets": f"- {_WORDS * 3}and *more words* of one item\n",
    "line": f"Some **bold** words and `code` {_WORDS}",
    "lines": f"Some **bold** words and `code` {_WORDS * 2}\n",
    "table": f"| **one** {_WORDS} | {_WORDS * 2} |\n",
    "quotation": f"> quoted, *some* {_WORDS * 3}\n",
    "code": "print('hello', 1)\n",
}
"""What blocks of each kind repeat."""

_HEADS = {"table": "| a | b |\n|---|---|\n", "code": "```python\n"}


def block(kind: str, characters: int) -> str:
    """A block of at least so many characters."""
    return _HEADS.get(kind, "") + KINDS[kind] * -(-characters // len(KINDS[kind]))


def add_arguments(parser: ArgumentParser) -> None:
    kind = positive(int)
    parser.add_argument(
        "--characters", type=kind, default=CHARACTERS, help="of a block (default: %(default)s)"
    )
    parser.add_argument("--rounds", type=kind, default=ROUNDS, help="of each (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    """Each kind of block, plain and shown; the median of the rounds."""
    say(f"{'block':<12}" + 2 * f"{'plain':>10}{'shown':>10}{'times':>8}" + "   (ms, KB)")
    costs, sizes = {}, {}
    for kind in KINDS:
        text = block(kind, given["characters"])
        plain, shown = measure(text, given["rounds"])
        costs[kind] = ratio(shown[0], plain[0])
        sizes[kind] = ratio(shown[1], plain[1])
        say(
            f"{kind:<12}{plain[0]:>10.1f}{shown[0]:>10.1f}{costs[kind]:>8.2f}"
            f"{plain[1] / 1000:>10.1f}{shown[1] / 1000:>10.1f}{sizes[kind]:>8.2f}"
        )
    return [
        Aim("processor time of a growing block, times the plain text", AIM, max(costs.values())),
        Aim("bytes of a growing block, times the plain text", AIM, max(sizes.values())),
    ]


def measure(text: str, rounds: int) -> tuple[tuple[float, int], tuple[float, int]]:
    """Milliseconds and bytes, with the open block as plain text and as HTML."""
    times: dict[bool, list[float]] = {False: [], True: []}
    sizes = {False: 0, True: 0}
    for _ in range(rounds):
        for is_shown in (False, True):
            began = process_time()
            sizes[is_shown] = stream(text, is_shown=is_shown)
            times[is_shown].append((process_time() - began) * 1000)
    return (median(times[False]), sizes[False]), (median(times[True]), sizes[True])


def stream(text: str, *, is_shown: bool) -> int:
    """Takes the text in pieces; returns the bytes of text and HTML that a browser gets."""
    blocks, size = Blocks(), 0
    for start in range(0, len(text), PIECE):
        piece = text[start : start + PIECE]
        size += len(piece)
        size += sum(len(closed.html) for closed in blocks.feed(piece))
        if is_shown:
            size += sum(len(preview.html) for preview in blocks.preview())
    return size + sum(len(closed.html) for closed in blocks.close())


BENCH = Bench(
    "markup", "formatting a block while it grows, beside formatting it at its end", add_arguments, run
)
