"""Where the texts of an exchange and of the one before it part, as the cache tab shows it."""

from dataclasses import dataclass

from sessions_app.inspector import formatting
from sessions_app.inspector.savings import missed_of
from sessions_app.models import Exchange
from sessions_app.wording import break_lines, verdicts


@dataclass(frozen=True, slots=True)
class ShownBreak:
    """The break line with visible control characters; the place stands once for each view. `has_body_place`:
    the wire tab shows it.
    """

    place: str
    in_layer: str
    in_body: str
    has_body_place: bool
    happened: str
    before: str
    was: str
    now: str
    loss: str
    missed: str
    """What could have come from a cache had the texts not parted; empty for nothing."""


def break_of(exchange: Exchange) -> ShownBreak | None:
    line = exchange.found_break
    if line is None:
        return None
    verdict = exchange.found_verdict
    rolled = verdict.seen.rolled if verdict and verdict.seen else None
    at, is_translated = line.at, exchange.is_translated
    return ShownBreak(
        place=formatting.visible(break_lines.place(line)),
        in_layer=break_lines.place_in_layer(at) if at else "",
        in_body=break_lines.place_in_body(at, is_translated=is_translated) if at else "",
        has_body_place=at is not None and at.body_byte is not None and not is_translated,
        happened=formatting.visible(verdicts.rolled_over(rolled) if rolled else break_lines.change(line)),
        before=formatting.visible(line.before),
        was=formatting.visible(line.was),
        now=formatting.visible(line.now),
        loss=break_lines.loss(exchange.loss),
        missed=break_lines.missed(missed_of(exchange)),
    )
