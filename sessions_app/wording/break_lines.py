"""Where a request left the one before it: the names of sources, the place, and what it cost."""

from decimal import Decimal

from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.pricing import dollars

SOURCES = {
    "template:static": "the static template",
    "template:dynamic": "the dynamic template",
    "tools": "the tool declarations",
    "clock": "the clock",
}
"""Sources with a name of their own."""

SOURCE_KINDS = {
    "turn": "turn {turn}",
    "turn_elsewhere": "a turn",
    "with_key": "{kind} “{key}”",
    "without_key": "the {kind}",
}
"""Every other source: a turn by its place in the request, if it has one there; the rest by its key."""

SPOTS = {"line": "line {line}", "part": "part {part}", "byte": "byte {byte:,}"}

CHANGES = {
    BreakKind.CHANGED: "{source} says something else",
    BreakKind.APPEARED: "{source} is new there",
    BreakKind.GONE: "{source} is no longer there",
    BreakKind.MOVED: "{source} has another place",
    BreakKind.SHORTENED: "{source} and what followed are no longer sent",
    BreakKind.UNKNOWN: "{source} differs",
}
"""The end of a sentence that begins “They part at …”."""

LOSSES = {
    "nothing": "They part at {place} of the {layer} layer. "
    "Nothing behind it had been sent before, so that cost nothing.",
    "priced": "They part at {place} of the {layer} layer. "
    "About {tokens:,} tokens behind it were sent again as new: {usd} more than from a cache.",
    "unpriced": "They part at {place} of the {layer} layer. "
    "About {tokens:,} tokens behind it were sent again as new: at an unknown price.",
}


def source_name(source: str, turn: int = 0) -> str:
    """The name of a source: panel “todos”, turn 3, the static template."""
    kind, _, key = source.partition(":")
    if kind == "turn":
        return SOURCE_KINDS["turn" if turn else "turn_elsewhere"].format(turn=turn)
    if source in SOURCES:
        return SOURCES[source]
    return SOURCE_KINDS["with_key" if key else "without_key"].format(kind=kind.replace("_", " "), key=key)


def place(line: BreakLine) -> str:
    """The name of the source, and the spot inside it."""
    spots = {"line": line.line or None, "part": line.part, "byte": line.byte}
    named = [SPOTS[name].format(**{name: at}) for name, at in spots.items() if at is not None]
    return ", ".join([source_name(line.source, line.turn), *named])


def change(line: BreakLine) -> str:
    """What changed there."""
    return CHANGES[line.kind].format(source=source_name(line.source, line.turn))


def loss(line: BreakLine) -> str:
    """Where the bytes left those of the request before, and what that cost."""
    template = LOSSES["nothing" if not line.lost_tokens else "priced" if line.usd else "unpriced"]
    usd = dollars(Decimal(line.usd)) if line.usd else ""
    return template.format(place=place(line), layer=line.layer, tokens=line.lost_tokens, usd=usd)
