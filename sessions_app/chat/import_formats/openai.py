"""OpenAI's messages: a bare list, the body of a chat completion, a request with its response."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app.chat.import_formats.base import (
    ImportedContent,
    Node,
    Notes,
    absent_file,
    inline_file,
    paragraphs,
)
from sessions_app.chat.import_formats.gemini import read_part
from sessions_app.import_codes import ExpectedValue, ImportNote
from sessions_app.prompt import wire
from sessions_app.prompt.call_pairing import Untaken
from sessions_app.prompt.dialects.openai_chunks import FINISH_REASONS
from sessions_app.prompt.parts import (
    RawPart,
    call_part,
    response_part,
    signature_of,
    text_part,
    with_signature,
)

SYSTEM_ROLES = ("system", "developer")
RESULT_ROLES = ("tool", "function")
MODEL_ROLES = ("assistant", "model")

UNNAMED = "unnamed_tool"
"""The name of a result whose call is not in the file."""

_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[^;,]*)*;base64,", re.ASCII)


def read_messages(items: Iterable[Node], notes: Notes) -> Iterator[ImportedContent]:
    """Raises NotImportable with the path of what is no message."""
    tool_round, is_begun = _Round(), False
    for item in items:
        role = item.at("role").text
        if role in RESULT_ROLES:
            tool_round.add(item)
            is_begun = True
            continue
        yield from tool_round.close()
        if role in SYSTEM_ROLES and not is_begun:
            notes.system.append(_plain_text(item.at("content")))
            continue
        is_begun = True
        content = _read_message(item, role, notes)
        if content.parts:
            yield content
            tool_round = _Round(content.where, _calls(item))
        else:
            notes.counts[ImportNote.ENTRIES_EMPTY] += 1
    yield from tool_round.close()


def _read_message(item: Node, role: str, notes: Notes) -> ImportedContent:
    if role in MODEL_ROLES:
        return ImportedContent(item.where, is_model=True, parts=_answer(item, notes))
    if role in SYSTEM_ROLES:
        notes.counts[ImportNote.SYSTEM_AS_MESSAGE] += 1
    elif role != "user":
        raise item.at("role").refused(ExpectedValue.ROLE)
    parts = paragraphs(_parts(item.at("content"), notes))
    return ImportedContent(item.where, is_model=False, parts=parts)


@dataclass(frozen=True, slots=True)
class _Call:
    id: str
    name: str
    args: dict[str, Any]
    node: Node


@dataclass(slots=True)
class _Round:
    """The calls of a message and the results that follow it, in the order of the calls."""

    where: str = ""
    calls: Sequence[_Call] = ()
    _given: list[tuple[int, RawPart]] = field(default_factory=list)
    _untaken: Untaken = field(init=False)

    def __post_init__(self) -> None:
        self._untaken = Untaken((("id", one.id), ("name", one.name), ("name", "")) for one in self.calls)

    def add(self, item: Node) -> None:
        if not self._given:
            self.where = item.where
        key, name = item.at("tool_call_id").text, item.at("name").text
        # By its id, else the first of that name, or of any where the result has none.
        place = self._untaken.take(("id", key) if key else ("name", name))
        call = self.calls[place] if place is not None else None
        answer = _result(_plain_text(item.at("content")))
        part = response_part(call.name if call else name or UNNAMED, answer, call_id=call.id if call else key)
        self._given.append((len(self.calls) if place is None else place, part))

    def close(self) -> Iterator[ImportedContent]:
        """One content with all results, as Gemini wants them; nothing without any."""
        if self._given:
            # Stable: results without a call stay behind the others, in their order.
            parts = [part for _, part in sorted(self._given, key=lambda given: given[0])]
            self._given = []
            yield ImportedContent(self.where, is_model=False, parts=parts)


def _answer(item: Node, notes: Notes) -> list[RawPart]:
    parts = _parts(item.at("content"), notes)
    if refusal := item.at("refusal").text:
        parts.append(text_part(refusal))
    if (signature := _signature(item)) and parts:
        parts[-1] = with_signature(parts[-1], signature)
    for call in _calls(item):
        part = call_part(call.name, call.args, call_id=call.id)
        own = _signature(call.node)
        parts.append(read_part(Node(call.node.where, with_signature(part, own) if own else part), notes))
    return parts


def _calls(item: Node) -> list[_Call]:
    if item.at("role").text not in MODEL_ROLES:
        return []
    found = [(one, one.at("function"), one.at("id").text) for one in item.at("tool_calls").items()]
    if not (single := item.at("function_call")).is_absent:
        found.append((single, single, ""))
    return [_call(*one) for one in found]


def _call(node: Node, function: Node, key: str) -> _Call:
    name = "" if function.is_absent else function.at("name").text
    if not name:
        raise function.refused(ExpectedValue.CALL)
    return _Call(key, name, _arguments(function.at("arguments")), node)


def _arguments(node: Node) -> dict[str, Any]:
    """An object, mostly as JSON text; nothing stands for an empty one."""
    value = node.value
    if isinstance(value, str) and value.strip():
        try:
            value = wire.loads(value) if not wire.is_too_complex(value.encode()) else value
        except ValueError:
            raise node.refused(ExpectedValue.ARGUMENTS) from None
    if not isinstance(value, dict) and value not in (None, ""):
        raise node.refused(ExpectedValue.ARGUMENTS)
    return value or {}


def _result(text: str) -> dict[str, Any]:
    """A JSON object as it is, anything else as the `result` of one."""
    try:
        value = wire.loads(text) if not wire.is_too_complex(text.encode()) else text
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"result": value}


def _signature(node: Node) -> str:
    """Gemini's own, which its OpenAI-compatible route puts into `extra_content.google`."""
    extra = node.at("extra_content")
    google = extra if extra.is_absent else extra.at("google")
    return "" if google.is_absent else signature_of(google.fields) or ""


def _plain_text(node: Node) -> str:
    """The text of a content; its files count for nothing."""
    if not isinstance(node.value, list):
        return node.text
    return "\n\n".join(one.at("text").text for one in node.items())


def _parts(node: Node, notes: Notes) -> list[RawPart]:
    if not isinstance(node.value, list):
        return [text_part(node.text)] if node.text else []
    return [part for one in node.items() if (part := _part(one, notes))]


def _part(node: Node, notes: Notes) -> RawPart:
    kind = node.at("type").text or "text"
    match kind:
        case "text" | "input_text" | "output_text" | "refusal":
            text = node.at("refusal" if kind == "refusal" else "text").text
            return text_part(text) if text else {}
        case "image_url" | "input_image":
            image = node.at("image_url")
            return _linked(image.at("url") if isinstance(image.value, dict) else image, "image", notes)
        case "input_audio":
            audio = node.at("input_audio")
            mime = f"audio/{audio.at('format').text or 'wav'}"
            return inline_file(audio.at("data").where, audio.at("data").text, mime, "audio")
        case "file":
            file = node.at("file")
            name = file.at("file_id", "filename").text or "file"
            return _linked(file.at("file_data"), name, notes)
    return absent_file(kind, notes)


def _linked(node: Node, name: str, notes: Notes) -> RawPart:
    """A data URL as an inline file; an address is for its reader to fetch, not for Gemini."""
    if found := _DATA_URL.match(node.text):
        return inline_file(node.where, node.text[found.end() :], found[1], name)
    return absent_file(node.text or name, notes)


def read_response(response: Node, notes: Notes) -> Iterator[ImportedContent]:
    """The message of the first choice of a completion."""
    choice = next(response.at("choices").items(), None)
    if choice is not None and not (message := choice.at("message")).is_absent:
        reason = FINISH_REASONS.get(choice.at("finish_reason").text, "")
        yield from (one._replace(finish_reason=reason) for one in read_messages([message], notes))
