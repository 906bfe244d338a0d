"""With which exchange a request has to be compared, from turns, branches and counts alone.

The rule: the nearest earlier exchange on its branch that has a counted prompt.

- A hop of an answer that goes on is compared with the hop before it; a request that repeats a failed one,
  with what that one was compared with.
- Behind the first step of a run it is the newest counted step before it in the run.
- Otherwise the turns are walked from the run's trigger to the root: the first one that a counted exchange has
  produced names it. A correction counts as the answer that it stands for; what no exchange of the session has
  produced is passed over.
- On a branch without such a turn it is the newest counted exchange of the session; none in a new one.

Of a captured session: the nearest counted one on the way back from request to request (`before`) in the same
lane, else the newest counted one of the lane.
"""

from collections.abc import Iterator

from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.rows import Row, SessionRows


def compared_with(rows: SessionRows, exchange: Row) -> Row | None:
    """An earlier version had another rule, and kept what it found."""
    key = exchange["previous_id"] if exchange["earlier_wording"] else _key(rows, exchange)
    return rows.numbers.get(key or 0)


def compared_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    """Both as the numbers that pages show, 0 for none: of the row, and of the verdict's figures."""
    if exchange["id"] in rows.captured and exchange["ended_at"] is None:
        return  # It is compared when its answer is there.
    found = compared_with(rows, exchange)
    number = found["number"] if found else 0
    stored = rows.numbers.get(exchange["previous_id"] or 0)
    yield Figure.COMPARED_WITH, stored["number"] if stored else 0, number
    seen = exchange["verdict_figures"].get("seen")
    if seen:
        yield Figure.COMPARED_WITH, seen["number"], number


def _key(rows: SessionRows, exchange: Row) -> int | None:
    if exchange["continues_id"] is not None:
        found: int = exchange["continues_id"]
        return found
    if exchange["id"] in rows.captured:
        return _key_of_captured(rows, exchange)
    repeated = rows.numbers.get(exchange["resend_of_id"] or 0)
    if repeated is not None:
        return _key(rows, repeated)
    earlier = [one for one in rows.exchanges if _is_counted_before(one, exchange)]
    if exchange["step"] > 1:
        return _newest([one for one in earlier if one["run_id"] == exchange["run_id"]])
    counted = {one["id"] for one in earlier}
    above = (key for key in _made_above(rows, exchange) if key in counted)
    return next(above, None) or _newest(earlier)


def _key_of_captured(rows: SessionRows, exchange: Row) -> int | None:
    lane = rows.captured[exchange["id"]]["lane"]
    earlier = [
        one
        for one in rows.exchanges
        if one["number"] < exchange["number"] and rows.captured[one["id"]]["lane"] == lane
    ]
    by_request = {str(rows.captured[one["id"]]["public"]): one for one in earlier}
    row = by_request.get(rows.captured[exchange["id"]]["before"])
    while row is not None and not row["prompt_tokens"]:
        row = by_request.get(rows.captured[row["id"]]["before"])
    found: int | None = row["id"] if row else _newest([one for one in earlier if one["prompt_tokens"]])
    return found


def _made_above(rows: SessionRows, exchange: Row) -> Iterator[int | None]:
    """The exchanges that produced the turns from the trigger to the root, None for what a person said."""
    turn = rows.runs[exchange["run_id"]]["trigger_id"]
    while turn is not None:
        row = rows.turns[turn]
        origin = rows.turns.get(row["origin_id"])
        turn = row["parent_id"]
        yield row["exchange_id"] or (origin["exchange_id"] if origin else None)


def _is_counted_before(one: Row, exchange: Row) -> bool:
    return bool(one["prompt_tokens"]) and one["number"] < exchange["number"]


def _newest(rows: list[Row]) -> int | None:
    """They are in the order of their numbers."""
    key: int | None = rows[-1]["id"] if rows else None
    return key
