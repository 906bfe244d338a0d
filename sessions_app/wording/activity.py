"""What the model did for an answer: the line above it, and its steps."""

from collections.abc import Mapping
from typing import Any

ACTIVITIES = {
    "thought": "Thought",
    "one_tool": "used 1 tool",
    "tools": "used {count} tools",
    "failed": "{count} failed",
}
SEPARATOR = " · "
BRIEF_LENGTH = 80


def activity(thinking: str, tools: int, failed: int) -> str:
    """The line above an answer; `thinking` says how long, and is empty without thoughts."""
    parts = [thinking] if thinking else []
    if tools:
        parts.append(ACTIVITIES["one_tool" if tools == 1 else "tools"].format(count=tools))
    if failed:
        parts.append(ACTIVITIES["failed"].format(count=failed))
    line = SEPARATOR.join(parts)
    return line[:1].upper() + line[1:]


def call_brief(args: Mapping[str, Any]) -> str:
    """The arguments of a call that are short enough for a line, without their names."""
    values = (str(value) for value in args.values() if isinstance(value, str | int | float))
    return ", ".join(" ".join(value.split()) for value in values)[:BRIEF_LENGTH]


SWITCHED = {True: "“{title}” on", False: "“{title}” off"}


def switch_brief(title: str, *, on: bool) -> str:
    """What became of a panel that the model switched."""
    return SWITCHED[on].format(title=title)


def readable_name(name: str) -> str:
    """The name of a function that has no title."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
