"""The turns of a branch grouped into runs, as the chat shows them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from sessions_app.chat.answer_cost import AnswerUsage
from sessions_app.chat.open_files import OpenedFile, opened_with
from sessions_app.chat.open_rounds import CallStates, Resumption, call_states, resumption_of
from sessions_app.chat.run_ending import Ending
from sessions_app.chat.steps import LoneThoughts, Step, is_model, steps_of
from sessions_app.chat.turn_files import ShownFile, files_in
from sessions_app.events import CARRY_ON
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.models.branches import BranchChoice, choices_of
from sessions_app.runs.reply_progress import thinking_words
from sessions_app.wording import resends
from sessions_app.wording.activity import ACTIVITIES, activity

DEFERRED = ("manifest", "notes", "usage", "stages", "ledger", "break_line")
"""Large columns of an exchange that the transcript does not show."""

WINDOW = 60
"""Turns shown at once; older ones are loaded on request."""

FOLDED_LINES, LINE_LENGTH = 12, 72
"""Lines of a message that are shown of a longer one, and the characters of one of them."""

MARGIN = 20
"""Turns shown before a requested one; usually includes the message that it answers."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run on the page: message, steps, ending. `run` is None for a summary of older turns."""

    run: Run | None
    task: Turn | None
    """None where the model spoke first, as in a history from elsewhere."""
    choice: BranchChoice | None
    """The position of `task` among the versions of the same message."""
    text: str
    steps: tuple[Step, ...]
    markdown: str
    """The answer, for copying."""
    exchanges: tuple[Exchange, ...]
    ending: Ending | None
    last_turn: Turn | None
    """The last turn of the run so far, where a fork ends."""
    files: tuple[ShownFile, ...] = ()
    opened: tuple[OpenedFile, ...] = ()
    """Files of the workspace that came with the message."""
    used_tools: bool = False
    resumption: Resumption | None = None
    """Where to go on without running tools again."""
    activity: str = ""
    """What the model did before it answered, on one line; empty if it only answered."""
    lone_thoughts: LoneThoughts | None = None
    """What it thought last, if no answer came of it."""

    @property
    def answer(self) -> Turn | None:
        """The final answer, which a person may correct."""
        last = self.steps[-1].turn if self.steps else None
        is_answer = last is not None and last.kind == Turn.Kind.MODEL_RESPONSE and not last.closing
        return last if is_answer else None

    @property
    def is_continuation(self) -> bool:
        """Whether Pipeweb wrote the message because the session continued automatically."""
        author = self.task.run if self.task else None
        return author is not None and author.continuations > 0

    @property
    def is_long(self) -> bool:
        """Whether the message fills more than FOLDED_LINES on a wide page."""
        lines = self.text.splitlines()
        return sum(max(1, ceil(len(line) / LINE_LENGTH)) for line in lines) > FOLDED_LINES

    @property
    def goes_on(self) -> bool:
        """Whether this is the rest of the answer above it."""
        return self.is_continuation or self.text == CARRY_ON

    @property
    def carry_on(self) -> str:
        return CARRY_ON

    @property
    def is_active(self) -> bool:
        return self.run is not None and self.run.is_active

    @property
    def last_exchange(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of requests that were sent again; of a program's it is not known how."""
        ours = (exchange for exchange in self.exchanges[:-1] if not exchange.is_captured)
        kinds = dict.fromkeys(str(exchange.error.get("kind")) for exchange in ours)
        return tuple(filter(None, map(resends.note, kinds)))

    @property
    def account(self) -> AnswerUsage | None:
        return AnswerUsage.of(self.exchanges)


@dataclass(frozen=True, slots=True)
class Transcript:
    runs: tuple[RunView, ...]
    earlier: Turn | None
    """The first turn shown if older ones exist."""

    @classmethod
    def ending_at(cls, head: Turn | None, at: Turn | None = None) -> "Transcript":
        """The last WINDOW turns up to `head`, from a message or the first turn on; a longer run is complete.

        `at` is a turn of the branch that must be included.
        """
        floor = max(0, min(head.depth + 1 - WINDOW, at.depth - MARGIN if at else head.depth)) if head else 0
        turns = _from_message(Turn.objects.branch(head.pk if head else None, floor))
        wanted = at or head
        if head and floor and wanted not in turns:
            turns = _from_message(Turn.objects.branch(head.pk))
        return cls(_views(turns), turns[0] if turns and turns[0].depth else None)

    @classmethod
    def full(cls, head: Turn | None) -> "Transcript":
        """The complete branch."""
        return cls(_views(_from_message(Turn.objects.branch(head.pk if head else None))), None)


def view_run(session: Session, run: Run) -> RunView:
    """One run with the turns that it wrote itself; a resumed one with those that it goes on from."""
    if run.is_resumed:
        own = run.turns.filter(origin=None).select_related("parent").order_by("-depth")
        return Transcript.ending_at(own.first() or run.trigger).runs[-1]
    followers = run.turns.exclude(kind=Turn.Kind.USER_TASK).filter(origin=None).select_related("content")
    turns = list(followers.order_by("depth"))
    exchanges = _exchanges([run.pk]).get(run.pk, ())
    choices = choices_of([*filter(None, [run.trigger]), *turns])
    files = files_in([*filter(None, [run.trigger]), *turns])
    opened = opened_with([*filter(None, [run.trigger]), *turns])
    states = call_states(turns)
    return _view(run, run.trigger, turns, exchanges, choices, files=files, opened=opened, states=states)


def _is_message(turn: Turn) -> bool:
    return turn.kind in (Turn.Kind.USER_TASK, Turn.Kind.COMPRESSED_HISTORY)


def _from_message(turns: list[Turn]) -> list[Turn]:
    starts = (index for index, turn in enumerate(turns) if _is_message(turn) or not turn.depth)
    first = next(starts, None)
    return [] if first is None else turns[first:]


def _views(turns: Sequence[Turn]) -> tuple[RunView, ...]:
    groups = list(_groups(turns))
    ends = [[*filter(None, [task]), *followers][-1] for task, followers in groups]
    latest = _latest_runs([last.pk for last in ends])
    owners = [_owner(last, latest) for last in ends]
    runs = [_run_ids(owner, followers) for owner, (_, followers) in zip(owners, groups, strict=True)]
    exchanges = _exchanges({pk for each in runs for pk in each})
    choices, files, states = choices_of(turns), files_in(turns), call_states(turns)
    opened = opened_with(turns)
    return tuple(
        _view(
            run,
            task,
            followers,
            tuple(one for pk in pks for one in exchanges.get(pk, ())),
            choices,
            files=files,
            opened=opened,
            states=states,
        )
        for run, pks, (task, followers) in zip(owners, runs, groups, strict=True)
    )


def _groups(turns: Sequence[Turn]) -> Iterator[tuple[Turn | None, Sequence[Turn]]]:
    """Each message with what followed it; before the first one, what the model said unasked."""
    starts = [index for index, turn in enumerate(turns) if _is_message(turn)]
    unasked = turns[: starts[0]] if starts else turns
    if any(map(is_model, unasked)):
        yield None, unasked
    for start, end in pairwise([*starts, len(turns)]):
        yield turns[start], turns[start + 1 : end]


def _owner(last: Turn, latest: dict[int, Run]) -> Run | None:
    """The newest run for the last turn of the branch, or else the one that wrote it."""
    return latest.get(last.pk, last.run)


def _run_ids(owner: Run | None, followers: Sequence[Turn]) -> list[int]:
    """The keys of the runs that the answer took, oldest first: several where one was resumed."""
    if owner is None:
        return []
    return sorted({owner.pk, *(turn.run_id for turn in followers if turn.run_id)})


def _latest_runs(trigger_ids: Iterable[int]) -> dict[int, Run]:
    runs = Run.objects.filter(trigger__in=list(trigger_ids)).order_by("pk")
    return {run.trigger_id: run for run in runs if run.trigger_id}


def _exchanges(run_ids: Iterable[int]) -> dict[int, tuple[Exchange, ...]]:
    found: dict[int, tuple[Exchange, ...]] = {}
    for exchange in Exchange.objects.filter(run__in=list(run_ids)).defer(*DEFERRED):
        found[exchange.run_id] = (*found.get(exchange.run_id, ()), exchange)
    return found


def _thinking_times(exchanges: Iterable[Exchange]) -> dict[int, float]:
    """Milliseconds by exchange; those of the hops before are of the same answer."""
    times: dict[int, float] = {}
    for one in exchanges:
        before = times.get(one.continues_id or 0)
        if one.thought_ms is not None or before is not None:
            times[one.pk] = (one.thought_ms or 0.0) + (before or 0.0)
    return times


def _view(
    run: Run | None,
    task: Turn | None,
    followers: Sequence[Turn],
    exchanges: tuple[Exchange, ...],
    choices: Mapping[int, BranchChoice],
    *,
    files: Mapping[int, tuple[ShownFile, ...]],
    opened: Mapping[int, tuple[OpenedFile, ...]],
    states: CallStates,
) -> RunView:
    # The browser replays the events of an active run; its rows would show twice.
    shown = _before(run, followers) if run and run.is_active else followers
    times = _thinking_times(exchanges)
    steps = steps_of(shown, choices, files, times, states)
    has_ended = run is not None and not run.is_active
    lone = LoneThoughts.of(exchanges[-1], followers, times) if has_ended and exchanges else None
    return RunView(
        run=run,
        task=task,
        choice=choices.get(task.pk) if task else None,
        text=task.whole_text if task else "",
        steps=steps,
        activity=_activity(steps, lone),
        lone_thoughts=lone,
        markdown="\n\n".join(
            turn.whole_text for turn in shown if turn.text and is_model(turn) and not turn.closing
        ),
        exchanges=exchanges,
        ending=Ending.of(run, exchanges, is_cut=bool(shown) and shown[-1].cut) if run else None,
        last_turn=shown[-1] if shown else task,
        files=files.get(task.pk, ()) if task else (),
        opened=opened.get(task.pk, ()) if task else (),
        used_tools=any(turn.kind == Turn.Kind.TOOL_RESPONSE for turn in shown),
        resumption=resumption_of(run, followers, states),
    )


def _activity(steps: Sequence[Step], lone: LoneThoughts | None) -> str:
    tools = [card for step in steps for card in step.tools]
    thinking: list[Step | LoneThoughts] = [*(step for step in steps if step.thoughts), *filter(None, [lone])]
    spent = [one.thought_ms for one in thinking if one.thought_ms is not None]
    words = thinking_words(sum(spent)) if spent else ACTIVITIES["thought"]
    return activity(words if thinking else "", len(tools), sum(card.failed for card in tools))


def _before(run: Run, followers: Sequence[Turn]) -> Sequence[Turn]:
    """The turns that stood there before this run asked the model: none unless it was resumed."""
    own = (index for index, turn in enumerate(followers) if is_model(turn) and turn.run_id == run.pk)
    return followers[: next(own, len(followers))]
