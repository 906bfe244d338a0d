"""Panels as calls of a tool that nobody called, each with its content as the answer (seed 4, B4 to B6)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.renditions.blocks import Answered, Called, Message, Text, said
from sessions_app.prompt.renditions.original import Original

TOOL = "dynamic_panel"
HEADER = (
    "Beginning of the dynamic panel display. Each panel shows the state of things as it is now; "
    "where the conversation says something else, the panel is newer."
)
ENDING = "End of the dynamic panel display."
FOOTER_RESULT = "Panel display complete. Proceeding with conversation."
REPEATED = "System instructions (repeated for emphasis):\n\n"
ACKNOWLEDGED = "Understood. I will follow these instructions."

_KNOWN_SINCE = datetime(2020, 1, 1, tzinfo=UTC)


def pairs(original: Original, changed: Mapping[str, datetime], signature: str = "") -> list[Message]:
    """One call and one answer per panel that is not empty, oldest change first, then the footer's.

    `changed` says when a panel last changed (aware times), as far as it is known. `signature` is the
    stand-in for the calls; needed only where no text of the user follows them (reference C1).
    Without panels there is no header and no footer.
    """
    shown = {key: value for key, value in original.panels.items() if _is_filled(value)}
    told: list[Message] = []
    for key, value in shown.items():
        text = generated_at(changed.get(key))
        opening = text if told else f"{HEADER}\n\n{text}"
        told += _pair(key, opening, {"id": key}, _result(key, value), signature)
    if told:
        told += _pair("footer", footer(original.clock), {"action": "end_panels"}, FOOTER_RESULT, signature)
    return told


def count(original: Original) -> int:
    """How many panels are shown, the footer not among them."""
    return sum(_is_filled(value) for value in original.panels.values())


def repeated(system: str) -> list[Message]:
    """The system prompt once more, after the panels (seed 4, "Seed Re-injection")."""
    return [said("user", REPEATED + system), said("assistant", ACKNOWLEDGED)]


def generated_at(changed: datetime | None) -> str:
    """Times before 2020 are a clock that was never set."""
    if changed is None or changed < _KNOWN_SINCE:
        return "Panel automatically generated (timestamp unknown)"
    return f"Panel automatically generated at {changed.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def footer(clock: str) -> str:
    """The date alone: a time would change every call and end the cached prefix there (reference B6)."""
    return f"{ENDING} Date: {clock[:10]}" if clock else ENDING


def _pair(key: str, text: str, args: dict[str, str], result: str, signature: str) -> list[Message]:
    name = f"panel_{key}"
    called = Called(name, TOOL, args, signature)
    return [Message("assistant", (Text(text), called)), Message("user", (Answered(name, TOOL, result),))]


def _result(key: str, value: Any) -> str:
    title = key.replace("_", " ").capitalize()
    content = value if isinstance(value, str) else wire.dumps(value).decode()
    return f"======= [{key}] {title} =======\n{content}"


def _is_filled(value: Any) -> bool:
    return value not in ("", None, [], {})
