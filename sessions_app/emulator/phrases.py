"""What to type so that a built-in tool is called.

One table: the scenarios read it, and the plain answer shows it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

Values = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """`cue` finds the request in a text, `values` turns its groups into arguments in declared order."""

    function: str
    example: str
    cue: re.Pattern[str]
    values: Callable[[tuple[str, ...]], Values] = tuple


def _phrase(
    function: str, example: str, cue: str, values: Callable[[tuple[str, ...]], Values] = tuple
) -> Phrase:
    return Phrase(function, example, re.compile(cue, re.I | re.S), values)


def _one_number(groups: tuple[str, ...]) -> Values:
    return (int(groups[0]),)


def _trimmed(groups: tuple[str, ...]) -> Values:
    return tuple(group.strip() for group in groups)


PHRASES = (
    _phrase(
        "complete_todo", "complete todo 1", r"\b(?:complete|finish) (?:the )?todo (\d{1,9})\b", _one_number
    ),
    _phrase("add_todo", "add a todo: water the plants", r"\badd (?:a )?todo\s*:\s*(.+)", _trimmed),
    _phrase("list_todos", "list my todos", r"^(?:(?:list|show)(?: me)? )?(?:my )?todos\W*$"),
    _phrase("remove_todo", "remove todo 1", r"\b(?:remove|delete) (?:the )?todo (\d{1,9})\b", _one_number),
    _phrase("remember", "remember: I like rye bread", r"^remember\s*:\s*(.+)", _trimmed),
    _phrase("forget", "forget memory 1", r"^forget (?:the )?memory (\d{1,9})\b", _one_number),
    _phrase("current_time", "what time is it", r"\bwhat time is it\b|\bwhat(?:'s| is) the time\b"),
    _phrase("calculate", "calculate 2*(3+4)", r"^calculate\s+(.+?)[\s?=]*$", _trimmed),
    _phrase("write_artifact", "write notes.md: hello", r"^write\s+(\S+?)\s*:\s*(.+)", _trimmed),
    _phrase("open_file", "open notes.md", r"^open\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
    _phrase("close_file", "close notes.md", r"^close\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
    _phrase("read_file", "read notes.md", r"^read\s+(?:the )?(?:file )?(\S+\.\w+)\W*$", _trimmed),
)


def find_phrase(text: str) -> tuple[Phrase, Values] | None:
    """The first phrase the text uses, with the values it gives."""
    for phrase in PHRASES:
        if match := phrase.cue.search(text):
            return phrase, phrase.values(match.groups())
    return None
