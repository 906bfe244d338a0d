"""The stage records and remarks of an exchange, and runs refused before their request was sent."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left

from sessions_app.inspector.formatting import visible
from sessions_app.models import Exchange, Run, Session
from sessions_app.models.turn_numbers import numbered_error, numbered_figures, numbers_of_keys
from sessions_app.prompt.remarks import REMARKS, Remark
from sessions_app.prompt.stage_records import STAGES, StageName, StageRecord, StageStatus
from sessions_app.wording import remarks, stages
from sessions_app.wording.refusals import stored_error_texts

MARKS: dict[str, tuple[str, str]] = {
    StageStatus.OK: ("✓", "good"),
    StageStatus.NOTHING: ("·", ""),
    StageStatus.NOTICED: ("!", "warn"),
    StageStatus.REPAIRED: ("↻", "warn"),
    StageStatus.FALLBACK: ("↩", "warn"),
    StageStatus.BLOCKED: ("✕", "bad"),
    StageStatus.FAILED: ("✕", "bad"),
}
"""Status → its mark and the CSS class of its colour."""

MESSAGE_LENGTH = 90
"""Characters of a message that a list shows."""

LEAST_WIDTH = 0.5
"""Percent: a stage that took next to nothing is seen."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage on the page. `start` and `width` are percent of our time: that of all stages but the call."""

    record: StageRecord
    number: int
    start: float
    width: float
    title: str
    status: str
    meaning: str
    mark: str
    tone: str
    came_in: str
    came_out: str
    details: tuple[str, ...]

    @property
    def ms(self) -> float:
        return self.record.ms

    @property
    def is_call(self) -> bool:
        return self.record.name == StageName.SEND

    @property
    def is_before_call(self) -> bool:
        return self.record.name not in (StageName.SEND, StageName.ACCOUNT, StageName.CONTINUE)


def stages_of(
    stored: Any, session_pk: int, added: Mapping[str, tuple[str, ...]] | None = None
) -> list[Stage]:
    """In the order they ran; `added` are lines by stage name that the records do not hold."""
    records = [_numbered(session_pk, record) for record in STAGES.validate_python(stored or ())]
    numbers = numbers_of_keys(session_pk, (one.turn for record in records for one in record.remarks))
    found = []
    for number, (record, span) in enumerate(zip(records, _spans(records), strict=True), 1):
        mark, tone = MARKS.get(record.outcome, ("?", ""))
        came_in, came_out = stages.input_and_output(record)
        stage = Stage(
            record,
            number,
            *span,
            title=visible(stages.title(record.name)),
            status=visible(record.outcome),
            meaning=visible(stages.meaning(record.outcome)),
            mark=mark,
            tone=tone,
            came_in=visible(came_in),
            came_out=visible(came_out),
            details=tuple(
                map(visible, (*stages.further_remarks(record, numbers), *(added or {}).get(record.name, ())))
            ),
        )
        found.append(stage)
    return found


def _spans(records: Sequence[StageRecord]) -> Iterator[tuple[float, float]]:
    """Where each begins in our time and how long it took, both in percent."""
    times = [0.0 if record.name == StageName.SEND else record.ms for record in records]
    total, passed = sum(times) or 1.0, 0.0
    for ms in times:
        width = max(100 * ms / total, LEAST_WIDTH)
        yield round(min(100 * passed / total, 100 - width), 2), round(width, 2)
        passed += ms


def _numbered(session_pk: int, record: StageRecord) -> StageRecord:
    """A stage that refused has one remark; earlier versions kept the key of a turn in it."""
    if not (record.is_blocked and record.remarks and record.remarks[0].turn):
        return record
    kept = record.remarks[0].model_dump(exclude={"code", "refused"})
    shown = Remark(code=record.remarks[0].code, refused=numbered_figures(session_pk, kept))
    return record.model_copy(update={"remarks": (shown,)})


@dataclass(frozen=True, slots=True)
class ShownRemark:
    """`number` is that of the turn it is about, 0 if there is none."""

    remark: Remark
    number: int = 0

    @property
    def label(self) -> str:
        return visible(remarks.label(self.remark))

    @property
    def sentence(self) -> str:
        return visible(remarks.sentence_at(self.remark, self.number))

    @property
    def reason(self) -> str:
        """The sentence without the turn it is about."""
        return visible(remarks.sentence(self.remark))


def notes_of(exchange: Exchange) -> tuple[ShownRemark, ...]:
    notes = REMARKS.validate_python(exchange.notes)
    numbers = numbers_of_keys(exchange.session_id, (note.turn for note in notes))
    return tuple(ShownRemark(note, numbers.get(note.turn, 0)) for note in notes)


@dataclass(frozen=True, slots=True)
class RemarkGroup:
    """Remarks that say the same of several turns, or one remark."""

    remarks: tuple[ShownRemark, ...]

    @property
    def label(self) -> str:
        return self.remarks[0].label

    @property
    def sentence(self) -> str:
        first = self.remarks[0]
        if len(self.remarks) == 1:
            return first.sentence
        numbers = sorted({one.number for one in self.remarks})
        return visible(remarks.sentence_over(first.remark, numbers))


def grouped(notes: Iterable[ShownRemark]) -> tuple[RemarkGroup, ...]:
    """In the order of their first remarks; what is of no turn with a number stands alone."""
    found: dict[Any, list[ShownRemark]] = defaultdict(list)
    for index, note in enumerate(notes):
        found[(note.label, note.reason) if note.number else index].append(note)
    return tuple(RemarkGroup(tuple(group)) for group in found.values())


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """`at` is when the run ended, about when the request would have been sent."""

    run: Run
    message: str
    at: datetime

    @property
    def stages(self) -> list[Stage]:
        return stages_of(self.run.stages, self.run.session_id)

    @property
    def reason(self) -> str:
        """The run's error, else what the stage that refused it left."""
        error = visible(self._texts[0])
        return error or next((stage.came_out for stage in self.stages if stage.record.is_blocked), "")

    @property
    def hint(self) -> str:
        return visible(self._texts[1])

    @property
    def _texts(self) -> tuple[str, str]:
        return stored_error_texts(numbered_error(self.run))


def refused_runs(session: Session) -> QuerySet[Run]:
    """A run keeps stage records of its own only when its request was refused: it has no exchange."""
    return Run.objects.filter(session=session).exclude(stages=[])


def refusals_of(session: Session) -> list[RefusedRun]:
    """All of a session, newest first: one query."""
    rows = refused_runs(session).annotate(message=Left(F("trigger__text"), MESSAGE_LENGTH))
    return [refusal_of(run, getattr(run, "message", "") or "") for run in rows.order_by("-started_at")]


def refusal_of(run: Run, message: str) -> RefusedRun:
    return RefusedRun(run, visible(message), run.ended_at or run.started_at)
