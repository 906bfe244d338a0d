"""Checks an exported file, entry by entry, before anything of it is written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from sessions_app.chat.import_file import Element, ImportFile
from sessions_app.chat.transfer_format import ENTRIES_LIMIT, ExportedRun, ExportedSession, ExportedTurn
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import SessionSettings
from sessions_app.panels.row_transfer import TRANSFERRED, parse_row
from sessions_app.panels.rows import PanelRow
from sessions_app.wording.values import problem_of

HEADER: dict[str, TypeAdapter[Any]] = {
    "format": TypeAdapter(Literal["pipeweb-session"]),
    "version": TypeAdapter(Literal[1]),
}
SESSION = TypeAdapter(ExportedSession)
TURN = TypeAdapter(ExportedTurn)
RUN = TypeAdapter(ExportedRun)
ROW: TypeAdapter[Mapping[str, Any]] = TypeAdapter(Mapping[str, Any])

SOURCES = {source.key: source for source in TRANSFERRED}


@dataclass
class CheckedFile:
    """A file that can be imported, and where its parts are."""

    file: ImportFile
    session: ExportedSession
    turns: Element | None
    runs: Element | None
    panels: list[tuple[str, Element]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Keys of panels that are unknown here."""
    total: int = 0
    """Number of turns, runs and rows."""

    def entries(self, of: Element | None) -> Iterator[Element]:
        for place, element in enumerate(self.file.items(of) if of else ()):
            if place >= ENTRIES_LIMIT:
                raise NotImportable(ImportProblem.TOO_MANY, where=of.where if of else "", limit=ENTRIES_LIMIT)
            yield element

    def row(self, key: str, element: Element) -> PanelRow:
        return parse_row(SOURCES[key], self.file.parse(ROW, element), element.where)


def check_file(file: ImportFile, beat: Callable[[], None]) -> CheckedFile:
    """Checks every entry; `beat` is called for each. Raises NotImportable."""
    parts = dict(file.members(file.root()))
    for name, kind in HEADER.items():
        if name in parts:
            file.parse(kind, parts[name])
    if "session" not in parts:
        raise NotImportable(ImportProblem.MISSING, missing="session")
    checked = CheckedFile(file, file.parse(SESSION, parts["session"]), parts.get("turns"), parts.get("runs"))
    settings_of(checked.session)
    for element in checked.entries(checked.runs):
        file.parse(RUN, element)
        checked.total += 1
        beat()
    _check_turns(checked, beat)
    if "panels" in parts:
        _check_panels(checked, parts["panels"], beat)
    return checked


def _check_turns(checked: CheckedFile, beat: Callable[[], None]) -> None:
    known: set[UUID] = set()
    for element in checked.entries(checked.turns):
        turn = checked.file.parse(TURN, element)
        if turn.key in known:
            raise NotImportable(ImportProblem.REPEATED_TURN, where=element.where, turn=str(turn.key))
        if turn.parent is not None and turn.parent not in known:
            raise NotImportable(ImportProblem.UNKNOWN_PARENT, where=element.where, turn=str(turn.key))
        known.add(turn.key)
        beat()
    if checked.session.head is not None and checked.session.head not in known:
        raise NotImportable(ImportProblem.UNKNOWN_HEAD, turn=str(checked.session.head))
    checked.total += len(known)


def _check_panels(checked: CheckedFile, panels: Element, beat: Callable[[], None]) -> None:
    for key, rows in checked.file.members(panels):
        if key not in SOURCES:
            checked.left_out.append(key)
            continue
        checked.panels.append((key, rows))
        for element in checked.entries(rows):
            checked.row(key, element)
            checked.total += 1
            beat()


def settings_of(session: ExportedSession) -> dict[str, Any]:
    try:
        settings = SessionSettings.model_validate(session.settings)
    except ValidationError as error:
        where = ".".join(["session.settings", *map(str, error.errors()[0]["loc"])])
        raise NotImportable(ImportProblem.WRONG, where=where[:200], problem=problem_of(error)) from error
    return settings.model_dump(mode="json", exclude_unset=True)
