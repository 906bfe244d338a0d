"""What Google AI Studio keeps of a prompt: `runSettings`, `systemInstruction`, `chunkedPrompt.chunks`.

A chunk is a text, a thought, a file or a step of code; those of one side that follow each other are one
content. A chunk has its `text` again in `parts`, where it has any.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sessions_app.chat.import_formats.base import (
    ImportedContent,
    ImportHeader,
    Node,
    Notes,
    absent_file,
    inline_file,
    temperature_of,
    without_known,
)
from sessions_app.chat.import_formats.gemini import (
    part_nodes,
    read_part,
    system_text,
    thinking_settings,
)
from sessions_app.import_codes import ExpectedValue, ImportNote
from sessions_app.prompt.parts import RawPart, as_part, is_thought, parts_value, signature_of, with_signature

INLINE = ("inlineImage", "inlineFile", "inlineAudio", "inlineVideo")
ELSEWHERE = ("driveDocument", "driveImage", "driveAudio", "driveVideo", "youtubeVideo")
"""Files that a chunk only names."""

_ROLES = ("user", "model")
_SETTINGS = frozenset({"model", "temperature", "thinkingLevel", "thinkingBudget", "functionDeclarations"})


def read_chunks(items: Iterable[Node], notes: Notes) -> Iterator[ImportedContent]:
    """Raises NotImportable with the path of a chunk that is none."""
    current: ImportedContent | None = None
    for item in items:
        role = item.at("role").text or "user"
        if role not in _ROLES:
            raise item.at("role").refused(ExpectedValue.ROLE)
        parts = [part for part in _parts(item, notes) if part]
        if not parts:
            notes.counts[ImportNote.ENTRIES_EMPTY] += 1
        elif current is not None and current.is_model == (role == "model"):
            current.parts.extend(parts)
        else:
            if current is not None:
                yield current
            current = ImportedContent(item.where, is_model=role == "model", parts=parts)
    if current is not None:
        yield current


def _parts(chunk: Node, notes: Notes) -> list[RawPart]:
    is_of_thoughts = chunk.fields.get("isThought") is True
    if parts_value(chunk.fields):
        parts = [read_part(part, notes) for part in part_nodes(chunk)]
    else:
        parts = [*_files(chunk, notes), read_part(Node(chunk.where, _own_part(chunk)), notes)]
    parts = [part | {"thought": True} if is_of_thoughts and _is_text(part) else part for part in parts]
    return _signed(chunk, [part for part in parts if part], notes)


def _own_part(chunk: Node) -> RawPart:
    """The chunk itself as a part; an empty text says nothing here."""
    return {key: value for key, value in as_part(chunk.fields).items() if (key, value) != ("text", "")}


def _is_text(part: RawPart) -> bool:
    return bool(part.get("text"))


def _files(chunk: Node, notes: Notes) -> Iterator[RawPart]:
    for key in INLINE:
        if not (file := chunk.at(key)).is_absent:
            mime, name = file.at("mimeType").text, file.at("fileName", "name").text
            yield inline_file(file.where, file.at("data").text, mime, name)
    for key in ELSEWHERE:
        if not (file := chunk.at(key)).is_absent:
            yield absent_file(f"{key} {file.at('id').text}", notes)


def _signed(chunk: Node, parts: list[RawPart], notes: Notes) -> list[RawPart]:
    """With the signatures that stand beside the parts instead of in them: one, on the last part."""
    beside = [one.text for one in chunk.at("thoughtSignatures").items() if one.text]
    if not parts or not beside or any(signature_of(part) for part in parts):
        return parts
    last = next((place for place in reversed(range(len(parts))) if not is_thought(parts[place])), None)
    if last is None:
        return parts
    signed = read_part(Node(chunk.where, with_signature(parts[last], beside[-1])), notes)
    return [*parts[:last], signed, *parts[last + 1 :]]


def read_header(prompt: Node) -> ImportHeader:
    """What a saved prompt says beside its chunks; `pendingInputs` were typed and not sent."""
    run, pending = prompt.at("runSettings"), prompt.at("pendingInputs").items()
    unsent = tuple(one.where for one in pending if one.at("text").text.strip())
    system = system_text(prompt.at("systemInstruction"))
    if run.is_absent:
        return ImportHeader(system=system, left_out=unsent)
    settings: dict[str, Any] = temperature_of(run.at("temperature")) | thinking_settings(run)
    declared = run.at("functionDeclarations")
    names = declared.items() if isinstance(declared.value, list) else ()
    return ImportHeader(
        system=system,
        model=run.at("model").text,
        tools=tuple(name for one in names if (name := one.at("name").text)),
        settings=settings,
        left_out=(*unsent, *without_known(run, _SETTINGS)),
    )
