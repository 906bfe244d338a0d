"""Captured sessions changed by hand: joined, split. What was changed is remembered in the placements."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import F

from sessions_app.capture.answer_turns import last_turn
from sessions_app.capture.captured_answer import RELAY_ERROR, compared_with, judge
from sessions_app.capture.captured_exchange import place_again
from sessions_app.capture.captured_history import RememberedHistories
from sessions_app.capture.left_behind import drop_unnamed
from sessions_app.capture.placements import LaneRole, Placement, Relation
from sessions_app.error_codes import RegroupProblem
from sessions_app.errors import NotRegrouped
from sessions_app.models import (
    Booking,
    CacheEvent,
    CaptureAddress,
    CapturedRequest,
    CapturedSession,
    Exchange,
    Run,
    Session,
)
from sessions_app.prompt.reply import Usage
from sessions_app.runs.accounting import cause_of
from sessions_app.runs.comparison import compare_with_previous

MOST = 300
"""Requests that are moved at once: so long others cannot write on SQLite."""


def columns_of(place: Placement) -> dict[str, Any]:
    """A placement as columns of CapturedRequest."""
    return {
        "session": place.session,
        "lane": place.lane,
        "relation": place.relation.value,
        "role": place.role.value,
        "before": place.before,
        "shared": place.shared,
        "is_guess": place.is_guess,
    }


def take_in(address: int, key: str, place: Placement, remembered: RememberedHistories) -> None:
    """A request that was placed before is a side call of a later one. Must run in a transaction."""
    rows = CapturedRequest.objects.filter(address=address, public=key)
    was = rows.values_list("session", flat=True).first()
    rows.update(**columns_of(place))
    found = rows.select_related("address", "exchange__session").first()
    if found is None or found.exchange is None:
        return
    if was == place.session:
        Run.objects.filter(exchanges=found.exchange).update(lane=place.lane, lane_role=place.role.value)
    else:
        _move([found], remembered)


@transaction.atomic
def join(session: Session, other: Session) -> None:
    """Takes the requests of `other` into `session`; its main lane goes on from that of `session`.

    Both are of one address. Raises NotRegrouped.
    """
    key, address = _locked_key_of(session)
    if session.pk == other.pk:
        raise NotRegrouped(RegroupProblem.SAME_SESSION)
    if _key_of(other)[1] != address:
        raise NotRegrouped(RegroupProblem.OTHER_ADDRESS)
    moved = list(_requests(other).order_by("received_at", "pk"))
    _check_movable(moved)
    opener = next((row for row in moved if row.role == LaneRole.MAIN), None)
    earlier = _requests(session).filter(role=LaneRole.MAIN)
    if opener is not None:
        earlier = earlier.filter(received_at__lt=opener.received_at)
    last = earlier.order_by("-received_at", "-pk").first()
    CapturedSession.objects.filter(session=other).update(session=session)
    joined = opener.lane if opener is not None and last is not None else None
    for row in moved:
        row.session = key
        if last is not None and row.lane == joined:
            row.lane = last.lane
    if opener is not None and last is not None:
        opener.relation, opener.before = Relation.JOINED.value, str(last.public)
    CapturedRequest.objects.bulk_update(moved, ["session", "lane", "relation", "before"])
    _move(moved, RememberedHistories())


@transaction.atomic
def split(session: Session, number: int) -> Session:
    """Makes a session of its own of exchange `number` and all that came later. Raises NotRegrouped."""
    _locked_key_of(session)
    rows = _requests(session)
    first = rows.filter(exchange__number=number).first()
    if first is None or not rows.filter(exchange__number__lt=number).exists():
        raise NotRegrouped(RegroupProblem.NOTHING_BEFORE)
    moved = list(rows.filter(exchange__number__gte=number).order_by("exchange__number"))
    _check_movable(moved)
    here = {str(row.public) for row in moved}
    lanes: dict[str, str] = {}
    # Not the key of the request: that may lead to where an earlier split was joined again.
    key = f"split:{uuid4()}"
    for row in moved:
        row.session = key
        begins = row.lane not in lanes
        lane = lanes.setdefault(row.lane, row.lane if row.lane in here else str(row.public))
        row.lane = lane
        if row.before not in here and (begins or not row.before):
            row.before, row.shared = "", 0
            row.relation = Relation.OPENS.value if row.role == LaneRole.MAIN else row.relation
    CapturedRequest.objects.bulk_update(moved, ["session", "lane", "relation", "before", "shared"])
    _move(moved, RememberedHistories())
    return Exchange.objects.select_related("session").get(captured=first).session


def _move(moved: Sequence[CapturedRequest], remembered: RememberedHistories) -> None:
    """Takes exchanges into the sessions under whose keys their requests stand, and judges all there again."""
    exchanges = [row.exchange for row in moved if row.exchange is not None]
    sessions = {exchange.session_id for exchange in exchanges}
    for row in moved:
        if row.exchange is not None:
            _move_one(row, row.exchange, remembered)
    remembered.forget()
    sessions |= {exchange.session_id for exchange in exchanges}
    for session in Session.objects.filter(pk__in=sessions).order_by("pk"):
        if session.exchanges.exists():
            _renumber(session.pk)
            _judge_all(session.pk)
            _show_newest(session)
            drop_unnamed(session)
        else:
            session.erase()


def _move_one(row: CapturedRequest, exchange: Exchange, remembered: RememberedHistories) -> None:
    place_again(row, exchange, remembered)
    session = exchange.session
    CacheEvent.objects.filter(exchange=exchange).update(session=session)
    Booking.objects.move(exchange.pk, session)
    above = last_turn(exchange)
    depth = above.depth + 1 if above else 0
    exchange.turns.update(session=session, parent=above, depth=depth, run=exchange.run)
    run = exchange.run
    run.outcome, run.error, run.ended_at = exchange.outcome, exchange.error, exchange.ended_at
    is_ours = exchange.error.get("kind") == RELAY_ERROR
    failed = Run.Status.STOPPED if is_ours else Run.Status.FAILED
    run.status = failed if exchange.error else Run.Status.COMPLETED
    run.save(update_fields=["outcome", "error", "ended_at", "status"])


def _show_newest(session: Session) -> None:
    """The page of the session ends with its newest request of a main lane, else of any."""
    newest_first = session.exchanges.order_by("-number")
    newest = newest_first.filter(run__lane_role=LaneRole.MAIN).first() or newest_first[0]
    head = newest.turns.order_by("-pk").first() or last_turn(newest)
    at = max(newest_first.values_list("started_at", flat=True))
    Session.objects.filter(pk=session.pk).update(head=head, updated_at=at)


def _renumber(session_pk: int) -> None:
    """Numbers count in the order of time, also where sessions were joined that ran side by side."""
    rows = list(Exchange.objects.filter(session=session_pk).order_by("started_at", "pk").only("pk", "number"))
    beyond = (max((row.number for row in rows), default=0)) + len(rows) + 1
    Exchange.objects.filter(session=session_pk).update(number=F("number") + beyond)
    for number, row in enumerate(rows, start=1):
        row.number = number
    Exchange.objects.bulk_update(rows, ["number"])
    Session.objects.filter(pk=session_pk).update(exchange_count=len(rows))


def _judge_all(session_pk: int) -> None:
    rows = CapturedRequest.objects.filter(exchange__session=session_pk).order_by("exchange__number")
    steps: dict[int, int] = {}
    for row in rows.select_related("exchange__session", "exchange__run__session", "exchange__price"):
        exchange = row.exchange
        assert exchange is not None
        steps[exchange.run_id] = exchange.step = steps.get(exchange.run_id, 0) + 1
        # Without its payload a request keeps the verdict that it had.
        if exchange.ended_at is not None and exchange.payload_purged_at is None:
            exchange.break_line, exchange.previous = {}, compared_with(exchange, row)
            comparison = compare_with_previous(exchange)
            judge(exchange, Usage.of(exchange.usage), comparison, row)
        exchange.save()
        # What a request repeats may be in another session now.
        Booking.objects.filter(exchange=exchange).update(cause=cause_of(exchange).value)


def _requests(session: Session) -> Any:
    rows = CapturedRequest.objects.filter(exchange__session=session)
    return rows.select_related("address", "exchange__session", "exchange__run__session")


def _key_of(session: Session) -> tuple[str, int]:
    """The first key that leads to the session, and its address. Raises NotRegrouped for a chat."""
    found = session.captured_keys.order_by("pk").values_list("key", "address").first()
    if found is None:
        raise NotRegrouped(RegroupProblem.NOT_CAPTURED)
    return found


def _locked_key_of(session: Session) -> tuple[str, int]:
    """The same, with the address locked: the recorder places nothing and nobody else regroups meanwhile, and
    what processes remember of it is read again. Raises NotRegrouped.
    """
    _, address = _key_of(session)
    CaptureAddress.objects.filter(pk=address).update(regroupings=F("regroupings") + 1)
    return _key_of(session)


def _check_movable(moved: Sequence[CapturedRequest]) -> None:
    if len(moved) > MOST:
        raise NotRegrouped(RegroupProblem.TOO_MANY, count=len(moved), limit=MOST)
    if any(row.is_open for row in moved):
        raise NotRegrouped(RegroupProblem.UNDER_WAY)
    if any(row.exchange is not None and row.exchange.payload_purged_at for row in moved):
        raise NotRegrouped(RegroupProblem.PURGED)
