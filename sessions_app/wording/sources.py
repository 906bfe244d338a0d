"""One name for each source of a request, on every page: panel “todos”, turn 3, history chunk 1, part 2."""

NAMES = {
    "template:static": "the static template",
    "template:dynamic": "the dynamic template",
    "tools": "the tool declarations",
    "clock": "the clock",
    "system": "the system instruction",
    "opaque": "the body, which could not be taken apart",
    "generated_context": "generated context {key}",
    "cached_content": "cached content {key}",
    "unseen_cache": "what the named cache holds",
    "turn": "turn {number}",
    "turn_without_number": "a turn",
    "chunk": "history chunk {number}",
    "chunk_without_number": "a history chunk",
    "with_key": "{kind} “{key}”",
    "without_key": "the {kind}",
}
"""Within a sentence: sources with a name of their own, then those with a number, then the rest."""

TITLES = {
    "template:static": "Static template",
    "template:dynamic": "Dynamic template",
    "tools": "Tool declarations",
    "clock": "Clock",
    "system": "System instruction",
    "opaque": "Body that could not be taken apart",
    "generated_context": "Generated context {key}",
    "cached_content": "Cached content {key}",
    "unseen_cache": "What the named cache holds: nobody was seen making it",
    "turn": "Turn {number}",
    "turn_without_number": "A turn",
    "chunk": "History chunk {number}",
    "chunk_without_number": "A history chunk",
    "with_key": "{kind} “{key}”",
    "without_key": "{kind}",
}
"""The same as a heading."""

KINDS = {"turn": "Turns", "chunk": "History chunks"}
"""All sources of one kind, as a heading."""

PANELS = {"tree": "workspace", "logs": "log", "git_status": "git status", "git_log": "git log"}
"""Panels that the drawer calls otherwise than the body, which has the key."""

SPANS = {"turns": "Turns {first} to {last}", "turns_without_numbers": "{count} turns"}

PARTS = {"part": "part {part}", "turn_part": "turn {turn}, part {part}"}

PLURALS = ("tools",)
"""Sources whose names are plurals within a sentence."""

NUMBERED = ("turn", "chunk")
"""Kinds whose sources are called by a number."""


def source_name(source: str, number: int = 0) -> str:
    """Within a sentence; `number` is the turn's on its branch or the chunk's in the request, 0 if unknown."""
    return _filled(NAMES, source, number, source.partition(":")[0])


def source_title(source: str, number: int = 0) -> str:
    return _filled(TITLES, source, number, source.partition(":")[0].capitalize())


def part_title(part: str) -> str:
    """The heading of a source, or of all sources of a kind of `KINDS`."""
    return KINDS.get(part) or source_title(part)


def turns_title(first: int, last: int, count: int) -> str:
    """The heading of several turns in a row."""
    key = "turns" if first and last else "turns_without_numbers"
    return SPANS[key].format(first=first, last=last, count=count)


def part_name(part: int, turn: int = 0) -> str:
    """A part of a turn; `part` counts from 0, as on the wire."""
    return PARTS["turn_part" if turn else "part"].format(turn=turn, part=part + 1)


def _filled(table: dict[str, str], source: str, number: int, kind: str) -> str:
    found, _, key = source.partition(":")
    if found in NUMBERED:
        return table[found if number else f"{found}_without_number"].format(number=number)
    known = next((one for one in (source, found) if one in table), "with_key" if key else "without_key")
    name = PANELS.get(key, key) if found == "panel" else key
    return table[known].format(kind=kind.replace("_", " "), key=name)
