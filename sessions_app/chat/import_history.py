"""A history of another program as the rows of a session, entry by entry."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings as configured
from pydantic import ValidationError

from sessions_app.catalogue import CATALOGUE, base_of
from sessions_app.chat.import_check import CheckedExport, CheckedFile, Entry
from sessions_app.chat.import_file import ImportFile
from sessions_app.chat.import_formats.base import ImportedContent, ImportHeader, Notes
from sessions_app.chat.import_recognition import ImportedHistory, recognise
from sessions_app.chat.transfer_format import ENTRIES_LIMIT, ExportedRun, ExportedSession, ExportedTurn
from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.import_codes import ImportNote
from sessions_app.models import Run
from sessions_app.models.titles import starting_words
from sessions_app.models.turn import said_text
from sessions_app.panels import TOOLBOX
from sessions_app.panels.rows import PanelRow
from sessions_app.prompt import parts, wire
from sessions_app.prompt.history import violations
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.reply import outcome_of_parts
from sessions_app.prompt.templates import verbatim
from sessions_app.prompt.turns import IMPORTED, Turn, TurnKind
from sessions_app.wording.values import problem_of

RUNS = 2**64
"""The first key of a run; those of turns begin at 1."""

LISTED = 20
"""Names that a note lists."""

_TEXT = parts.text_part("…")


def check_file(file: ImportFile, beat: Callable[[], None]) -> CheckedFile:
    """Recognises the file and checks every entry; `beat` is called for each. Raises NotImportable."""
    found = recognise(file, file.root())
    if isinstance(found, ImportedHistory):
        return CheckedHistory(found, beat)
    return CheckedExport(file, found, beat)


class CheckedHistory(CheckedFile):
    """One branch; every message of a person begins a run. A run that does not end in an answer is stopped."""

    def __init__(self, history: ImportedHistory, beat: Callable[[], None]) -> None:
        """Checks every entry; `beat` is called for each. Raises NotImportable."""
        self._history = history
        self.format = history.format
        self._triggers: list[int] = []
        """For each run, the number of its message among the turns."""
        self._outcomes: list[Outcome | None] = []
        """For each run, how its answer ended; None without one."""
        notes, skeletons = Notes(), list[Turn]()
        title = ""
        for content, turn in self._read(notes):
            skeletons.append(Turn(content.where, turn.kind, _skeleton(content)))
            _count_signatures(content, notes)
            if turn.kind is TurnKind.USER_TASK:
                self._triggers.append(len(skeletons))
                self._outcomes.append(None)
                title = title or starting_words(said_text(turn.kind, turn.content))
            elif self._outcomes:
                is_answer = turn.kind is TurnKind.MODEL_RESPONSE
                self._outcomes[-1] = _outcome_of(content) if is_answer else None
            beat()
        if not skeletons:
            raise NotImportable(ImportProblem.NO_MESSAGES)
        self.total = len(skeletons) + len(self._triggers)
        header = history.header()
        self.session = _session(header, notes, title, head=len(skeletons))
        self.notes = tuple(_notes(header, notes, self.session.model, skeletons))

    def runs(self) -> Iterator[Entry[ExportedRun]]:
        for number, (trigger, outcome) in enumerate(zip(self._triggers, self._outcomes, strict=True)):
            run = ExportedRun(
                key=UUID(int=RUNS + number),
                trigger=UUID(int=trigger),
                status=Run.Status.COMPLETED if outcome else Run.Status.STOPPED,
                outcome=outcome or "",
            )
            yield Entry(1, lambda run=run: run)  # type: ignore[misc]

    def turns(self) -> Iterator[Entry[ExportedTurn]]:
        for _, turn in self._read(Notes()):
            yield Entry(len(turn.content), lambda turn=turn: turn)  # type: ignore[misc]

    def rows(self, key: str) -> Iterator[Entry[PanelRow]]:
        raise KeyError(key)

    def _read(self, notes: Notes) -> Iterator[tuple[ImportedContent, ExportedTurn]]:
        run = -1
        for number, content in enumerate(self._history.contents(notes), start=1):
            if number > ENTRIES_LIMIT:
                raise NotImportable(ImportProblem.TOO_MANY, where=content.where, limit=ENTRIES_LIMIT)
            kind = _kind_of(content)
            run += kind is TurnKind.USER_TASK
            yield content, _turn(content, kind, number, run)


def _outcome_of(content: ImportedContent) -> Outcome:
    """Complete where the file does not say how the response ended."""
    if not content.finish_reason:
        return Outcome.COMPLETE
    return outcome_of_parts(content.parts, content.finish_reason)


def _kind_of(content: ImportedContent) -> TurnKind:
    if content.is_model:
        has_calls = any(parts.call_of(part) is not None for part in content.parts)
        return TurnKind.FUNCTION_CALLING if has_calls else TurnKind.MODEL_RESPONSE
    has_results = any(parts.response_of(part) is not None for part in content.parts)
    return TurnKind.TOOL_RESPONSE if has_results else TurnKind.USER_TASK


def _turn(content: ImportedContent, kind: TurnKind, number: int, run: int) -> ExportedTurn:
    try:
        return ExportedTurn(
            key=UUID(int=number),
            parent=UUID(int=number - 1) if number > 1 else None,
            kind=kind,
            content=wire.dumps(parts.content(kind.role, content.parts)),
            route=IMPORTED if content.is_model else "",
            run=UUID(int=RUNS + run) if run >= 0 else None,
        )
    except ValidationError as error:
        raise _wrong(content.where, error) from error


def _wrong(where: str, error: ValidationError) -> NotImportable:
    return NotImportable(ImportProblem.NOT_KEPT, where=where[:200], problem=problem_of(error))


def _skeleton(content: ImportedContent) -> bytes:
    """The content without what the rules of a history do not look at."""
    bare = []
    for part in content.parts:
        call, result = parts.call_of(part), parts.response_of(part)
        if call is not None:
            bare.append(parts.call_part(call["name"], {}, call_id=call.get("id") or ""))
        elif result is not None:
            bare.append(parts.response_part(result["name"], {}, call_id=result.get("id") or ""))
        else:
            bare.append(_TEXT)
    return wire.dumps(parts.content("model" if content.is_model else "user", bare))


def _count_signatures(content: ImportedContent, notes: Notes) -> None:
    if not content.is_model:
        return
    signed = [part for part in content.parts if parts.signature_of(part)]
    notes.counts[ImportNote.SIGNATURES_FOREIGN] += len(signed)
    first = next((part for part in content.parts if parts.call_of(part) is not None), None)
    notes.counts[ImportNote.CALLS_UNSIGNED] += first is not None and not parts.signature_of(first)


def _session(header: ImportHeader, notes: Notes, title: str, *, head: int) -> ExportedSession:
    asked = base_of(header.model)
    system = "\n\n".join(text for text in (header.system, *notes.system) if text)
    try:
        return ExportedSession(
            title=title,
            purpose=verbatim(system),
            model=asked if asked in CATALOGUE else configured.PIPEWEB_MODEL,
            settings=dict(header.settings),
            head=UUID(int=head),
        )
    except ValidationError as error:
        raise _wrong("system", error) from error


def _notes(
    header: ImportHeader, notes: Notes, model: str, skeletons: list[Turn]
) -> Iterator[Mapping[str, Any]]:
    yield from _header_notes(header, model)
    for code in ImportNote:
        if count := notes.counts[code]:
            yield {"code": code, "count": count}
    if broken := violations(skeletons):
        where = skeletons[broken[0].index].key[:200]
        yield {"code": ImportNote.HISTORY_BROKEN, "count": len(broken), "where": where}


def _header_notes(header: ImportHeader, model: str) -> Iterator[Mapping[str, Any]]:
    if header.model and base_of(header.model) not in CATALOGUE:
        yield {"code": ImportNote.MODEL_REPLACED, "model": header.model[:80], "used": model}
    if header.cache:
        yield {"code": ImportNote.CACHE_ABSENT, "cache": header.cache[:80]}
    unknown = [name for name in header.tools if name not in TOOLBOX.names]
    for code, names in (
        (ImportNote.TOOLS_UNKNOWN, unknown),
        (ImportNote.WITHOUT_SETTING, header.without_setting),
        (ImportNote.VALUES_REFUSED, header.refused),
    ):
        if names:
            yield {"code": code, "names": [name[:80] for name in names[:LISTED]], "count": len(names)}
    if header.unsent:
        yield {"code": ImportNote.UNSENT, "count": header.unsent}
