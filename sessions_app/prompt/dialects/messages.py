"""Provider-neutral messages, read from Gemini contents.

Thoughts are left out: other providers cannot use them. Every call gets an id that is unique in the
request, and its result the same one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

from sessions_app.prompt import wire
from sessions_app.prompt.call_pairing import paired
from sessions_app.prompt.calls import FunctionCall, calls_of
from sessions_app.prompt.parts import (
    RawPart,
    call_of,
    file_of,
    is_thought,
    parts_in,
    response_of,
    signature_of,
)
from sessions_app.prompt.wire import as_objects

Wire = dict[str, Any]
Role = Literal["user", "assistant"]
PartText = Callable[[RawPart], str]

_INVALID_ID = re.compile(r"[^a-zA-Z0-9_-]")

LONGEST_ID = 40
"""Characters of the id of a call that OpenAI takes."""

_DIGEST = 8

_BY_NAME, _VALUES = ("properties", "defs"), ("default", "example", "enum")
"""Members of a schema that hold schemas by a person's names, and those that hold no schemas."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """`signature` is base64 as received, or empty; `is_apart`: no text of the model's, but one in place of a
    part.
    """

    text: str
    signature: str = ""
    is_apart: bool = False


@dataclass(frozen=True, slots=True)
class CallBlock:
    id: str
    name: str
    args: dict[str, Any]
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """The result of the call with this id; `failed` if the tool reported an error."""

    id: str
    name: str
    content: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class MediaBlock:
    """A file: `data` is base64, `uri` is set if it is not inline."""

    mime: str
    data: str = ""
    uri: str = ""


Block = TextBlock | CallBlock | ResultBlock | MediaBlock


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    blocks: tuple[Block, ...]

    @property
    def calls(self) -> tuple[CallBlock, ...]:
        return tuple(block for block in self.blocks if isinstance(block, CallBlock))

    @property
    def answers(self) -> tuple[ResultBlock, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ResultBlock))

    @property
    def rest(self) -> tuple[Block, ...]:
        """Blocks that are neither calls nor results."""
        return tuple(block for block in self.blocks if not isinstance(block, CallBlock | ResultBlock))


def text_message(role: Role, text: str) -> Message:
    return Message(role, (TextBlock(text),))


def messages_of(contents: Iterable[bytes], part_text: PartText | None = None) -> list[Message]:
    """One message per content, in order, without those that have only thoughts or empty texts.

    `part_text` gives a text for parts that have no block; without it they are left out.
    """
    return messages_in((wire.loads(content) for content in contents), part_text)


def messages_in(contents: Iterable[Any], part_text: PartText | None = None) -> list[Message]:
    """The same for parsed contents."""
    reader = _MessageReader(part_text)
    messages = [reader.read(position, content) for position, content in enumerate(contents)]
    return [message for message in messages if message.blocks]


def joined(texts: Sequence[TextBlock]) -> str:
    """One text. What stands in place of a part begins and ends a paragraph."""
    found = ""
    was_apart = False
    for block in texts:
        is_next = found and block.text and (was_apart or block.is_apart)
        found += f"\n\n{block.text}" if is_next else block.text
        was_apart = block.is_apart if block.text else was_apart
    return found


def valid_id(wanted: str) -> str:
    """The id as other providers take it, with a hash of what it was where that is another text."""
    fit = _INVALID_ID.sub("-", wanted)
    if fit == wanted and len(fit) <= LONGEST_ID:
        return fit
    digest = sha256(wanted.encode(errors="replace")).hexdigest()[:_DIGEST]
    return f"{fit[: LONGEST_ID - _DIGEST - 1]}-{digest}"


FUNCTIONS = ("functionDeclarations", "function_declarations")
"""The member of a tool that declares functions, in both spellings."""


def declarations_of(tools: Any) -> list[dict[str, Any]]:
    """Every function declaration of `tools`, in order; what has another shape declares none."""
    return [one for tool in as_objects(tools) for key in FUNCTIONS for one in as_objects(tool.get(key))]


def schema_of(declaration: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as JSON Schema: type names in lower case; an empty object when there are none."""
    found = declaration.get("parametersJsonSchema") or _lower_types(declaration.get("parameters"))
    return found or {"type": "object", "properties": {}}


class _MessageReader:
    """Reads contents one by one and keeps the calls without results."""

    def __init__(self, part_text: PartText | None) -> None:
        self._part_text = part_text
        self._used: set[str] = set()
        self._waiting: list[tuple[str, CallBlock]] = []

    def read(self, position: int, content: Any) -> Message:
        parts = parts_in(content)
        calls = calls_of(parts)
        called = [CallBlock(self._fresh(position, call), call.name, call.args) for call in calls]
        opened, asked = iter(called), self._asked_for(parts)
        read = (self._block(part, opened, asked.get(at), f"{position}-{at}") for at, part in enumerate(parts))
        blocks = tuple(block for block in read if block)
        if called:
            self._waiting = [(call.id, block) for call, block in zip(calls, called, strict=True)]
        is_model = isinstance(content, dict) and content.get("role") == "model"
        return Message("assistant" if is_model else "user", blocks)

    def _fresh(self, position: int, call: FunctionCall) -> str:
        wanted = valid_id(call.id) or f"call-{position}-{call.index}"
        fresh = wanted if wanted not in self._used else valid_id(f"{wanted}-{position}-{call.index}")
        self._used.add(fresh)
        return fresh

    def _block(
        self, part: RawPart, opened: Iterator[CallBlock], asked: CallBlock | None, place: str
    ) -> Block | None:
        if is_thought(part):
            return None
        if isinstance(part.get("text"), str):
            return _text(part)
        if (raw := call_of(part)) is not None:
            # A nameless part continues the open call.
            call = next(opened, None) if raw.get("name") else None
            return replace(call, signature=signature_of(part) or "") if call else None
        if answer := response_of(part):
            return self._answer(answer, asked.id if asked else f"unasked-{place}")
        return _media(part) or self._text_for(part)

    def _text_for(self, part: RawPart) -> TextBlock | None:
        text = self._part_text(part) if self._part_text else ""
        return TextBlock(text, is_apart=True) if text else None

    def _answer(self, raw: Wire, key: str) -> ResultBlock:
        response, name = raw.get("response"), str(raw.get("name") or "")
        failed = isinstance(response, dict) and "error" in response
        beside = [self._part_text(part) for part in parts_in(raw)] if self._part_text else []
        content = "\n".join((wire.dumps(response).decode(), *beside))
        return ResultBlock(key, name, content, failed)

    def _asked_for(self, parts: Sequence[RawPart]) -> dict[int, CallBlock]:
        """Index of a part with a result → its call, which waits no longer."""
        found = {at: answer for at, part in enumerate(parts) if (answer := response_of(part))}
        results = [(str(one.get("id") or ""), str(one.get("name") or "")) for one in found.values()]
        pairs = paired([(id_, call.name) for id_, call in self._waiting], results)
        places = [*found]
        asked = {places[result]: self._waiting[call][1] for call, result in pairs.items()}
        self._waiting = [one for at, one in enumerate(self._waiting) if at not in pairs]
        return asked


def _text(part: RawPart) -> TextBlock | None:
    signature = signature_of(part) or ""
    return TextBlock(part["text"], signature) if part["text"] or signature else None


def _media(part: RawPart) -> MediaBlock | None:
    file = file_of(part)
    return MediaBlock(file.mime, file.data or "", file.uri) if file and (file.data or file.uri) else None


def _lower_types(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    lowered = {key: _inner(key, value) for key, value in schema.items()}
    if isinstance(schema.get("type"), str):
        lowered["type"] = schema["type"].lower()
    return lowered


def _inner(key: str, value: Any) -> Any:
    if key in _VALUES:
        return value
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _lower_types(inner) for name, inner in value.items()}
    return [_lower_types(inner) for inner in value] if isinstance(value, list) else _lower_types(value)
