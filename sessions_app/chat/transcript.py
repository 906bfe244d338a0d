"""The transcript: the turns of the branch in view, gathered into runs as a person reads them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sessions_app.chat.account import Account
from sessions_app.chat.ending import Ending
from sessions_app.chat.steps import Step, is_model, steps_of
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.models.branches import Choice, choices_of
from sessions_app.runs.showing import ShownFile, files_in

BODIES = ("manifest", "notes", "usage", "stages", "ledger", "break_line")
"""Columns of an exchange that can be large and that the transcript does not show."""

WINDOW = 60
"""Turns that a page shows at once; older ones come on request."""

MARGIN = 20
"""Turns above one that was asked for: enough for the message that it answers, nearly always."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run on the page: the person's text, the steps, how it ended, what it cost.

    What stands in for older turns has no run of its own.
    """

    run: Run | None
    task: Turn | None
    choice: Choice | None
    """The place of `task` among the wordings of the same message."""
    text: str
    steps: tuple[Step, ...]
    source: str
    """The answer as Markdown, for copying."""
    exchanges: tuple[Exchange, ...]
    ending: Ending | None
    files: tuple[ShownFile, ...] = ()
    """What the person attached."""

    @property
    def last_turn(self) -> Turn | None:
        """The turn that this run ends with so far: where a fork is cut."""
        return self.steps[-1].turn if self.steps else self.task

    @property
    def answer(self) -> Turn | None:
        """The final answer, which a person may correct."""
        last = self.steps[-1].turn if self.steps else None
        return last if last is not None and last.kind == Turn.Kind.MODEL_RESPONSE else None

    @property
    def is_own(self) -> bool:
        """True when no person wrote the message: the session went on by itself."""
        author = self.task.run if self.task else None
        return author is not None and author.continuations > 0

    @property
    def is_active(self) -> bool:
        return self.run is not None and self.run.is_active

    @property
    def last_exchange(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None

    @property
    def account(self) -> Account | None:
        return Account.of(self.exchanges)


@dataclass(frozen=True, slots=True)
class Transcript:
    runs: tuple[RunView, ...]
    earlier: Turn | None
    """The first turn shown when older ones exist: what is before it can be asked for."""

    @classmethod
    def ending_at(cls, head: Turn | None, at: Turn | None = None) -> "Transcript":
        """The last WINDOW turns up to `head`, from a message on; a longer run is shown whole.

        `at` is a turn of the same branch that has to be among them.
        """
        floor = max(0, min(head.depth + 1 - WINDOW, at.depth - MARGIN if at else head.depth)) if head else 0
        turns = _from_message(Turn.objects.branch(head.pk if head else None, floor))
        wanted = at or head
        if head and floor and wanted not in turns:
            turns = _from_message(Turn.objects.branch(head.pk))
        return cls(_views(turns), turns[0] if turns and turns[0].depth else None)

    @classmethod
    def whole(cls, head: Turn | None) -> "Transcript":
        """The branch from its first message."""
        return cls(_views(_from_message(Turn.objects.branch(head.pk if head else None))), None)


def view_run(session: Session, run: Run) -> RunView:
    """One run as its fragment shows it. Answers from the rows that the run itself wrote."""
    followers = run.turns.exclude(kind=Turn.Kind.USER_TASK).filter(origin=None).select_related("content")
    turns = list(followers.order_by("depth"))
    exchanges = _exchanges([run.pk]).get(run.pk, ())
    choices = choices_of([*filter(None, [run.trigger]), *turns])
    files = files_in([*filter(None, [run.trigger]), *turns])
    return _view(run, run.trigger, turns, exchanges, choices, files=files)


def _is_message(turn: Turn) -> bool:
    return turn.kind in (Turn.Kind.USER_TASK, Turn.Kind.COMPRESSED_HISTORY)


def _from_message(turns: list[Turn]) -> list[Turn]:
    starts = (index for index, turn in enumerate(turns) if _is_message(turn))
    first = next(starts, None)
    return [] if first is None else turns[first:]


def _views(turns: Sequence[Turn]) -> tuple[RunView, ...]:
    groups = _groups(turns)
    latest = _latest_runs([task.pk for task, _ in groups])
    owners = [_owner(task, followers, latest) for task, followers in groups]
    exchanges = _exchanges([run.pk for run in owners if run])
    choices, files = choices_of(turns), files_in(turns)
    return tuple(
        _view(run, task, followers, exchanges.get(run.pk, ()) if run else (), choices, files=files)
        for run, (task, followers) in zip(owners, groups, strict=True)
    )


def _groups(turns: Sequence[Turn]) -> list[tuple[Turn, list[Turn]]]:
    starts = [index for index, turn in enumerate(turns) if _is_message(turn)]
    return [(turns[start], list(turns[start + 1 : end])) for start, end in pairwise([*starts, len(turns)])]


def _owner(task: Turn, followers: Sequence[Turn], latest: dict[int, Run]) -> Run | None:
    """A message may have been answered several times: the branch shows one answer, or the newest attempt."""
    return followers[-1].run if followers else latest.get(task.pk, task.run)


def _latest_runs(task_ids: Iterable[int]) -> dict[int, Run]:
    runs = Run.objects.filter(trigger__in=list(task_ids)).order_by("pk")
    return {run.trigger_id: run for run in runs if run.trigger_id}


def _exchanges(run_ids: Iterable[int]) -> dict[int, tuple[Exchange, ...]]:
    found: dict[int, tuple[Exchange, ...]] = {}
    # Manifests are large and the transcript shows none of them.
    for exchange in Exchange.objects.filter(run__in=list(run_ids)).defer(*BODIES):
        found[exchange.run_id] = (*found.get(exchange.run_id, ()), exchange)
    return found


def _view(
    run: Run | None,
    task: Turn | None,
    followers: Sequence[Turn],
    exchanges: tuple[Exchange, ...],
    choices: Mapping[int, Choice],
    *,
    files: Mapping[int, tuple[ShownFile, ...]],
) -> RunView:
    # The browser replays an active run from its first event; rows shown as well would double it.
    shown = [] if run and run.is_active else followers
    times = {one.pk: one.thought_ms for one in exchanges if one.thought_ms is not None}
    return RunView(
        run=run,
        task=task,
        choice=choices.get(task.pk) if task else None,
        text=task.text if task else "",
        steps=steps_of(shown, choices, files, times),
        source="\n\n".join(turn.text for turn in shown if turn.text and is_model(turn)),
        exchanges=exchanges,
        ending=Ending.of(run, exchanges) if run else None,
        files=files.get(task.pk, ()) if task else (),
    )
