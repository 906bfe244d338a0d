"""Gemini's `contents`: a bare list, the body of a generateContent request, a request with its response."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sessions_app.chat.import_formats.base import (
    ImportedContent,
    Node,
    Notes,
    absent_file,
    check_inline,
)
from sessions_app.import_codes import ExpectedValue, ImportNote
from sessions_app.prompt import wire
from sessions_app.prompt.parts import (
    PartView,
    RawPart,
    call_of,
    file_of,
    parts_value,
    raw_parts,
    response_of,
    signature_of,
    with_signature,
    without_signature,
)
from sessions_app.prompt.reply import fold
from sessions_app.prompt.signatures import normalised

MODEL_ROLES = ("model",)
USER_ROLES = ("", "user", "function", "tool")

_PROVIDER_FILE = re.compile(r"https?://[^/]+/v\d\w*/files/[\w-]+")
"""The address of an uploaded file, which only the key that uploaded it may name."""


def read_contents(items: Iterable[Node], notes: Notes) -> Iterator[ImportedContent]:
    """Results that stand in contents of their own are one, as the calls before them are.

    Raises NotImportable with the path of what no request could hold.
    """
    current: ImportedContent | None = None
    open_calls = 0
    for content in _contents(items, notes):
        results = _count(response_of, content, is_model=False)
        if current is not None and 0 < results <= open_calls and not current.is_model:
            current.parts.extend(content.parts)
        else:
            if current is not None:
                yield current
            open_calls = _count(call_of, current, is_model=True) if results else 0
            current = content
        open_calls -= results
    if current is not None:
        yield current


def _count(read: Callable[[RawPart], Any], content: ImportedContent | None, *, is_model: bool) -> int:
    if content is None or content.is_model != is_model:
        return 0
    return sum(read(part) is not None for part in content.parts)


def _contents(items: Iterable[Node], notes: Notes) -> Iterator[ImportedContent]:
    for item in items:
        role = item.at("role").text
        if role not in (*MODEL_ROLES, *USER_ROLES):
            raise item.at("role").refused(ExpectedValue.ROLE)
        parts = [read_part(part, notes) for part in part_nodes(item)]
        if kept := [part for part in parts if part]:
            yield ImportedContent(item.where, is_model=role in MODEL_ROLES, parts=kept)
        else:
            notes.counts[ImportNote.ENTRIES_EMPTY] += 1


def part_nodes(content: Node) -> list[Node]:
    """The parts of a content; a single one may stand for the list."""
    where, value = f"{content.where}.parts".removeprefix("."), parts_value(content.fields)
    if isinstance(value, dict):
        return [Node(where, value)]
    if not isinstance(value, list | None):
        raise Node(where, value).refused(ExpectedValue.PARTS)
    return list(Node(where, value).items())


def read_part(node: Node, notes: Notes) -> RawPart:
    """The part with its signature in standard base64; empty when it says nothing."""
    part = dict(node.fields)
    view = PartView(0, part)
    if view.kind == "function_call":
        _check_named(node, call_of(part), "args", ExpectedValue.CALL)
    elif view.kind == "function_response":
        _check_named(node, response_of(part), "response", ExpectedValue.RESPONSE)
    elif "text" in part:
        node.at("text").text  # noqa: B018 (raises)
    elif file := file_of(part):
        if not file.data and not file.uri:
            raise node.refused(ExpectedValue.BASE64)
        check_inline(node.where, file)
        if _PROVIDER_FILE.fullmatch(file.uri):
            return absent_file(file.name or file.uri.rpartition("/")[2], notes)
    return _with_standard_signature(part, notes)


def _check_named(node: Node, found: dict[str, Any] | None, key: str, expected: ExpectedValue) -> None:
    name = found.get("name") if found else None
    if found is None or not name or not isinstance(name, str):
        raise node.refused(expected)
    if not isinstance(found.get(key), dict | None) or not isinstance(found.get("id"), str | None):
        raise node.refused(expected)


def _with_standard_signature(part: RawPart, notes: Notes) -> RawPart:
    bare = without_signature(part)
    if len(bare) < len(part):
        received = signature_of(part)
        signature = normalised(received) if received else None
        if signature is None:
            notes.counts[ImportNote.SIGNATURES_UNREADABLE] += bool(received)
            part = bare
        elif signature != received:
            part = with_signature(bare, signature)
    return part if any(value not in (None, {}, []) for key, value in part.items() if key != "thought") else {}


def read_response(response: Node, notes: Notes) -> Iterator[ImportedContent]:
    """The answer that a response, or the chunks of a streamed one, fold into; nothing without parts."""
    chunks = [response] if isinstance(response.value, dict) else list(response.items())
    events: list[Mapping[str, Any]] = [chunk.fields for chunk in chunks]
    reply = fold([wire.dumps(event) for event in events])
    parts = [_with_standard_signature(part, notes) for part in raw_parts(reply.wire)] if reply.wire else []
    if parts := [part for part in parts if part]:
        yield ImportedContent(response.where, is_model=True, parts=parts, finish_reason=reply.finish_reason)
