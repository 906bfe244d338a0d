"""What follows a run, and what holds it: rows become the values of `spine` and `guards`, decisions rows."""

from collections.abc import Sequence
from decimal import Decimal
from time import perf_counter
from typing import Any

from django.db.models import Count, Min, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from sessions_app.context.capabilities import facts_of
from sessions_app.errors import GuardRail
from sessions_app.models import Exchange, Notification, QueuedMessage, Run, Todo
from sessions_app.prompt.outcomes import Outcome
from sessions_app.runs.guards import Spent, rail_before
from sessions_app.runs.spine import Continue, Ended, Rule, State, Stop, decide
from sessions_app.runs.start import start_continuation, start_next

FILLING_UP = 0.7
"""Share of the model's input window from which a session is told that it is filling up."""

TODOS_SHOWN = 20

LAST = ("number", "stages", "model", "served_model", "prompt_tokens", "output_tokens")
"""What is read of a run's last exchange."""

_KINDS: dict[Rule, Notification.Kind] = {
    "cut": Notification.Kind.MAX_TOKENS_TRUNCATED,
    "todos": Notification.Kind.TODO_INCOMPLETE,
}
_GO_ON = (
    "The last answer reached the output limit. Go on exactly where it stopped, without repeating anything."
)


def hold(run: Run, step: int) -> None:
    """Before the calls of exchange `step` are run: one query. Raises GuardRail, and says so once.

    A tool whose answer nobody may read is better not run: its calls are closed with errors.
    """
    rail = rail_before(spent_in(run, rounds=step - 1), run.session.options)
    if rail is not None:
        _note_rail(run, rail)
        raise rail


def follow(run: Run, status: Run.Status, outcome: str, process: str) -> Run | None:
    """Decides whether the session goes on, records why at the run's last exchange, and begins the next run.

    `status` and `outcome` say how the run ended; `run` is as it was when its last request was made.
    Two statements where nothing follows. None also when somebody else was quicker.
    """
    began = perf_counter()
    last, waiting = _last(run)
    state = _state(run, _ended(status, outcome), waiting)
    decision = decide(state)
    details = _say(run, state, decision)
    if last is not None:
        _record(last, _stage(state, decision, [*details, *_fill_words(run, last)], began))
    if isinstance(decision, Stop):
        return None
    if decision.rule == "message":
        return start_next(run.session_id, process)
    return start_continuation(run, "\n\n".join((_heading(state), *details)), process)


def spent_in(run: Run, *, rounds: int = 0) -> Spent:
    """What the run, and the runs that it continues by itself, have spent until now."""
    earlier = Run.objects.filter(session_id=run.session_id, pk__lte=run.pk).order_by("-pk")
    chain = earlier.values("pk")[: run.continuations + 1]
    sums = Exchange.objects.filter(run__in=chain).aggregate(
        prompt=Sum("prompt_tokens"),
        output=Sum("output_tokens"),
        thoughts=Sum("thought_tokens"),
        paid=Sum("usd"),
        began=Min("run__started_at"),
    )
    return Spent(
        rounds=rounds,
        tokens=sum(sums[name] or 0 for name in ("prompt", "output", "thoughts")),
        usd=sums["paid"] or Decimal(0),
        seconds=(timezone.now() - (sums["began"] or run.started_at)).total_seconds(),
    )


def _ended(status: Run.Status, outcome: str) -> Ended:
    if status == Run.Status.COMPLETED:
        return "cut" if outcome == Outcome.MAX_TOKENS else "answered"
    unanswered: dict[str, Ended] = {"stopped": "stopped", "failed": "failed"}
    return unanswered.get(status.value, "interrupted")


def _state(run: Run, ended: Ended, waiting: int) -> State:
    """Queries only for the rules that could apply."""
    options = run.session.options
    todos = _open_todos(run) if options.continue_todos and ended in ("answered", "cut") else ()
    may_go_on = (ended == "cut" and options.continue_cut) or bool(todos)
    return State(
        ended=ended,
        waiting=waiting,
        continue_cut=options.continue_cut,
        continue_todos=options.continue_todos,
        open_todos=todos,
        continuations=run.continuations,
        max_continuations=options.max_continuations,
        rail=rail_before(spent_in(run), options) if may_go_on and not waiting else None,
    )


def _open_todos(run: Run) -> tuple[str, ...]:
    open_todos = Todo.objects.filter(session_id=run.session_id, done=False)
    return tuple(open_todos.values_list("title", flat=True))


def _say(run: Run, state: State, decision: Continue | Stop) -> list[str]:
    """The notifications of the decision, as lines."""
    if isinstance(decision, Continue):
        return [] if decision.rule == "message" else [_note_rule(run, state, decision.rule, "unseen").line]
    if decision.held is None or decision.rail is None:
        return []
    held = _note_rule(run, state, decision.held, Notification.Status.BLOCKED)
    return [held.line, _note_rail(run, decision.rail).line]


def _note_rule(run: Run, state: State, rule: Rule, status: str) -> Notification:
    words = _GO_ON if rule == "cut" else _todo_words(state.open_todos)
    return Notification.objects.note(
        run.session_id, _KINDS[rule], words, source=str(run.public), status=status
    )


def _note_rail(run: Run, rail: GuardRail) -> Notification:
    """Once while nobody has seen it, however often the rail is reached."""
    words = f"{rail.message} {rail.hint}"
    return Notification.objects.note(run.session_id, Notification.Kind.GUARD_RAIL, words, source=rail.rail)


def _todo_words(titles: Sequence[str]) -> str:
    shown = [f"- {title}" for title in titles[:TODOS_SHOWN]]
    more = [f"- and {len(titles) - TODOS_SHOWN} more"] if len(titles) > TODOS_SHOWN else []
    lead = f"{len(titles)} todos are not done. Go on until each is, or say what keeps you from it:"
    return "\n".join([lead, *shown, *more])


def _heading(state: State) -> str:
    """Nothing is hidden: the turn says that no person wrote it."""
    count = f"{state.continuations + 1} of at most {state.max_continuations}"
    return f"Written by Pipeweb, not by a person (continuation {count})."


def _last(run: Run) -> tuple[Exchange | None, int]:
    """The run's last exchange, and how many messages wait in its session: one statement."""
    queued = QueuedMessage.objects.filter(session=OuterRef("session")).order_by().values("session")
    waiting = Coalesce(Subquery(queued.values(count=Count("pk"))), 0)
    rows = Exchange.objects.filter(run=run).annotate(waiting=waiting).order_by("-number")
    found: Any = rows.only(*LAST).first()
    if found is None:
        return None, QueuedMessage.objects.filter(session_id=run.session_id).count()
    return found, found.waiting


def _record(last: Exchange, stage: dict[str, Any]) -> None:
    """Adds a stage record to an exchange that is settled: nobody else writes its records any more."""
    last.stages = [*last.stages, stage]
    last.save(update_fields=["stages"])


def _stage(state: State, decision: Continue | Stop, details: list[str], began: float) -> dict[str, Any]:
    if isinstance(decision, Continue):
        status, came_out = "ok", f"goes on: {decision.why}"
    else:
        status, came_out = "blocked" if decision.held else "nothing", f"ends: {decision.why}"
    return {
        "name": "continue",
        "status": status,
        "came_in": f"the run: {state.ended}",
        "came_out": came_out,
        "details": details,
        "ms": round((perf_counter() - began) * 1000, 3),
    }


def _fill_words(run: Run, exchange: Exchange) -> list[str]:
    """Told when the line is crossed, not at every answer beyond it."""
    limit = facts_of(exchange.model, exchange.served_model).input_limit
    held = (exchange.prompt_tokens or 0) + (exchange.output_tokens or 0)
    if held < limit * FILLING_UP:
        return []
    earlier = Exchange.objects.filter(session_id=run.session_id, number__lt=exchange.number)
    before = (
        earlier.exclude(prompt_tokens=None)
        .exclude(run=run)
        .order_by("-number")
        .only("prompt_tokens", "output_tokens")
        .first()
    )
    if before is not None and (before.prompt_tokens or 0) + (before.output_tokens or 0) >= limit * FILLING_UP:
        return []
    words = (
        f"{held:,} of {limit:,} tokens of the model's window are used. Close files, or begin a new session."
    )
    noted = Notification.objects.note(run.session_id, Notification.Kind.CONTEXT_THRESHOLD, words)
    return [noted.line]
