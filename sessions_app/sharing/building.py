"""Builds a snapshot of the branch that ends at a turn."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from sessions_app.chat.answer_markdown import told
from sessions_app.chat.open_rounds import CallStates, call_states
from sessions_app.chat.steps import Step as ShownStep
from sessions_app.chat.transcript import RunView, Transcript
from sessions_app.chat.turn_contents import ToolCard
from sessions_app.chat.turn_files import Copies, copies_of
from sessions_app.error_codes import ShareProblem
from sessions_app.errors import NotShareable
from sessions_app.markup.rendering import EMULATOR_REPORT
from sessions_app.models import Attachment, Run, Session, Turn
from sessions_app.models.shared_link import FileToShare
from sessions_app.prompt.citations import Citations
from sessions_app.prompt.media import attachment_key, bytes_of, media_in
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.parts import FileData, holds_media
from sessions_app.sharing import snapshot as shared
from sessions_app.sharing.failures import failure_code
from sessions_app.sharing.snapshot import RUN_ENDINGS, SIZE_LIMIT, Snapshot
from sessions_app.workspace_paths import safe_name

_REPORT = re.compile(rf"^~{{4,}}{EMULATOR_REPORT}\n.*?(?:^~{{4,}}$|\Z)", re.MULTILINE | re.DOTALL)
"""The emulator's account of a request: it names instructions and panels."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file of the branch whose bytes are here; `attachment` holds them, or they are in the turn."""

    turn: Turn
    part: int
    data: FileData
    attachment: Attachment | None

    @property
    def name(self) -> str:
        """Without a path; empty for a file without a name."""
        return safe_name(self.data.name) if self.data.name else ""

    @property
    def size(self) -> int | None:
        return self.attachment.size if self.attachment else self.data.size

    @property
    def url(self) -> str:
        """Where its owner sees it."""
        return reverse("media", args=[self.turn.session.public, self.turn.public, self.part])

    def to_share(self) -> FileToShare:
        content = self.attachment.blob_id if self.attachment else bytes_of(self.data) or b""
        return FileToShare(self.name, self.data.mime, content)


@dataclass(frozen=True, slots=True)
class Branch:
    """The complete runs of a branch, and its files in the order of the page."""

    session: Session
    views: tuple[RunView, ...]
    candidates: tuple[Candidate, ...]
    states: CallStates
    is_cut: bool
    """An answer is being written, which is not part of it."""

    @classmethod
    def ending_at(cls, session: Session, leaf: Turn | None) -> "Branch":
        """Raises NotShareable."""
        views = Transcript.full(leaf).runs
        complete = tuple(view for view in views if not view.is_active)
        if not any(view.steps for view in complete):
            raise NotShareable(ShareProblem.EMPTY)
        turns = [turn for view in complete for turn in _turns(view)]
        holding = [turn for turn in turns if holds_media(turn.wire)]
        copies = copies_of(session, [turn.wire for turn in holding])
        candidates = tuple(found for turn in holding for found in _candidates(turn, copies))
        return cls(session, complete, candidates, call_states(turns), len(complete) < len(views))

    def snapshot(self, *, has_details: bool, chosen: Collection[int]) -> Snapshot:
        """`chosen` are places in `candidates`; others do not count. Raises NotShareable."""
        numbers = {(file.turn.pk, file.part): number for number, file in enumerate(self.chosen_files(chosen))}
        made = _Maker(self, has_details, numbers)
        found = Snapshot(
            title=self.session.shown_title,
            has_details=has_details,
            messages=tuple(made.message(view) for view in self.views),
        )
        if (size := len(found.stored())) > SIZE_LIMIT:
            raise NotShareable(ShareProblem.TOO_LARGE, size=size, limit=SIZE_LIMIT)
        return found

    def chosen_files(self, chosen: Collection[int]) -> list[Candidate]:
        return [file for place, file in enumerate(self.candidates) if place in chosen]


def _turns(view: RunView) -> Iterator[Turn]:
    if view.task:
        yield view.task
    yield from (step.turn for step in view.steps)


def _candidates(turn: Turn, copies: Copies) -> Iterator[Candidate]:
    for part, data in media_in(turn.wire):
        key = attachment_key(data)
        if key in copies or bytes_of(data):
            yield Candidate(turn, part, data, copies.get(key))


@dataclass(frozen=True, slots=True)
class _Maker:
    """`numbers`: key of a turn and index of a part → number of the shared file."""

    branch: Branch
    has_details: bool
    numbers: Mapping[tuple[int, int], int]

    def message(self, view: RunView) -> shared.Message:
        steps = tuple(step for step in map(self._step, view.steps) if _says_something(step))
        return shared.Message(
            author=_author(view),
            text="" if view.goes_on else view.text,
            covers=view.task.covers if view.task else 0,
            files=self._files(view.task),
            withheld=self._withheld([view.task] if view.task else []),
            steps=steps,
            answer_withheld=self._withheld([step.turn for step in view.steps]),
            ending=_ending(view),
            goes_on=view.goes_on,
        )

    def _step(self, step: ShownStep) -> shared.Step:
        turn = step.turn
        markdown, citations = told(turn)
        return shared.Step(
            thoughts=_joined(turn, "thought") if self.has_details else "",
            text=_without_report(markdown),
            calls=tuple(self._calls(step)) if self.has_details else (),
            files=self._files(turn),
            citations=self._citations(citations),
            thought_ms=step.thought_ms if self.has_details and step.thoughts else None,
            edited=turn.edited,
            closing=turn.closing,
            covers=turn.covers if turn.summary else 0,
            beside=step.beside,
        )

    def _citations(self, cited: Citations) -> Citations:
        """What was searched for is a use of a tool; suggestions are for who asked."""
        without = ("suggestions",) if self.has_details else ("suggestions", "queries")
        return cited.model_copy(update={name: Citations.model_fields[name].default for name in without})

    def _calls(self, step: ShownStep) -> Iterator[shared.Call]:
        states = self.branch.states.get(step.turn.pk, {})
        for card in step.cards:
            if card.is_read:
                state = states.get(card.index) if card.index is not None else None
                yield shared.Call(
                    name=card.name,
                    brief=card.brief,
                    args=card.args,
                    response=card.response,
                    state=(state and state.open) or _state(card),
                    is_code=False,
                )

    def _files(self, turn: Turn | None) -> tuple[shared.File, ...]:
        return tuple(
            shared.File(
                number=self.numbers[turn.pk, file.part],
                name=file.name,
                mime=file.data.mime,
                size=file.size,
                is_made=turn.value.kind.is_model,
            )
            for file in self.branch.candidates
            if turn is not None and file.turn.pk == turn.pk and (turn.pk, file.part) in self.numbers
        )

    def _withheld(self, turns: Sequence[Turn]) -> int:
        keys = {turn.pk for turn in turns}
        files = [file for file in self.branch.candidates if file.turn.pk in keys]
        return sum((file.turn.pk, file.part) not in self.numbers for file in files)


def _author(view: RunView) -> shared.Author:
    if view.task and view.task.kind == Turn.Kind.COMPRESSED_HISTORY:
        return "summary"
    return "pipeweb" if view.is_continuation else "person"


def _joined(turn: Turn, kind: str) -> str:
    return _without_report("".join(part.text for part in turn.parts if part.kind == kind))


def _without_report(text: str) -> str:
    return _REPORT.sub("", text) if EMULATOR_REPORT in text else text


def _says_something(step: shared.Step) -> bool:
    return bool(step.thoughts or step.text or step.calls or step.files or step.beside)


def _state(card: ToolCard) -> shared.CallState:
    if card.failed:
        return "failed"
    return "done" if card.response else "none"


def _ending(view: RunView) -> str:
    """A code where the chat shows how the run ended; the provider's own words are left out."""
    if view.run is None or view.ending is None:
        return ""
    if view.run.status == Run.Status.FAILED and (failure := failure_code(view.run.error)):
        return failure.value
    if view.run.status in RUN_ENDINGS:
        return str(view.run.status)
    told = {outcome.value for outcome in Outcome} - {Outcome.COMPLETE, Outcome.CALLS}
    return view.run.outcome if view.run.outcome in told else ""
