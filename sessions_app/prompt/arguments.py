"""The prompt arguments of seed 3: one map of all values that a prompt template may use.

Precedence (reference A3, R2): `args` override `system` and `assistant` only, and `message.language`
while the language is unknown.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from sessions_app.prompt import wire
from sessions_app.prompt.argument_maps import MAX_DEPTH, depth_of, dropped_paths, expand_dotted, merge_maps
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.syntax import Use

RESERVED = ("system", "assistant", "conversation", "session", "message", "args")
_OVERRIDABLE = ("system", "assistant")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED_WORDS = frozenset(
    ["true", "false", "none", "True", "False", "None", "not", "self", "loop", "on", "off"]
)
"""Words of the template language; in it `class`, `from` and the like are names."""


@dataclass(frozen=True, slots=True)
class AssistantArguments:
    name: str
    id: str
    language: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ConversationArguments:
    """`created` and `updated` are aware; without `created` there is no duration."""

    id: str
    identifier: str
    source: str = "web"
    direction: str = "inbound"
    created: datetime | None = None
    updated: datetime | None = None


@dataclass(frozen=True, slots=True)
class MessageArguments:
    text: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The map, and remarks on arguments that are ignored, unreachable or overridden.

    `described` are the variables of the assistant's description where that is a template.
    """

    values: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    described: tuple[Use, ...] = ()


def build_arguments(
    now: datetime,
    assistant: AssistantArguments | None,
    conversation: ConversationArguments | None,
    message: MessageArguments,
    args: Any,
    *,
    mode: str = "text",
) -> Arguments:
    """The map of one run, independent of the given objects; `now` is aware."""
    own = expand_dotted(parse_json_texts(copy.deepcopy(args))) if _is_usable(args) else {}
    values: dict[str, Any] = {
        "system": system_values(now),
        "assistant": asdict(assistant) if assistant else {},
        "conversation": {},
        "session": {},
        "message": {"language": ""},
        "args": own,
    }
    if own:
        values = merge_maps(values, {key: value for key, value in own.items() if is_name(key)})
    said = {"text": message.text} | ({"language": message.language} if message.language else {})
    for name, facts in (
        ("conversation", _conversation_values(conversation, now)),
        ("message", said),
        ("session", {"mode": mode} if mode else {}),
    ):
        before = values[name]
        values[name] = merge_maps(before, facts) if isinstance(before, Mapping) else facts
    return Arguments(values, (*_unusable(args), *_collisions(own)))


def system_values(now: datetime) -> dict[str, str]:
    """The time in the original's formats, in UTC and English."""
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
    """In Go's format: `45s`, `3m0s`, `1h2m3s`."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def parse_json_texts(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with every text that is a JSON list or object parsed."""
    return {key: _parse_json_text(value) if isinstance(value, str) else value for key, value in args.items()}


def is_name(key: str) -> bool:
    """Whether a template can use the key as a name."""
    return bool(_NAME.fullmatch(key)) and key not in _RESERVED_WORDS


def _parse_json_text(text: str) -> Any:
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        value = wire.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if depth_of(value) <= MAX_DEPTH else text


def _unusable(args: Any) -> Iterator[Remark]:
    """Remarks on arguments that are ignored or that no template can name."""
    if not isinstance(args, dict):
        yield Remark(code=RemarkCode.ARGUMENTS_NO_OBJECT)
    elif not _is_usable(args):
        yield Remark(code=RemarkCode.ARGUMENTS_TOO_DEEP, most=MAX_DEPTH)
    else:
        for key in args:
            if "." in key and not all(segment.strip() for segment in key.split(".")):
                yield Remark(code=RemarkCode.ARGUMENT_EMPTY_SEGMENT, name=key)
            elif "." not in key and not is_name(key):
                yield Remark(code=RemarkCode.ARGUMENT_UNNAMEABLE, name=key)
        yield from dropped_arguments(args)


def dropped_arguments(args: Mapping[str, Any]) -> Iterator[Remark]:
    """Remarks on values in whose place another one stands."""
    for name, other in dropped_paths(parse_json_texts(args)):
        code = RemarkCode.ARGUMENT_TWICE if name == other else RemarkCode.ARGUMENT_DROPPED
        yield Remark(code=code, name=name, other=other)


def _is_usable(args: Any) -> bool:
    return isinstance(args, dict) and depth_of(args) <= MAX_DEPTH


def _collisions(own: Mapping[str, Any]) -> Iterator[Remark]:
    for key in RESERVED:
        if key in own and key in _OVERRIDABLE:
            yield Remark(code=RemarkCode.ARGUMENT_WINS, name=key)
        elif key in own and key != "args":
            yield Remark(code=RemarkCode.ARGUMENT_LOSES, name=key)
        elif key in own:
            yield Remark(code=RemarkCode.ARGUMENT_MERGED, name=key)


def _conversation_values(conversation: ConversationArguments | None, now: datetime) -> dict[str, str]:
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
