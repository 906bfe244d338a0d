"""Calls that a person is asked about: which these are, what was answered, and what nobody answered.

An ask is columns of its `ToolCall`; the run that it belongs to waits (`parking`). Whatever becomes of an ask
is written once, with the run locked, and logged as an event of the run: viewers in every process see it.
"""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from sessions_app.events import Decided
from sessions_app.mcp_codes import Choice, Decision
from sessions_app.metrics import EVENTS
from sessions_app.models import McpTool, Run, RunLog, ToolCall, ToolGrant
from sessions_app.prompt.calls import FunctionCall, calls_in
from sessions_app.runs.parking import Parked
from sessions_app.tools import Toolbox
from sessions_app.wording.mcp import DECISIONS

Decisions = Mapping[int, Decision]
"""The decisions of a round, by the index of the call."""


def unsettled(
    run: Run, turn_pk: int, calls: Iterable[FunctionCall], toolbox: Toolbox, enabled: Sequence[str]
) -> tuple[list[FunctionCall], Decisions]:
    """The calls that a person has to be asked about first, and what was decided about others in this run.

    Whether a tool asks is read anew, since it may be changed while the run goes on. What was decided holds
    whatever became of the tool since it was asked. One query where no tool asks, in a run that has not asked.
    """
    remotes = ((call, toolbox.remote(call.name)) for call in calls if call.name in enabled)
    called = [(call, remote) for call, remote in remotes if remote is not None]
    asking = McpTool.objects.asking(run.session.owner_id, {remote.row for _, remote in called})
    asked = [(call, remote) for call, remote in called if remote.row in asking]
    if not asked and not run.parked:
        return [], {}
    rows = ToolCall.objects.of_turn(turn_pk)
    decisions = {index: Decision(said) for index, row in rows.items() if (said := row.decided_in(run.pk))}
    undecided = [(call, remote) for call, remote in asked if call.index not in decisions]
    if not undecided:
        return [], decisions
    granted = ToolGrant.objects.keys(run.session_id)
    return [call for call, remote in undecided if remote.grant not in granted], decisions


@transaction.atomic
def decide(session_pk: int, public: UUID, step: int, index: int, choice: Choice) -> int | None:
    """What a person answers to an ask of a run that waits; returns the key of the run.

    None where there is nothing to decide (any more): the same answer twice, or an ask that is over. `step`
    tells it from an ask of a later round, which the person may not have seen yet.
    """
    waiting = Run.objects.select_for_update(of=("self",)).filter(session_id=session_pk, public=public)
    run = waiting.filter(status=Run.Status.WAITING).first()
    if run is None or Parked.model_validate(run.parked).step != step:
        return None
    asks = list(ToolCall.objects.open_asks().filter(run=run).select_related("turn"))
    ask = next((one for one in asks if one.index == index), None)
    if ask is None:
        return None
    if ask.expires_at is not None and ask.expires_at <= timezone.now():
        _write(run, [ask], Decision.EXPIRED)
    elif choice is Choice.REFUSE:
        _write(run, [ask], Decision.REFUSED)
    else:
        _write(run, _granted(run, ask, asks) if choice is Choice.CHAT else [ask], Decision.ALLOWED)
    return run.pk


def expire(run_pk: int) -> None:
    """Refuses what nobody answered in time."""
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).filter(pk=run_pk).first()
        if run is None or run.status != Run.Status.WAITING:
            return
        late = ToolCall.objects.open_asks().filter(run=run, expires_at__lte=timezone.now())
        _write(run, list(late), Decision.EXPIRED)


def _granted(run: Run, ask: ToolCall, asks: Sequence[ToolCall]) -> list[ToolCall]:
    """Stores that this tool asks no more in this session; the asks that are answered with it."""
    names = {call.index: call.name for call in calls_in(ask.turn.wire)}
    kept = Parked.model_validate(run.parked).tools
    tool = McpTool.objects.filter(pk__in=kept, function=names.get(ask.index, "")).first()
    if tool is None:
        return [ask]
    ToolGrant.objects.update_or_create(
        session_id=run.session_id, server=tool.server, tool=tool.name, defaults={"sha256": tool.sha256}
    )
    return [one for one in asks if names.get(one.index) == tool.function]


def _write(run: Run, asks: Sequence[ToolCall], decision: Decision) -> None:
    if not asks:
        return
    ToolCall.objects.filter(pk__in=[ask.pk for ask in asks]).update(decision=decision.value)
    step = Parked.model_validate(run.parked).step
    last = run.log.aggregate(last=Max("seq_to"))["last"]
    first = 0 if last is None else last + 1
    events = [
        Decided(
            run=run.public,
            seq=first + number,
            step=step,
            index=ask.index,
            decision=decision.value,
            words=DECISIONS[decision],
        )
        for number, ask in enumerate(asks)
    ]
    RunLog.of(run, first, [event.wire() for event in events]).save(force_insert=True)
    EVENTS.inc(len(events))
