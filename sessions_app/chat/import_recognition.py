"""Recognises what a file is by its first names: an exported session, or a history of another program."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.chat.import_check import entries
from sessions_app.chat.import_file import Element, ImportFile
from sessions_app.chat.import_formats import ai_studio, gemini, gemini_header, openai, openai_header
from sessions_app.chat.import_formats.base import ImportedContent, ImportHeader, Node, Notes
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue, ImportFormat
from sessions_app.prompt.parts import parts_value

Members = Mapping[str, Element]

EXPORT_NAMES = frozenset({"session", "turns", "format", "exported_at"})
RESPONSES = ("response", "responses", "response_chunks")

_HEADERS: dict[ImportFormat, Callable[[Node], ImportHeader]] = {
    ImportFormat.GEMINI: gemini_header.read_header,
    ImportFormat.AI_STUDIO: ai_studio.read_header,
    ImportFormat.OPENAI: openai_header.read_header,
}
_MESSAGES = {
    ImportFormat.GEMINI: gemini.read_contents,
    ImportFormat.AI_STUDIO: ai_studio.read_chunks,
    ImportFormat.OPENAI: openai.read_messages,
}


@dataclass(frozen=True, slots=True)
class ImportedHistory:
    """A history in a file: its messages, what stands beside them in the request, the response."""

    file: ImportFile
    format: ImportFormat
    messages: Element | None
    request: Members
    response: Element | None = None

    def header(self) -> ImportHeader:
        """Raises NotImportable."""
        values = {name: self.file.value(element) for name, element in self.request.items()}
        return _HEADERS[self.format](Node("", values))

    def contents(self, notes: Notes) -> Iterator[ImportedContent]:
        """The messages, then the response. Raises NotImportable."""
        yield from _MESSAGES[self.format](self._nodes(), notes)
        if self.response is not None:
            read = openai.read_response if self.format is ImportFormat.OPENAI else gemini.read_response
            yield from read(Node(self.response.where, self.file.value(self.response)), notes)

    def _nodes(self) -> Iterator[Node]:
        if self.messages is not None and self.file.is_object(self.messages):
            # A single content may stand for the list.
            yield _node(self.file, self.messages, self.messages.where)
            return
        for place, element in enumerate(entries(self.file, self.messages)):
            yield _node(self.file, element, f"{element.where.rpartition('.')[0]}[{place}]")


def recognise(file: ImportFile, root: Element) -> ImportedHistory | Members:
    """The history, or the members of an exported session. Raises NotImportable."""
    if not file.is_object(root):
        return _bare(file, root)
    members = dict(file.members(root))
    if "request" in members and not EXPORT_NAMES & members.keys():
        found = _of_request(file, _members(file, members["request"]))
        response = next((members[name] for name in RESPONSES if name in members), None)
        found = replace(found, response=response) if found else None
    else:
        found = _of_request(file, members)
    if found is None and not EXPORT_NAMES & members.keys():
        raise NotImportable(ImportProblem.UNKNOWN_FORMAT)
    return found or members


def _of_request(file: ImportFile, members: Members) -> ImportedHistory | None:
    for name, kind in (("contents", ImportFormat.GEMINI), ("messages", ImportFormat.OPENAI)):
        if name in members:
            _check_list(file, members[name])
            return ImportedHistory(file, kind, members[name], _without(members, name))
    if "chunkedPrompt" not in members:
        return None
    prompt = _members(file, members["chunkedPrompt"])
    if "chunks" in prompt:
        _check_list(file, prompt["chunks"])
    beside = _without(members, "chunkedPrompt") | _without(prompt, "chunks")
    return ImportedHistory(file, ImportFormat.AI_STUDIO, prompt.get("chunks"), beside)


def _members(file: ImportFile, element: Element) -> Members:
    if not file.is_object(element):
        raise Node(element.where, None).refused(ExpectedValue.OBJECT)
    return dict(file.members(element))


def _check_list(file: ImportFile, element: Element) -> None:
    """A single message may stand for the list of them."""
    if not (file.is_list(element) or file.is_object(element)):
        raise Node(element.where, None).refused(ExpectedValue.LIST)


def _bare(file: ImportFile, root: Element) -> ImportedHistory:
    first = next(iter(file.items(root)), None)
    if first is None:
        raise NotImportable(ImportProblem.NO_MESSAGES)
    fields = _node(file, first, "[0]").fields
    if {"content", "tool_calls", "function_call"} & fields.keys():
        return ImportedHistory(file, ImportFormat.OPENAI, root, {})
    if {"text", "isThought"} & fields.keys():
        return ImportedHistory(file, ImportFormat.AI_STUDIO, root, {})
    if parts_value(fields) is not None:
        return ImportedHistory(file, ImportFormat.GEMINI, root, {})
    raise NotImportable(ImportProblem.UNKNOWN_FORMAT)


def _node(file: ImportFile, element: Element, where: str) -> Node:
    value: Any = file.value(element._replace(where=where))
    return Node(where, value)


def _without(members: Members, name: str) -> dict[str, Element]:
    return {key: element for key, element in members.items() if key != name}
