"""Where a request left the one before it: the place in each view, what happened, and what was lost."""

from sessions_app.prompt.prefix_diff import BreakKind, BreakLine, BreakPlace, CacheLoss
from sessions_app.prompt.pricing import dollars
from sessions_app.wording.sources import PLURALS, source_name

PLACES = {
    "item": "{source}, after {char:,} characters",
    "line": "{source}, line {line}, after {char:,} characters",
    "part": "{source}, part {part}, after {char:,} characters",
    "line_of_part": "{source}, part {part}, line {line}, after {char:,} characters",
    "earlier_version": "a place that an earlier version counted otherwise",
}
"""The place in the item as the model reads it. Parts and lines count from 1."""

VIEWS = {
    "layer": "{layer} layer, after {byte:,} bytes",
    "body": "request.json, after {byte:,} bytes",
    "named": "not in request.json: the named cache holds it",
    "translated": "not counted in request.json, which is another form of the request",
}
"""The same place in the other views."""

CHANGES = {
    BreakKind.CHANGED: "{source} {says} something else",
    BreakKind.SIGNED_OTHERWISE: "{source} {says} the same with other thought signatures, or without some",
    BreakKind.CHANGED_AND_MOVED: "{source} {says} something else and {has} another place",
    BreakKind.APPEARED: "{source} {is} new",
    BreakKind.GONE: "{source} {is} no longer there",
    BreakKind.REPLACED: "{source} {is} another one",
    BreakKind.MOVED: "{source} {has} another place",
    BreakKind.SHORTENED: "{source} and what followed are no longer sent",
    BreakKind.UNKNOWN: "what is sent there differs",
}
"""The end of a sentence that begins “They part at …”; the source is the one that caused it."""

VERBS = {"says": "says", "is": "is", "has": "has"}
VERBS_OF_PLURALS = {"says": "say", "is": "are", "has": "have"}

LOSSES = {
    "unknown": "What the provider stopped serving from its cache is unknown.",
    "nothing": "The provider served no less from its cache than for the exchange before.",
    "priced": "Of what it had cached for the exchange before, the provider no longer served "
    "{tokens:,} tokens: that cost {usd} more.",
    "unpriced": "Of what it had cached for the exchange before, the provider no longer served "
    "{tokens:,} tokens, at an unknown price.",
}

MISSES = {
    "priced": "Had the texts not parted, at most {tokens:,} tokens more could have come from a cache, "
    "for {usd} less.",
    "unpriced": "Had the texts not parted, at most {tokens:,} tokens more could have come from a cache.",
}


def place(line: BreakLine) -> str:
    """The name of the item, and the place in it."""
    if line.at is None:
        return PLACES["earlier_version"]
    has_line = line.at.line is not None
    key = ("line_of_part" if has_line else "part") if line.at.part else "line" if has_line else "item"
    figures = {"part": line.at.part, "line": line.at.line, "char": line.at.char}
    return PLACES[key].format(source=source_name(line.at.source, line.at.number), **figures)


def place_in_layer(at: BreakPlace) -> str:
    return VIEWS["layer"].format(layer=at.layer, byte=at.layer_byte)


def place_in_body(at: BreakPlace, *, is_translated: bool = False) -> str:
    """`is_translated`: request.json is not the body whose bytes were counted."""
    if at.body_byte is None:
        return VIEWS["named"]
    return VIEWS["translated"] if is_translated else VIEWS["body"].format(byte=at.body_byte)


def change(line: BreakLine) -> str:
    """What happened, and to which source."""
    name = source_name(line.source, line.number)
    return CHANGES[line.kind].format(source=name, **(VERBS_OF_PLURALS if line.source in PLURALS else VERBS))


def loss(lost: CacheLoss) -> str:
    """What the provider stopped serving, and what that cost."""
    if lost.tokens is None:
        return LOSSES["unknown"]
    key = "nothing" if not lost.tokens else "unpriced" if lost.usd is None else "priced"
    return LOSSES[key].format(tokens=lost.tokens, usd=dollars(lost.usd))


def missed(miss: CacheLoss) -> str:
    """What could have been reused (`prompt.missed_reuse`); empty for nothing, and where it is not known."""
    if not miss.tokens:
        return ""
    return MISSES["unpriced" if miss.usd is None else "priced"].format(
        tokens=miss.tokens, usd=dollars(miss.usd)
    )
