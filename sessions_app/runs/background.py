"""Background tasks: a context of their own, errors that do not end them, and logs that do not repeat."""

import asyncio
import contextvars
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import structlog
from django.db.models import Model, QuerySet

from sessions_app.storage_errors import is_temporary, refusal_of

RESTART_SECONDS = 1.0

FIRST_SILENCE, LONGEST_SILENCE = 10.0, 3_600.0
"""Seconds in which an error that comes again is not logged again; doubles with every line."""

REPEATS_KEPT = 1_000

log = structlog.get_logger("pipeweb.runs")
Row = TypeVar("Row", bound=Model)
Given = ParamSpec("Given")
Result = TypeVar("Result")


def detached(work: Coroutine[Any, Any, Any], **logged: str) -> "asyncio.Task[Any]":
    """A task in a new context: in that of a socket it would share the socket's database thread.

    `logged` is bound to every log line of the task.
    """
    context = contextvars.Context()
    context.run(structlog.contextvars.bind_contextvars, **logged)
    return asyncio.get_running_loop().create_task(work, context=context)


def unbroken(
    work: Callable[Given, Coroutine[Any, Any, Result]],
) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Work that goes on to its end when the task that waits for it is cancelled; its error is logged then."""

    @wraps(work)
    async def waited(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        task = asyncio.ensure_future(work(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(partial(_report_end, work.__qualname__))
            raise

    return waited


def _report_end(work: str, task: "asyncio.Task[Any]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        report("unattended_work_failed", error, work=work)


class BackgroundTask:
    """A detached task of a process: `work` from `start` to `stop`.

    Work that an error ended begins again; `event` names that error in the log.
    """

    def __init__(self, event: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._event = event
        self._work = work
        self._task: asyncio.Task[Any] | None = None

    def start(self) -> None:
        """Begins when a loop is running; calling it again does nothing."""
        if self._task is None:
            self._task = detached(self._supervise())

    async def stop(self) -> None:
        """Cancels the work and waits for its end. Idempotent, and does nothing before `start`."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _supervise(self) -> None:
        while True:
            try:
                await asyncio.create_task(self._work())
            except asyncio.CancelledError:
                # Raised by the work itself, or by whoever cancels this task.
                if (current := asyncio.current_task()) is None or current.cancelling():
                    raise
                log.warning(self._event, kind="CancelledError")
            except Exception as error:  # noqa: BLE001 (reported)
                report(self._event, error)
                await asyncio.sleep(RESTART_SECONDS)
            else:
                return


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Whether the event was set in time.

    `asyncio.wait_for` of Python 3.11 returns, and forgets a cancellation, where both come at once.
    """
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


@contextmanager
def isolated(event: str, **row: object) -> Iterator[None]:
    """Logs an exception of the block as `event` with the keys of `row`, and suppresses it.

    For the work of a periodic task on one row, and for one round of the task.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 (reported)
        report(event, error, **row)


def readable(rows: "QuerySet[Row]", event: str) -> "list[Row]":
    """The rows; if one cannot be read, `event` names it and the others are read one at a time."""
    with isolated(event):
        return list(rows)
    found: list[Row] = []
    for pk in rows.values_list("pk", flat=True):
        with isolated(event, row=pk):
            found.extend(rows.filter(pk=pk))
    return found


@dataclass(slots=True)
class _Repeat:
    """An error that was logged: its class, when it may be logged again, and how often it came since."""

    kind: str
    silent_until: float
    silence: float
    count: int = 0


class _Repeats:
    """Which errors of which rows are not logged again for a while."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], _Repeat] = OrderedDict()

    def clear(self) -> None:
        self._known.clear()

    def count(self, key: tuple[object, ...], kind: str) -> int | None:
        """How often the error came since it was logged last; None when it is not to be logged now."""
        now, known = monotonic(), self._known.pop(key, None)
        if known is None or known.kind != kind or now > known.silent_until + known.silence:
            # New, another error, or one that had stayed away.
            known = _Repeat(kind, now + FIRST_SILENCE, FIRST_SILENCE)
            found: int | None = 0
        elif now < known.silent_until:
            known.count += 1
            found = None
        else:
            found, known.count = known.count, 0
            known.silence = min(2 * known.silence, LONGEST_SILENCE)
            known.silent_until = now + known.silence
        self._known[key] = known
        if len(self._known) > REPEATS_KEPT:
            self._known.popitem(last=False)
        return found


repeats = _Repeats()


def report(event: str, error: BaseException, **row: object) -> None:
    """Logs an error of a periodic task, and the same error of the same row at growing intervals only."""
    count = repeats.count((event, *sorted(row.items())), type(error).__name__)
    if count is None:
        return
    facts = {**row, "repeats": count} if count else row
    if is_temporary(error) or refusal_of(error):
        # The database is away or locked, or the storage takes nothing: a traceback would say nothing.
        log.warning(event, kind=type(error).__name__, **facts)
    else:
        log.error(event, exc_info=error, **facts)
