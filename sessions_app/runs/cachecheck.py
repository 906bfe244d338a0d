"""Whether today's code and prompts would still send what a session sent last: nothing is sent or kept.

The last request is prepared again, as it was at its moment: the same turns, the same clock, no new
history chunk. What differs is compared item by item, as the ledger does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction

from sessions_app.context.capabilities import facts_of
from sessions_app.errors import PipewebError
from sessions_app.gemini.routes import route_to
from sessions_app.models import Exchange, SentItem, Session, Turn
from sessions_app.prompt import breaks
from sessions_app.prompt.breaks import BreakLine, Piece
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.ledger import prefix_of
from sessions_app.prompt.payload import Item
from sessions_app.runs.pipeline import STAGES, Door, Work
from sessions_app.tools import Toolbox

LEFT_OUT = frozenset({"check_budget", "mark_notifications", "detach_history", "plan_cache"})
"""Stages that decide something anew rather than build the same again."""

STATE = ("panel:", "clock")
"""Sources whose content is the state of things: it moves on without any change of code or prompts."""

Identity = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """What would become of one session's last request. Tokens are estimates.

    `problem` says why it could not be prepared; `moved_on` names panels that say something else by now,
    which is no change of code; `broken` is the first difference that is.
    """

    session: str
    title: str
    exchange: int = 0
    tokens: int = 0
    static_tokens: int = 0
    prefix_tokens: int = 0
    static_same: bool = True
    problem: str = ""
    moved_on: tuple[str, ...] = ()
    broken: BreakLine | None = None

    @property
    def is_changed(self) -> bool:
        return bool(self.problem) or self.broken is not None

    def stored(self) -> dict[str, Any]:
        return asdict(self) | {"changed": self.is_changed}


def check(session: Session, toolbox: Toolbox, *, strict: bool = False) -> Finding:
    """The finding for the last request of this session that a provider read.

    `strict` counts a panel that moved on as a change. Everything happens in a transaction that is
    rolled back, since some stages note what they see.
    """
    nothing = Finding(str(session.public), session.shown_title)
    last = session.exchanges.filter(prompt_tokens__gt=0).order_by("number").last()
    if last is None:
        return nothing
    known = replace(nothing, exchange=last.number)
    with transaction.atomic():
        try:
            items: Sequence[Item] = rebuilt(last, session, toolbox)
        except PipewebError as error:
            return replace(known, problem=" ".join(filter(None, (error.message, error.hint))))
        finally:
            transaction.set_rollback(True)
    return compare(known, last.sent_items(), items, strict=strict)


def rebuilt(last: Exchange, session: Session, toolbox: Toolbox) -> tuple[Item, ...]:
    """The items that its trigger would be sent with today."""
    run = last.run
    run.session = session
    session.model, session.head_id = last.model, trigger_of(last)
    door = Door(
        route=last.route.partition("/")[0],
        label=last.provider,
        dialect=last.dialect,
        has_explicit_caches=False,
        wire_of=lambda _, body: body,
    )
    served = served_before(last, door.route)
    facts = facts_of(last.model, served)
    work = Work(run, last.step, door, toolbox, session, session.options, facts, served=served)
    work.plan = CachePlan("none", "", "")
    for name, stage in STAGES:
        if name not in LEFT_OUT:
            stage(work)
    return work.payload.items


def served_before(exchange: Exchange, door: str) -> str:
    """The model that was known to serve when the request left: its own answer did not count yet."""
    plain = route_to(door, facts_of(exchange.model).family)
    return "" if plain == exchange.route else exchange.served_model


def trigger_of(exchange: Exchange) -> int | None:
    """The turn that the request ended with."""
    name = exchange.sent_items()[-1].source.name
    turns = Turn.objects.filter(session=exchange.session_id, public=name.partition(":")[2])
    return turns.values_list("pk", flat=True).first()


def compare(known: Finding, sent: Sequence[SentItem], items: Sequence[Item], *, strict: bool) -> Finding:
    """Sets what was sent beside what would be.

    Where a panel moved on, the dynamic layer is passed over unless `strict`: its keys and commas are
    those of the panels in it.
    """
    moved = moved_between(sent, items)
    if moved and not strict:
        sent = [one for one in sent if one.layer is not Layer.DYNAMIC]
        items = [one for one in items if one.layer is not Layer.DYNAMIC]
    was, now = [*map(_sent_identity, sent)], [*map(_identity, items)]
    prefix = prefix_of(was, now)
    static = [(one.layer is Layer.STATIC, one.source) for one in sent]
    return replace(
        known,
        tokens=sum(source.tokens for _, source in static),
        static_tokens=sum(source.tokens for is_static, source in static if is_static),
        prefix_tokens=sum(source.tokens for _, source in static[:prefix]),
        static_same=[source.blob.sha256 for is_static, source in static if is_static]
        == [one.sha256 for one in items if one.layer is Layer.STATIC],
        moved_on=tuple(breaks.spoken(name) for name in moved),
        broken=None if prefix == len(was) == len(now) else first_difference(prefix, sent, items),
    )


def moved_between(sent: Sequence[SentItem], items: Sequence[Item]) -> list[str]:
    """Sources of state that say something else now, or are new, or gone."""
    was = {(one.source.name, one.source.blob.sha256) for one in sent}
    now = {(one.source, one.sha256) for one in items}
    return sorted({name for name, _ in was ^ now if name.startswith(STATE)})


def first_difference(at: int, sent: Sequence[SentItem], items: Sequence[Item]) -> BreakLine | None:
    old = [Piece(one.layer.value, one.source.name, one.wire, one.content, one.part) for one in sent]
    new = [Piece(one.layer.value, one.source, one.wire, one.content, one.part) for one in items]
    # Today's request is never longer than what was sent and otherwise the same: both end with one trigger.
    return breaks.find(
        at,
        [piece.source for piece in old],
        [piece.source for piece in new],
        old[at] if at < len(old) else None,
        new[at] if at < len(new) else None,
        last=new[at - 1].wire if at else b"",
    )


def _sent_identity(one: SentItem) -> Identity:
    return (one.source.name, one.source.blob.sha256, one.source.role, one.source.kind)


def _identity(one: Item) -> Identity:
    return (one.source, one.sha256, one.role, one.kind)
