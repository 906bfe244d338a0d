"""Checks an exported file, entry by entry, before anything of it is written."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError

from sessions_app.chat.import_file import Element, ImportFile
from sessions_app.chat.transfer_format import (
    ENTRIES_LIMIT,
    EXPORT_VERSION,
    ExportedRun,
    ExportedSession,
    ExportedTurn,
)
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ImportFormat
from sessions_app.models import SessionSettings
from sessions_app.panels.row_transfer import TRANSFERRED, parse_row
from sessions_app.panels.rows import PanelRow
from sessions_app.wording.values import problem_of

FORMAT: TypeAdapter[str] = TypeAdapter(Literal["pipeweb-session"])
VERSION: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=1, lt=10**6)])
SESSION = TypeAdapter(ExportedSession)
TURN = TypeAdapter(ExportedTurn)
RUN = TypeAdapter(ExportedRun)
ROW: TypeAdapter[Mapping[str, Any]] = TypeAdapter(Mapping[str, Any])

SOURCES = {source.key: source for source in TRANSFERRED}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A row to write, of so many bytes, which `read` gives."""

    size: int
    read: Callable[[], T]


class CheckedFile(ABC):
    """A file that can be imported: what it becomes, entry by entry."""

    session: ExportedSession
    format: ImportFormat
    panels: Iterable[str] = ()
    """Keys of the panels that have rows."""
    left_out: tuple[str, ...] = ()
    """Names of what is unknown here."""
    notes: tuple[Mapping[str, Any], ...] = ()
    """ImportNotes with their figures, each as `code`, …"""
    total: int = 0
    """Number of turns, runs and rows."""

    @abstractmethod
    def runs(self) -> Iterator[Entry[ExportedRun]]: ...

    @abstractmethod
    def turns(self) -> Iterator[Entry[ExportedTurn]]: ...

    @abstractmethod
    def rows(self, key: str) -> Iterator[Entry[PanelRow]]: ...


class CheckedExport(CheckedFile):
    """A file that Pipeweb has exported."""

    format = ImportFormat.PIPEWEB

    def __init__(self, file: ImportFile, parts: Mapping[str, Element], beat: Callable[[], None]) -> None:
        """Checks every entry; `beat` is called for each. Raises NotImportable."""
        self._file, self._parts = file, parts
        self._check_header()
        if "session" not in parts:
            raise NotImportable(ImportProblem.MISSING, missing="session")
        self.session = file.parse(SESSION, parts["session"])
        settings_of(self.session)
        self._panels = dict(file.members(parts["panels"])) if "panels" in parts else {}
        self.panels = [key for key in self._panels if key in SOURCES]
        self.left_out = tuple(key for key in self._panels if key not in SOURCES)
        for run in self.runs():
            run.read()
            self.total += 1
            beat()
        self._check_turns(beat)
        for row in (row for key in self.panels for row in self.rows(key)):
            row.read()
            self.total += 1
            beat()

    def _check_header(self) -> None:
        if "format" in self._parts:
            self._file.parse(FORMAT, self._parts["format"])
        if "version" in self._parts:
            version = self._file.parse(VERSION, self._parts["version"])
            if version > EXPORT_VERSION:
                raise NotImportable(ImportProblem.NEWER, version=version, limit=EXPORT_VERSION)

    def runs(self) -> Iterator[Entry[ExportedRun]]:
        for element in entries(self._file, self._parts.get("runs")):
            yield Entry(element.size, partial(self._file.parse, RUN, element))

    def turns(self) -> Iterator[Entry[ExportedTurn]]:
        for element in entries(self._file, self._parts.get("turns")):
            yield Entry(element.size, partial(self._file.parse, TURN, element))

    def rows(self, key: str) -> Iterator[Entry[PanelRow]]:
        for element in entries(self._file, self._panels[key]):
            yield Entry(element.size, partial(self._row, key, element))

    def _row(self, key: str, element: Element) -> PanelRow:
        return parse_row(SOURCES[key], self._file.parse(ROW, element), element.where)

    def _check_turns(self, beat: Callable[[], None]) -> None:
        known: set[UUID] = set()
        for place, entry in enumerate(self.turns()):
            turn, where = entry.read(), f"turns.{place}"
            if turn.key in known:
                raise NotImportable(ImportProblem.REPEATED_TURN, where=where, turn=str(turn.key))
            if turn.parent is not None and turn.parent not in known:
                raise NotImportable(ImportProblem.UNKNOWN_PARENT, where=where, turn=str(turn.key))
            known.add(turn.key)
            beat()
        if self.session.head is not None and self.session.head not in known:
            raise NotImportable(ImportProblem.UNKNOWN_HEAD, turn=str(self.session.head))
        self.total += len(known)


def entries(file: ImportFile, of: Element | None) -> Iterator[Element]:
    """The items of a list, or none. Raises NotImportable when they are too many."""
    for place, element in enumerate(file.items(of) if of else ()):
        if place >= ENTRIES_LIMIT:
            raise NotImportable(ImportProblem.TOO_MANY, where=of.where if of else "", limit=ENTRIES_LIMIT)
        yield element


def settings_of(session: ExportedSession) -> dict[str, Any]:
    try:
        settings = SessionSettings.model_validate(session.settings)
    except ValidationError as error:
        where = ".".join(["session.settings", *map(str, error.errors()[0]["loc"])])
        raise NotImportable(ImportProblem.WRONG, where=where[:200], problem=problem_of(error)) from error
    return settings.model_dump(mode="json", exclude_unset=True)
