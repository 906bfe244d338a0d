"""The prompt arguments of seed 3: one map of everything a prompt template may name.

Precedence (reference A3, R2): args stand above `system` and `assistant` only. `conversation`,
`session` and `message.text` always say what is true; `message.language` does as soon as it is known.
"""

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.maps import DEEPEST, clone, depth_of, expand_dotted, merge_maps

RESERVED = ("system", "assistant", "conversation", "session", "message", "args")
_WINS = ("system", "assistant")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"true", "false", "none", "self", "loop", "on", "off"}


@dataclass(frozen=True, slots=True)
class Assistant:
    name: str
    id: str
    language: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """`created` and `updated` are aware; without `created` there is no duration either."""

    id: str
    identifier: str
    source: str = "web"
    direction: str = "inbound"
    created: datetime | None = None
    updated: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    text: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The map, and a line for every argument of the session that is not what it seems."""

    values: dict[str, Any] = field(default_factory=dict)
    reports: tuple[str, ...] = ()


def build(
    now: datetime,
    assistant: Assistant | None,
    conversation: Conversation | None,
    message: Message,
    args: Any,
    *,
    mode: str = "text",
) -> Arguments:
    """The map of one run. Nothing in it is shared with what was given; `now` is aware."""
    mine = expand_dotted(parsed(clone(args))) if _is_usable(args) else {}
    values = merge_maps(
        {
            "system": system_values(now),
            "assistant": _assistant_values(assistant),
            "conversation": {},
            "session": {},
            "message": {"language": ""},
            "args": mine,
        },
        {key: value for key, value in mine.items() if is_name(key)},
        {"conversation": _conversation_values(conversation, now)},
        {"message": {"text": message.text} | ({"language": message.language} if message.language else {})},
        {"session": {"mode": mode} if mode else {}},
    )
    return Arguments(values, (*_problems(args), *_collisions(mine)))


def system_values(now: datetime) -> dict[str, str]:
    """The clock in the original's formats, always UTC and English."""
    utc = now.astimezone(UTC)
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    seconds = int(utc.timestamp())
    return {
        "current_date": f"{utc:%Y-%m-%d}",
        "current_time": f"{utc:%H:%M:%S}",
        "current_datetime": rfc3339(utc),
        "day_of_week": day,
        "date_rfc1123": f"{day[:3]}, {utc.day:02} {month} {utc.year:04} {utc:%H:%M:%S} UTC",
        "date_unix": str(seconds),
        "date_unix_ms": str(seconds * 1000 + utc.microsecond // 1000),
    }


def rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def duration(seconds: int) -> str:
    """As Go writes it: `45s`, `3m0s`, `1h2m3s`."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def parsed(args: Mapping[str, Any]) -> dict[str, Any]:
    """The same arguments with texts that hold a JSON list or object read as one."""
    return {key: _read(value) if isinstance(value, str) else value for key, value in args.items()}


def is_name(key: str) -> bool:
    """Whether a template can write the key as a name."""
    return bool(_NAME.fullmatch(key)) and key not in _WORDS and not keyword.iskeyword(key)


def _read(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        value = wire.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) and depth_of(value) <= DEEPEST else text


def _problems(args: Any) -> Iterator[str]:
    """Lines about arguments that are left out, or that no template can name."""
    if not isinstance(args, dict):
        yield "The session's arguments are not an object; none is used."
    elif not _is_usable(args):
        yield f"The session's arguments are nested more than {DEEPEST} levels deep; none is used."
    else:
        for key in args:
            if "." in key and not all(segment.strip() for segment in key.split(".")):
                yield f"“{key}” has an empty segment between its dots and is not used."
            elif "." not in key and not is_name(key):
                yield f'“{key}” cannot be written as a name: use {{{{ args["{key}"] }}}}.'


def _is_usable(args: Any) -> bool:
    return isinstance(args, dict) and depth_of(args) <= DEEPEST


def _collisions(mine: Mapping[str, Any]) -> Iterator[str]:
    for key in RESERVED:
        if key in mine and key in _WINS:
            yield f"“{key}” is a reserved name: the session's argument takes its place."
        elif key in mine and key != "args":
            yield f"“{key}” is a reserved name: what is known of it wins over the session's argument."
        elif key in mine:
            yield "“args” is a reserved name: the argument is merged into args itself."


def _assistant_values(assistant: Assistant | None) -> dict[str, str]:
    if assistant is None:
        return {}
    return {
        "name": assistant.name,
        "id": assistant.id,
        "language": assistant.language,
        "description": assistant.description,
    }


def _conversation_values(conversation: Conversation | None, now: datetime) -> dict[str, str]:
    if conversation is None:
        return {}
    values = {
        "id": conversation.id,
        "identifier": conversation.identifier,
        "source": conversation.source,
        "direction": conversation.direction,
    }
    if conversation.created:
        values["created_date"] = rfc3339(conversation.created)
        values["duration"] = duration(max(0, int((now - conversation.created).total_seconds())))
    if conversation.updated:
        values["updated_date"] = rfc3339(conversation.updated)
    return values


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
