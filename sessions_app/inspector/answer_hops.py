"""The exchanges of one answer: where the provider pauses it, it goes on in another one, and the last has its
turn.
"""

from collections.abc import Iterable, Sequence

from sessions_app.models import Exchange
from sessions_app.prompt.outcomes import Outcome


def end_of(exchange: Exchange) -> Exchange:
    """The exchange with which its answer ended: a query for each hop after it, none for a whole answer."""
    found = exchange
    while found.outcome == Outcome.CONTINUES:
        later = Exchange.objects.filter(continues=found.pk).order_by("-number").first()
        if later is None:
            break
        found = later
    return found


def ends_of(exchanges: Sequence[Exchange]) -> dict[int, Exchange]:
    """Key of each exchange of a session, which come newest first → the one with which its answer ended."""
    found: dict[int, Exchange] = {}
    for one in exchanges:
        end = found.setdefault(one.pk, one)
        if one.continues_id is not None:
            found.setdefault(one.continues_id, end)
    return found


def answers_of(session: int, ends: Iterable[Exchange]) -> dict[int, list[Exchange]]:
    """Number of an exchange → those of the answer that it ends, oldest first: a query if one took several."""
    last = list(ends)
    known: dict[int, Exchange] = {}
    if any(one.continues_id is not None for one in last):
        paused = Exchange.objects.filter(session=session, outcome=Outcome.CONTINUES)
        known = {one.pk: one for one in paused.only("number", "dialect", "continues")}
    return {one.number: [*_before(one, known), one] for one in last}


def _before(exchange: Exchange, known: dict[int, Exchange]) -> list[Exchange]:
    found: list[Exchange] = []
    before = known.get(exchange.continues_id or 0)
    while before is not None:
        found.insert(0, before)
        before = known.get(before.continues_id or 0)
    return found
