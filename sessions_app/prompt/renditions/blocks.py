"""Messages that no provider's format has touched yet, read from Gemini contents.

Thoughts are left out: another provider cannot use them, and as plain text they would pass for
answers. Every call gets an id that no other call of the request has, and its answer the same one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from sessions_app.prompt import wire
from sessions_app.prompt.calls import Call, call_of, calls_of

Wire = dict[str, Any]
Role = Literal["user", "assistant"]

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_MEDIA_KEYS = ("inlineData", "inline_data", "fileData", "file_data")
_SIGNATURE_KEYS = ("thoughtSignature", "thought_signature")


@dataclass(frozen=True, slots=True)
class Text:
    """`signature` is the base64 as the wire wrote it, or empty."""

    text: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Called:
    id: str
    name: str
    args: dict[str, Any]
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to the call with this id; `failed` when the tool reported an error."""

    id: str
    name: str
    content: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Media:
    """A file: `data` is base64, `uri` where it lies when it is not inline."""

    mime: str
    data: str = ""
    uri: str = ""


Block = Text | Called | Answered | Media


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    blocks: tuple[Block, ...]

    @property
    def calls(self) -> tuple[Called, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Called))

    @property
    def answers(self) -> tuple[Answered, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Answered))

    @property
    def rest(self) -> tuple[Block, ...]:
        """What is neither a call nor an answer."""
        return tuple(block for block in self.blocks if not isinstance(block, Called | Answered))


def said(role: Role, text: str) -> Message:
    return Message(role, (Text(text),))


def messages_of(contents: Iterable[bytes]) -> list[Message]:
    """One message per content, in order; a content that holds nothing but thoughts or blanks is left out."""
    return messages_in(wire.loads(content) for content in contents)


def messages_in(contents: Iterable[Any]) -> list[Message]:
    """The same from contents that are parsed already."""
    pairing = _Pairing()
    told = [pairing.read(position, content) for position, content in enumerate(contents)]
    return [message for message in told if message.blocks]


class _Pairing:
    """Reads contents one by one and remembers which calls wait for answers."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._waiting: list[tuple[str, Called]] = []

    def read(self, position: int, content: Any) -> Message:
        content = content if isinstance(content, dict) else {}
        parts = [part for part in content.get("parts") or () if isinstance(part, dict)]
        calls = calls_of(parts)
        called = [Called(self._fresh(position, call), call.name, call.args) for call in calls]
        opened = iter(called)
        read = (self._block(f"{position}-{at}", part, opened) for at, part in enumerate(parts))
        blocks = tuple(block for block in read if block)
        if called:
            self._waiting = [(call.id, block) for call, block in zip(calls, called, strict=True)]
        return Message("assistant" if content.get("role") == "model" else "user", blocks)

    def _fresh(self, position: int, call: Call) -> str:
        wanted = _UNFIT.sub("-", call.id) or f"call-{position}-{call.index}"
        fresh = wanted if wanted not in self._used else f"{wanted}-{position}-{call.index}"
        self._used.add(fresh)
        return fresh

    def _block(self, place: str, part: Wire, opened: Iterator[Called]) -> Block | None:
        if part.get("thought") is True:
            return None
        if isinstance(part.get("text"), str):
            return _text(part)
        if (told := call_of(part)) is not None:
            # A nameless part is the rest of a call that is already open.
            call = next(opened, None) if told.get("name") else None
            return replace(call, signature=_signature(part)) if call else None
        answer = _first(part, ("functionResponse", "function_response"))
        return self._answer(place, answer) if answer else _media(_first(part, _MEDIA_KEYS))

    def _answer(self, place: str, told: Wire) -> Answered:
        response, name = told.get("response"), str(told.get("name") or "")
        call = self._take(str(told.get("id") or ""), name)
        found = call.id if call else f"unasked-{place}"
        failed = isinstance(response, dict) and "error" in response
        return Answered(found, name, wire.dumps(response).decode(), failed)

    def _take(self, key: str, name: str) -> Called | None:
        """The call that an answer belongs to: by id where it has one, else the first of that name."""
        for index, (id_, call) in enumerate(self._waiting):
            if id_ == key if key else call.name == name:
                del self._waiting[index]
                return call
        return None


def _text(part: Wire) -> Text | None:
    signature = _signature(part)
    return Text(part["text"], signature) if part["text"] or signature else None


def _signature(part: Wire) -> str:
    return next((str(part[key]) for key in _SIGNATURE_KEYS if part.get(key)), "")


def _media(told: Wire) -> Media | None:
    mime = str(told.get("mimeType", told.get("mime_type", "")))
    data, uri = str(told.get("data", "")), str(told.get("fileUri", told.get("file_uri", "")))
    return Media(mime, data, uri) if data or uri else None


def _first(part: Wire, keys: Iterable[str]) -> Wire:
    return next((part[key] for key in keys if isinstance(part.get(key), dict)), {})
