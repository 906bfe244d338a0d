"""What Google AI Studio keeps of a prompt: `runSettings`, `systemInstruction`, `chunkedPrompt.chunks`.

A chunk is a text, a thought, a file or a step of code; those of one side that follow each other are one
content. A chunk has its `text` again in `parts`, where it has any.
"""

from collections.abc import Iterable, Iterator

from sessions_app.chat.import_formats.base import (
    ImportedContent,
    ImportHeader,
    Node,
    Notes,
    absent_file,
    inline_file,
    paragraphs,
    without_known,
)
from sessions_app.chat.import_formats.gemini import part_nodes, read_part
from sessions_app.chat.import_formats.gemini_header import system_text, take_own_tools
from sessions_app.chat.import_formats.settings import SAMPLING, THINKING, Settings
from sessions_app.import_codes import ExpectedValue, ImportNote
from sessions_app.prompt.chunks import finish_reason_of
from sessions_app.prompt.parts import RawPart, as_part, is_thought, parts_value, signature_of, with_signature
from sessions_app.prompt.provider_tools import ProviderTool

INLINE = ("inlineImage", "inlineFile", "inlineAudio", "inlineVideo")
ELSEWHERE = ("driveDocument", "driveImage", "driveAudio", "driveVideo", "youtubeVideo")
"""Files that a chunk only names."""

_ROLES = ("user", "model")
_SWITCHES = {
    "enableSearchAsATool": ProviderTool.SEARCH,
    "enableBrowseAsATool": ProviderTool.LINKS,
    "enableCodeExecution": ProviderTool.CODE,
}
_SETTINGS = SAMPLING | THINKING | {"model", *_SWITCHES}
_PROMPT = frozenset({"runSettings", "systemInstruction", "pendingInputs"})
_UNSAID = frozenset({"role", "tokenCount"})


def read_chunks(items: Iterable[Node], notes: Notes) -> Iterator[ImportedContent]:
    """Raises NotImportable with the path of a chunk that is none."""
    current: ImportedContent | None = None
    for item in items:
        role = item.at("role").text or "user"
        if role not in _ROLES:
            raise item.at("role").refused(ExpectedValue.ROLE)
        parts = [part for part in _parts(item, notes) if part]
        reason = finish_reason_of(dict(item.fields))
        if not parts:
            notes.counts[ImportNote.ENTRIES_EMPTY] += 1
        elif current is not None and current.is_model == (role == "model"):
            current.parts.extend(parts)
            current = current._replace(finish_reason=reason or current.finish_reason)
        else:
            if current is not None:
                yield _whole(current)
            current = ImportedContent(item.where, role == "model", parts, reason)
    if current is not None:
        yield _whole(current)


def _whole(content: ImportedContent) -> ImportedContent:
    return content if content.is_model else content._replace(parts=paragraphs(content.parts))


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
    """The parts, with the signature that stands beside them on the last one that is no thought."""
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
    run, settings = prompt.at("runSettings"), Settings()
    beside = without_known(prompt, _PROMPT)
    declared = _declared(run)
    return ImportHeader(
        system=system_text(prompt.at("systemInstruction")),
        model="" if run.is_absent else run.at("model").text,
        tools=tuple(name for one in declared if (name := one.at("name").text)),
        without_setting=(*_take_run(run, settings), *beside),
        settings=settings.values,
        refused=settings.refused,
        unsent=sum(bool(without_known(one, _UNSAID)) for one in prompt.at("pendingInputs").items()),
    )


def _take_run(run: Node, settings: Settings) -> Iterator[str]:
    """The settings of the prompt; gives the paths of what no setting of a session says."""
    if run.is_absent:
        return
    yield from settings.take_config(run)
    settings.take_thinking(run)
    take_own_tools({tool for key, tool in _SWITCHES.items() if run.at(key).value is True}, settings)
    yield from without_known(run, _SETTINGS | ({"functionDeclarations"} if _declared(run) else set()))


def _declared(run: Node) -> list[Node]:
    """The declarations, where they are a list."""
    declared = run if run.is_absent else run.at("functionDeclarations")
    return list(declared.items()) if isinstance(declared.value, list) else []
