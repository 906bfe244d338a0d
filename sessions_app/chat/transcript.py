"""The transcript: the turns of the branch in view, gathered into runs as a person reads them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import orjson
from django.utils.safestring import SafeString, mark_safe

from sessions_app.chat.ending import Ending
from sessions_app.chat.ribbon import Ribbon
from sessions_app.markup import render
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.turns import PartView

WINDOW = 60
"""Turns that a page shows at once; older ones come on request."""

BRIEF_LENGTH = 200
CACHE_WORDS = {
    VerdictCode.HIT: "cache hit",
    VerdictCode.PARTIAL: "partly cached",
    VerdictCode.FIRST: "first request",
}


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One call and its answer, both as readable JSON; `response` is empty while there is none."""

    name: str
    brief: str
    """The arguments on one line."""
    args: str
    response: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Step:
    """What one exchange of a run brought: thoughts, text, calls with their answers."""

    thoughts: SafeString
    text: SafeString
    cards: tuple[ToolCard, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run on the page: the person's text, the steps, how it ended, what it cost."""

    run: Run
    text: str
    steps: tuple[Step, ...]
    source: str
    """The answer as Markdown, for copying."""
    exchanges: tuple[Exchange, ...]
    ending: Ending | None

    @property
    def ribbon(self) -> Ribbon | None:
        return Ribbon.of(self.exchanges[-1]) if self.exchanges else None

    @property
    def last_exchange(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None

    @property
    def cache_words(self) -> str:
        """Whether the last request found its prefix cached; empty while nobody knows."""
        last = self.last_exchange
        if last is None or last.verdict in ("", VerdictCode.UNKNOWN):
            return ""
        return next((words for code, words in CACHE_WORDS.items() if code == last.verdict), "not cached")

    @property
    def prompt_tokens(self) -> int:
        return sum(exchange.prompt_tokens or 0 for exchange in self.exchanges)

    @property
    def cached_tokens(self) -> int:
        return sum(exchange.cached_tokens or 0 for exchange in self.exchanges)

    @property
    def output_tokens(self) -> int:
        return sum(
            (exchange.output_tokens or 0) + (exchange.thought_tokens or 0) for exchange in self.exchanges
        )


@dataclass(frozen=True, slots=True)
class Transcript:
    runs: tuple[RunView, ...]
    earlier: Turn | None
    """The first turn shown when older ones exist: what is before it can be asked for."""

    @classmethod
    def ending_at(cls, head: Turn | None) -> "Transcript":
        """The last WINDOW turns up to `head`, from a user task on; a longer run is shown whole."""
        floor = max(0, head.depth + 1 - WINDOW) if head else 0
        turns = _from_user_task(Turn.objects.branch(head.pk if head else None, floor))
        if head and floor and not turns:
            turns = _from_user_task(Turn.objects.branch(head.pk))
        return cls(_views(turns), turns[0] if turns and turns[0].depth else None)


def view_run(session: Session, run: Run) -> RunView:
    """One run as its fragment shows it. Answers from the rows that the run itself wrote."""
    followers = run.turns.exclude(kind=Turn.Kind.USER_TASK).select_related("content").order_by("depth")
    exchanges = _exchanges([run.pk]).get(run.pk, ())
    return _view(run, run.trigger.text if run.trigger else "", list(followers), exchanges)


def _from_user_task(turns: list[Turn]) -> list[Turn]:
    starts = (index for index, turn in enumerate(turns) if turn.kind == Turn.Kind.USER_TASK)
    first = next(starts, None)
    return [] if first is None else turns[first:]


def _views(turns: Sequence[Turn]) -> tuple[RunView, ...]:
    groups = _groups(turns)
    latest = _latest_runs([task.pk for task, _ in groups])
    owners = [_owner(task, followers, latest) for task, followers in groups]
    exchanges = _exchanges([run.pk for run in owners if run])
    return tuple(
        _view(run, task.text, followers, exchanges.get(run.pk, ()))
        for run, (task, followers) in zip(owners, groups, strict=True)
        if run is not None
    )


def _groups(turns: Sequence[Turn]) -> list[tuple[Turn, list[Turn]]]:
    starts = [index for index, turn in enumerate(turns) if turn.kind == Turn.Kind.USER_TASK]
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
    for exchange in Exchange.objects.filter(run__in=list(run_ids)).defer("manifest", "notes", "usage"):
        found[exchange.run_id] = (*found.get(exchange.run_id, ()), exchange)
    return found


def _view(run: Run, text: str, followers: Sequence[Turn], exchanges: tuple[Exchange, ...]) -> RunView:
    # The browser replays an active run from its first event; rows shown as well would double it.
    shown = [] if run.is_active else followers
    return RunView(
        run=run,
        text=text,
        steps=_steps(shown),
        source="\n\n".join(turn.text for turn in shown if turn.text and _is_model(turn)),
        exchanges=exchanges,
        ending=Ending.of(run, exchanges),
    )


def _is_model(turn: Turn) -> bool:
    return turn.kind in (Turn.Kind.MODEL_RESPONSE, Turn.Kind.FUNCTION_CALLING)


def _steps(turns: Sequence[Turn]) -> tuple[Step, ...]:
    answers = {index: turn for index, turn in enumerate(turns) if turn.kind == Turn.Kind.TOOL_RESPONSE}
    return tuple(_step(turn, answers.get(index + 1)) for index, turn in enumerate(turns) if _is_model(turn))


def _step(turn: Turn, answer: Turn | None) -> Step:
    parts = turn.parts
    responses = [part for part in answer.parts if part.response is not None] if answer else []
    calls = [part for part in parts if part.call is not None]
    return Step(
        thoughts=_html(parts, "thought"),
        text=_html(parts, "text"),
        cards=tuple(
            _card(call, responses[index] if index < len(responses) else None)
            for index, call in enumerate(calls)
        ),
    )


def _html(parts: Iterable[PartView], kind: str) -> SafeString:
    text = "".join(part.text for part in parts if part.kind == kind)
    return mark_safe(render(text)) if text else SafeString()  # noqa: S308 - render is the sanitiser


def _card(call: PartView, answer: PartView | None) -> ToolCard:
    asked, answered = call.call or {}, (answer.response or {}) if answer else {}
    response = answered.get("response")
    return ToolCard(
        name=str(asked.get("name", "")),
        brief=orjson.dumps(asked.get("args") or {}).decode()[:BRIEF_LENGTH],
        args=_readable(asked.get("args") or {}),
        response=_readable(response) if answer else "",
        failed=isinstance(response, dict) and "error" in response,
    )


def _readable(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
