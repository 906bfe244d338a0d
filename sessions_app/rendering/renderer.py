"""Renders the texts of a request in worker processes, within a limit of time for all of them.

A worker that exceeds a limit is killed and replaced; its text is sent as written, and is not rendered
again for that person for a while. A spare worker waits, so that nobody waits for the replacement.
"""

import atexit
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from threading import Condition, Lock
from time import monotonic
from typing import Any

import structlog

from sessions_app.prompt.argument_maps import is_within
from sessions_app.prompt.templates import Rendered, RenderFailure, Unrendered, is_template
from sessions_app.rendering.frames import frame
from sessions_app.rendering.process import WorkerGone, WorkerProcess
from sessions_app.rendering.worker import MEMORY

SECONDS = 0.2
"""For all texts of a request together."""

REQUEST_LIMIT, REQUEST_DEPTH = 2_000_000, 50
"""Size of all texts and arguments of a request (`argument_maps.is_within`), and their levels."""

IDLE_WORKERS, MAX_WORKERS = 2, 8
"""A person uses one at a time, so that nobody takes the workers of the others."""

COMPUTED_SECONDS = 0.05
"""From so much computing time on, it was the text that took long, not a busy machine."""

REFUSED_SECONDS, REFUSED_TEXTS = 300.0, 1_000
"""How long a text that exceeded a limit is not rendered again, and how many such texts are known."""

log = structlog.get_logger("pipeweb.rendering")


@dataclass(slots=True)
class RenderTime:
    """What rendering has taken of the time of one request, which may render several times."""

    spent: float = 0.0


class Renderer:
    """Thread-safe. `seconds` is the limit for the texts of a request."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._idle: list[WorkerProcess] = []
        self._lock = Lock()
        self._turns = Condition()
        self._rendering: set[int] = set()
        self._refused: dict[tuple[int, bytes], tuple[float, RenderFailure]] = {}

    def start(self) -> None:
        """Starts the spare worker, without waiting for it."""
        if not self._idle:
            self._keep(WorkerProcess(), is_spare=True)

    def close(self) -> None:
        """Ends the idle workers."""
        with self._lock:
            ended, self._idle = self._idle, []
        for worker in ended:
            worker.end()

    def render(
        self,
        texts: Sequence[Unrendered],
        values: Mapping[str, Any],
        *,
        owner: int,
        time: RenderTime | None = None,
    ) -> tuple[Rendered, ...]:
        """Each text rendered, or as written with the reason. A text that is no template costs nothing."""
        done = {place: self._known(each, owner) for place, each in enumerate(texts)}
        waiting = [place for place, known in done.items() if known is None]
        if waiting:
            wanted = [texts[place] for place in waiting]
            done |= dict(
                zip(waiting, self._rendered(wanted, values, owner, time or RenderTime()), strict=True)
            )
        return tuple(each for each in done.values() if each is not None)

    def _known(self, text: Unrendered, owner: int) -> Rendered | None:
        """The result where nothing has to be rendered."""
        if not is_template(text.text):
            return Rendered(text.text)
        until, failure = self._refused.get(_key(text, owner), (0.0, RenderFailure.TOO_SLOW))
        return self._failed(text, failure) if until > monotonic() else None

    def _rendered(
        self, texts: Sequence[Unrendered], values: Mapping[str, Any], owner: int, time: RenderTime
    ) -> list[Rendered]:
        content = {"texts": [(each.text, each.defaults) for each in texts], "values": values}
        if not is_within(content, REQUEST_LIMIT, REQUEST_DEPTH):
            return [self._failed(each, RenderFailure.TOO_LARGE) for each in texts]
        request, done = frame(content), list[Rendered]()
        began, left = monotonic(), self.seconds - time.spent
        try:
            with self._turn(owner, left) as waited, self._worker() as worker:
                # The start of a worker does not count.
                began = monotonic() - waited
                deadline = began + left
                worker.send(request, deadline)
                for _ in texts:
                    done.append(worker.receive(deadline))
        except _Ended as ended:
            done.append(self._refuse(texts[len(done)], owner, ended))
        except TimeoutError:
            pass
        finally:
            time.spent += monotonic() - began
        return [*done, *(self._failed(each, RenderFailure.NO_TIME) for each in texts[len(done) :])]

    @contextmanager
    def _turn(self, owner: int, left: float) -> Iterator[float]:
        """Waits until this person may render; yields the seconds waited. Raises TimeoutError."""
        began = monotonic()
        with self._turns:
            is_free = self._turns.wait_for(
                lambda: owner not in self._rendering and len(self._rendering) < MAX_WORKERS, max(left, 0)
            )
            if not is_free or left <= 0:
                raise TimeoutError
            self._rendering.add(owner)
        try:
            yield monotonic() - began
        finally:
            with self._turns:
                self._rendering.discard(owner)
                self._turns.notify_all()

    @contextmanager
    def _worker(self) -> Iterator[WorkerProcess]:
        """A worker that has started. Raises TimeoutError without one, _Ended if the block exceeds a limit."""
        worker = self._take() or WorkerProcess()
        self.start()
        try:
            worker.await_start()
        except (TimeoutError, WorkerGone) as error:
            worker.end()
            log.error("template_worker_missing", kind=type(error).__name__)
            raise TimeoutError from error
        try:
            yield worker
        except (TimeoutError, WorkerGone) as error:
            raise _Ended(is_slow=isinstance(error, TimeoutError), cpu=worker.end()) from error
        self._keep(worker)

    def _take(self) -> WorkerProcess | None:
        """The worker used last: it has compiled the templates."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                worker.end()
        return None

    def _keep(self, worker: WorkerProcess, *, is_spare: bool = False) -> None:
        with self._lock:
            if len(self._idle) < IDLE_WORKERS:
                self._idle.insert(0 if is_spare else len(self._idle), worker)
                return
        worker.end()

    def _refuse(self, text: Unrendered, owner: int, ended: "_Ended") -> Rendered:
        """The result of the text that ended its worker; unless the machine was busy, it is remembered."""
        if ended.is_slow and ended.cpu < COMPUTED_SECONDS:
            return self._failed(text, RenderFailure.NO_TIME)
        failure = RenderFailure.TOO_SLOW if ended.is_slow else RenderFailure.TOO_MUCH_MEMORY
        log.warning("template_refused", failure=failure.value, owner=owner, cpu=round(ended.cpu, 3))
        with self._lock:
            while len(self._refused) >= REFUSED_TEXTS:
                del self._refused[next(iter(self._refused))]
            self._refused[_key(text, owner)] = monotonic() + REFUSED_SECONDS, failure
        return self._failed(text, failure)

    def _failed(self, text: Unrendered, failure: RenderFailure) -> Rendered:
        limits = {RenderFailure.TOO_MUCH_MEMORY: MEMORY / 1e6, RenderFailure.TOO_LARGE: REQUEST_LIMIT}
        return Rendered(text.text, "fallback", failure=failure, limit=limits.get(failure, self.seconds))


class _Ended(Exception):
    """A worker was ended while it rendered; `cpu` are the seconds it had computed."""

    def __init__(self, *, is_slow: bool, cpu: float) -> None:
        super().__init__()
        self.is_slow = is_slow
        self.cpu = cpu


def _key(text: Unrendered, owner: int) -> tuple[int, bytes]:
    """A person's arguments decide what a text costs, so a refusal holds for that person only."""
    return owner, sha256(text.text.encode("utf-8", "surrogatepass")).digest()


@cache
def renderer() -> Renderer:
    """The one of this process."""
    found = Renderer()
    atexit.register(found.close)
    return found
