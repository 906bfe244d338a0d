"""Whether a session continues after a run (seed 4): the decision, its record and its notifications."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from sessions_app.context.model_lookup import facts_of
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import LimitReached
from sessions_app.models import Exchange, Notification, QueuedMessage, Run, Todo
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.stage_records import (
    ContinueCase,
    ContinueFigures,
    StageName,
    StageRecord,
    StageStatus,
)
from sessions_app.runs.limits import notify_limit, reached_limit, usage_of
from sessions_app.runs.start import start_continuation, start_next

RunEnd = Literal["answered", "cut", "stopped", "failed", "interrupted"]
ContinueRule = Literal["message", "cut", "todos"]


@dataclass(frozen=True, slots=True)
class ContinuationState:
    """The input of `decide`.

    `continuations` counts automatic runs since the person's last message, at most `max_continuations` (None:
    unlimited). `limit` is the reached limit, if any. `open_todos` are titles.
    """

    ended: RunEnd
    waiting: int = 0
    continue_cut: bool = True
    continue_todos: bool = False
    open_todos: tuple[str, ...] = ()
    continuations: int = 0
    max_continuations: int | None = 5
    limit: LimitReached | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """The next run starts, for a queued message or automatically."""

    rule: ContinueRule


@dataclass(frozen=True, slots=True)
class End:
    """No run starts. `blocked` is the rule that applied but was stopped by `limit`."""

    blocked: ContinueRule | None = None
    limit: LimitReached | None = None


def decide(state: ContinuationState) -> Continue | End:
    """Decides by priority: a stop or a failure, a queued message, a cut answer, open todos."""
    if state.ended not in ("answered", "cut"):
        return End()
    if state.waiting:
        return Continue("message")
    if state.ended == "cut" and state.continue_cut:
        return _automatic(state, "cut")
    if state.continue_todos and state.open_todos:
        return _automatic(state, "todos")
    return End()


def figures_of(state: ContinuationState, decision: Continue | End) -> ContinueFigures:
    """The figures of the stage record."""
    return ContinueFigures(
        case=_case(state, decision),
        ended=state.ended,
        waiting=state.waiting,
        todos=len(state.open_todos),
        continuation=state.continuations + 1,
        most=state.max_continuations,
    )


def _case(state: ContinuationState, decision: Continue | End) -> ContinueCase:
    if isinstance(decision, Continue):
        return decision.rule
    if decision.blocked is not None:
        return "held_cut" if decision.blocked == "cut" else "held_todos"
    unanswered: dict[RunEnd, ContinueCase] = {
        "stopped": "stopped",
        "failed": "failed",
        "interrupted": "interrupted",
    }
    return unanswered.get(state.ended, "nothing")


def _automatic(state: ContinuationState, rule: ContinueRule) -> Continue | End:
    count, most = state.continuations, state.max_continuations
    limit = state.limit
    if limit is None and most is not None and count >= most:
        limit = LimitReached(RefusalCode.MAX_CONTINUATIONS, spent=count, limit=most)
    return Continue(rule) if limit is None else End(blocked=rule, limit=limit)


CONTEXT_WARNING_SHARE = 0.7
"""Share of the model's input window at which the session gets a notification."""

TODOS_SHOWN = 20

LAST_EXCHANGE_FIELDS = ("number", "stages", "model", "served_model", "prompt_tokens", "output_tokens")
"""Columns read of a run's last exchange."""

_KINDS: dict[ContinueRule, Notification.Kind] = {
    "cut": Notification.Kind.MAX_TOKENS_TRUNCATED,
    "todos": Notification.Kind.TODO_INCOMPLETE,
}
CUT_TEXT = "An answer reached the output limit."
REQUESTS: dict[ContinueRule, str] = {
    "cut": "Go on exactly where it stopped, without repeating anything.",
    "todos": "Go on until each of them is done, or say what keeps you from it.",
}
"""What the next run is asked for; its turn says so, no notification does."""


@dataclass(frozen=True, slots=True)
class Following:
    """The run that follows another; `text` is its trigger, empty for the oldest queued message."""

    text: str = ""


def continue_session(run: Run, status: Run.Status, outcome: str, process: str) -> Run | None:
    """Decides, records the decision in the last exchange, and starts the next run, if any.

    `status` and `outcome` are those of the ended `run`. Two queries when nothing follows. Also None when
    another run was started first.
    """
    last, waiting = _last_exchange(run)
    following = plan_following(run, status, outcome, last, waiting)
    if last is not None:
        last.save(update_fields=["stages"])
    return start_following(run, following, process) if following else None


def plan_following(
    run: Run, status: Run.Status, outcome: str, last: Exchange | None, waiting: int
) -> Following | None:
    """Decides, and adds the decision to the stages of the last exchange, which is not saved.

    `waiting` is the number of queued messages. No query in most cases.
    """
    began = perf_counter()
    state = _state(run, _run_end(status, outcome), waiting)
    decision = decide(state)
    noted = _notify(run, state, decision)
    if last is not None:
        stage = _stage(state, decision, [*noted, *_context_warning(run, last)], began)
        last.stages = [*last.stages, stage.stored()]
    if isinstance(decision, End):
        return None
    if decision.rule == "message":
        return Following()
    lines = (_heading(state), *(one.line for one in noted), REQUESTS[decision.rule])
    return Following("\n\n".join(lines))


def start_following(run: Run, following: Following, process: str) -> Run | None:
    """None when another run was started first."""
    if not following.text:
        return start_next(run.session_id, process)
    return start_continuation(run, following.text, process)


def counts_usage(run: Run, outcome: Outcome) -> bool:
    """Whether `plan_following` may read what the run has used, from the rows of its exchanges."""
    options = run.session.options
    return options.continue_todos or (options.continue_cut and outcome is Outcome.MAX_TOKENS)


def _run_end(status: Run.Status, outcome: str) -> RunEnd:
    if status == Run.Status.COMPLETED:
        return "cut" if outcome == Outcome.MAX_TOKENS else "answered"
    unanswered: dict[str, RunEnd] = {"stopped": "stopped", "failed": "failed"}
    return unanswered.get(status.value, "interrupted")


def _state(run: Run, ended: RunEnd, waiting: int) -> ContinuationState:
    """Queries only for the rules that could apply."""
    options = run.session.options
    todos = _open_todos(run) if options.continue_todos and ended in ("answered", "cut") else ()
    may_continue = (ended == "cut" and options.continue_cut) or bool(todos)
    return ContinuationState(
        ended=ended,
        waiting=waiting,
        continue_cut=options.continue_cut,
        continue_todos=options.continue_todos,
        open_todos=todos,
        continuations=run.continuations,
        max_continuations=options.max_continuations,
        limit=reached_limit(usage_of(run), options) if may_continue and not waiting else None,
    )


def _open_todos(run: Run) -> tuple[str, ...]:
    open_todos = Todo.objects.filter(session_id=run.session_id, done=False)
    return tuple(open_todos.values_list("title", flat=True))


def _notify(run: Run, state: ContinuationState, decision: Continue | End) -> list[Notification]:
    """Stores the notifications of the decision."""
    if isinstance(decision, Continue):
        return [] if decision.rule == "message" else [_notify_rule(run, state, decision.rule, "unseen")]
    if decision.blocked is None or decision.limit is None:
        return []
    blocked = _notify_rule(run, state, decision.blocked, Notification.Status.BLOCKED)
    return [blocked, notify_limit(run, decision.limit)]


def _notify_rule(run: Run, state: ContinuationState, rule: ContinueRule, status: str) -> Notification:
    text = CUT_TEXT if rule == "cut" else todo_text(state.open_todos)
    return Notification.objects.add(run.session_id, _KINDS[rule], text, source=str(run.public), status=status)


def todo_text(titles: Sequence[str]) -> str:
    shown = [f"- {title}" for title in titles[:TODOS_SHOWN]]
    more = [f"- and {len(titles) - TODOS_SHOWN} more"] if len(titles) > TODOS_SHOWN else []
    lead = "1 todo is not done:" if len(titles) == 1 else f"{len(titles)} todos are not done:"
    return "\n".join([lead, *shown, *more])


def _heading(state: ContinuationState) -> str:
    """First line of the turn: states that no person wrote it."""
    most = "" if state.max_continuations is None else f" of at most {state.max_continuations}"
    return f"Written by Pipeweb, not by a person (continuation {state.continuations + 1}{most})."


def _last_exchange(run: Run) -> tuple[Exchange | None, int]:
    """The run's last exchange and the number of queued messages: one query."""
    queued = QueuedMessage.objects.filter(session=OuterRef("session")).order_by().values("session")
    waiting = Coalesce(Subquery(queued.values(count=Count("pk"))), 0)
    rows = Exchange.objects.filter(run=run).annotate(waiting=waiting).order_by("-number")
    found: Any = rows.only(*LAST_EXCHANGE_FIELDS).first()
    if found is None:
        return None, QueuedMessage.objects.filter(session_id=run.session_id).count()
    return found, found.waiting


def _stage(
    state: ContinuationState, decision: Continue | End, noted: Sequence[Notification], began: float
) -> StageRecord:
    if isinstance(decision, Continue):
        status = StageStatus.OK
    else:
        status = StageStatus.BLOCKED if decision.blocked else StageStatus.NOTHING
    return StageRecord(
        name=StageName.CONTINUE,
        status=status,
        figures=figures_of(state, decision),
        remarks=tuple(one.remark for one in noted),
        ms=round((perf_counter() - began) * 1000, 3),
    )


def _context_warning(run: Run, exchange: Exchange) -> list[Notification]:
    """A notification when the threshold is crossed, not at every answer beyond it."""
    limit = facts_of(exchange.model, exchange.served_model).input_limit
    used = (exchange.prompt_tokens or 0) + (exchange.output_tokens or 0)
    if used < limit * CONTEXT_WARNING_SHARE:
        return []
    earlier = Exchange.objects.filter(session_id=run.session_id, number__lt=exchange.number)
    before = (
        earlier.exclude(prompt_tokens=None)
        .exclude(run=run)
        .order_by("-number")
        .only("prompt_tokens", "output_tokens")
        .first()
    )
    if (
        before is not None
        and (before.prompt_tokens or 0) + (before.output_tokens or 0) >= limit * CONTEXT_WARNING_SHARE
    ):
        return []
    text = f"{used:,} of {limit:,} tokens of the model's window were used."
    return [Notification.objects.add(run.session_id, Notification.Kind.CONTEXT_THRESHOLD, text)]
