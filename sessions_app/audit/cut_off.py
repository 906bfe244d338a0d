"""Whether an answer was cut off before its end, by the run's row, the turns and the chunks."""

from sessions_app.audit.answers import answer_of
from sessions_app.audit.rows import Row, SessionRows

CLOSED = {"stopped", "interrupted"}
"""How a run ends whose answer a person stops, or whose process dies."""

ENDED_EARLY = {*CLOSED, "failed"}


def is_cut_off(rows: SessionRows, exchange: Row) -> bool:
    """Only the last request of a run that did not complete can be, and none whose answer became a whole turn.

    Without a finish reason in its chunks, it was when the run was stopped or interrupted. An answer with one
    had ended, perhaps before it was recorded, and a run that failed may have failed because of it: no raw
    row tells these, so the stored reason has to do. Of a captured one its request says it.
    """
    captured = rows.captured.get(exchange["id"])
    if captured is not None:
        return bool(captured["fault"] or captured["is_cut"])
    run = rows.runs[exchange["run_id"]]
    if run["status"] not in ENDED_EARLY or not _is_last(rows, exchange) or _is_whole(rows, exchange):
        return False
    if run["status"] in CLOSED and not answer_of(rows.chunks(exchange)).finish_reason:
        return True
    reason: str = exchange["verdict_figures"].get("reason", "")
    return reason == "cut_off"


def is_unanswered(rows: SessionRows, exchange: Row) -> bool:
    """The last request of a failed run of which nothing came but an error.

    An earlier version called it cut off, and so is one that failed for itself: `is_cut_off` is asked first.
    """
    is_failed = rows.runs[exchange["run_id"]]["status"] == "failed" and _is_last(rows, exchange)
    return is_failed and bool(exchange["error"]) and not any(rows.chunks(exchange))


def reason_without_answer(rows: SessionRows, exchange: Row) -> str:
    """The reason of an exchange without a readable chunk, of which something may have come all the same.

    Earlier versions said of all of these that no answer came.
    """
    said_none = exchange["verdict_figures"].get("reason") == "not_answered"
    captured, error = rows.captured.get(exchange["id"]), exchange["error"]
    if captured is None:
        has_come = error.get("kind") in ("BrokenStream", "AnswerRefused")
        return "unreadable" if has_come and not said_none else "not_answered"
    has_come = captured["status"] == 200 and (captured["is_cut"] or captured["response_size"])
    if has_come and (captured["fault"] or captured["is_cut"]):
        return "not_answered" if said_none else "cut_off"
    return "unreadable" if error.get("reason") == "answer_unreadable" else "not_answered"


def _is_last(rows: SessionRows, exchange: Row) -> bool:
    numbers = (one["number"] for one in rows.exchanges if one["run_id"] == exchange["run_id"])
    return bool(max(numbers) == exchange["number"])


def _is_whole(rows: SessionRows, exchange: Row) -> bool:
    return any(turn["exchange_id"] == exchange["id"] and not turn["cut"] for turn in rows.turns.values())
