"""What the readers of all formats share: places in a file, contents, headers and notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ExpectedValue, ImportNote
from sessions_app.prompt.media import bytes_of
from sessions_app.prompt.parts import FileData, RawPart, inline_data, text_part

ABSENT = "[The file {name} was not in the imported history.]"
"""What the model reads in the place of a file."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the file and its path (`contents[3].parts[1]`); None where nothing stands."""

    where: str
    value: Any

    def at(self, *keys: str) -> "Node":
        """What stands under the first of these keys that is given; the last one names what is absent."""
        fields = self.fields
        key = next((key for key in keys if fields.get(key) is not None), keys[-1])
        return Node(f"{self.where}.{key}".removeprefix("."), fields.get(key))

    @property
    def is_absent(self) -> bool:
        return self.value is None

    @property
    def fields(self) -> Mapping[str, Any]:
        """Raises NotImportable for anything but an object."""
        if not isinstance(self.value, dict):
            raise self.refused(ExpectedValue.OBJECT)
        return self.value

    @property
    def text(self) -> str:
        """Empty where nothing stands. Raises NotImportable for anything but text."""
        if not isinstance(self.value, str | None):
            raise self.refused(ExpectedValue.TEXT)
        return self.value or ""

    def items(self) -> Iterator["Node"]:
        """Nothing where nothing stands. Raises NotImportable for anything but a list."""
        if not isinstance(self.value, list | None):
            raise self.refused(ExpectedValue.LIST)
        return (Node(f"{self.where}[{place}]", one) for place, one in enumerate(self.value or ()))

    def refused(self, expected: ExpectedValue) -> NotImportable:
        return NotImportable(ImportProblem.UNEXPECTED, where=self.where[:200], expected=expected.value)


class ImportedContent(NamedTuple):
    """One content of a history; `where` is the first entry that it comes from.

    `finish_reason` is that of the response whose content it is, in Gemini's words, where the file says it.
    """

    where: str
    is_model: bool
    parts: list[RawPart]
    finish_reason: str = ""


@dataclass(slots=True)
class Notes:
    """What a reader came upon. `system` are instructions that stand among the messages."""

    counts: Counter[ImportNote] = field(default_factory=Counter)
    system: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportHeader:
    """What a request says beside its messages.

    `settings` are those of a session (`SessionSettings`), `refused` the paths of values that they do not
    take, `without_setting` the paths of what none of them says, `tools` the names of declared functions,
    `cache` the name of a cache that the request names, `unsent` the number of messages never sent.
    """

    system: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    refused: Sequence[str] = ()
    without_setting: Sequence[str] = ()
    cache: str = ""
    unsent: int = 0


def without_known(node: Node, known: frozenset[str]) -> tuple[str, ...]:
    """The paths of the keys of an object that are not `known` and say something."""
    fields = {} if node.is_absent else node.fields
    return tuple(
        f"{node.where}.{key[:60]}".removeprefix(".")
        for key, value in fields.items()
        if key not in known and value is not False and value not in (None, "", [], {})
    )


def inline_file(where: str, data: str, mime: str, name: str) -> RawPart:
    """Raises NotImportable when the data are not base64."""
    part = inline_data(data, mime or "application/octet-stream", name)
    check_inline(where, FileData(mime, name, data, ""))
    return part


def check_inline(where: str, file: FileData) -> None:
    if file.data is not None and bytes_of(file) is None:
        raise Node(where, None).refused(ExpectedValue.BASE64)


def paragraphs(parts: Iterable[RawPart]) -> list[RawPart]:
    """What a person said in pieces: a text behind another one is a paragraph, not the rest of its word."""
    found: list[RawPart] = []
    for part in parts:
        is_next = bool(found) and _is_plain(found[-1]) and _is_plain(part)
        found.append(text_part(f"\n\n{part['text']}") if is_next else part)
    return found


def _is_plain(part: RawPart) -> bool:
    return part.keys() == {"text"}


def absent_file(name: str, notes: Notes) -> RawPart:
    """A line of text in the place of a file that others hold."""
    notes.counts[ImportNote.FILES_ABSENT] += 1
    return text_part(ABSENT.format(name=name[:200]))
