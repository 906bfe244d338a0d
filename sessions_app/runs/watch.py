"""The heartbeat of a process: it keeps its leases, and looks at the rows for what other processes did."""

import asyncio
from dataclasses import dataclass, field

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.utils import timezone

from sessions_app.errors import RunError
from sessions_app.models import QueuedMessage, Run, RunLog, Session
from sessions_app.runs.detached import detached
from sessions_app.runs.recovery import reap, stranded
from sessions_app.runs.runner import Runner
from sessions_app.runs.stage import Mirror, Stage

LOOK_SECONDS = 1.0
"""How late news is when the doorbell is silent."""

BEAT_LOOKS = 4
"""A lease is renewed, and dead processes are looked for, at every fourth look."""

SWEEP_LOOKS = 900
"""Temporary sessions that were left behind are erased every quarter of an hour."""

log = structlog.get_logger("pipeweb.watch")


@dataclass(frozen=True, slots=True)
class Scene:
    """What this process works on and shows, as it was when the look began."""

    stages: dict[int, Stage]
    mirrors: list[Mirror]
    lives: list[int]


@dataclass
class News:
    """What one look at the rows found."""

    to_stop: set[int] = field(default_factory=set)
    begun: list[Mirror] = field(default_factory=list)
    written: dict[int, list[RunLog]] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    queues: dict[int, list[QueuedMessage]] = field(default_factory=dict)
    moves: dict[int, int] = field(default_factory=dict)
    orphaned: list[int] = field(default_factory=list)


class Watch:
    """Looks once a second, and at once when the doorbell rings. One per process."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._rung = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins when a loop is running; calling it again does nothing."""
        if not self._tasks:
            self._tasks = [detached(self._look_on()), detached(self._listen())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def look(self, *, beat: bool = False) -> None:
        """One look: stops that were asked for elsewhere, runs that began or went on elsewhere, queues."""
        scene = Scene(dict(self._runner.stages), self._mirrors(), list(self._runner.lives))
        news = await sync_to_async(self._read)(scene, beat)
        for pk in news.to_stop:
            if (live := self._runner.lives.get(pk)) is not None:
                self._runner.cancel(live)
        # Before the next run takes the stage: a mirror that is off it gets nothing more, not even its end.
        for mirror in (*scene.mirrors, *news.begun):
            mirror.take(news.written[mirror.run.pk], is_over=mirror.run.pk in news.over)
        for mirror in news.begun:
            self._present(mirror)
        for session_pk, stage in self._runner.stages.items():
            stage.line_up(news.queues.get(session_pk, ()))
            stage.turn_to(news.moves.get(session_pk, 0))
        for session_pk in news.orphaned:
            await self._continue(session_pk)

    async def _continue(self, session_pk: int) -> None:
        try:
            await self._runner.continue_with(session_pk)
        except RunError as error:
            # One session that cannot go on must not end the heartbeat of the process.
            log.warning("continue_failed", session=session_pk, reason=str(error))

    async def _look_on(self) -> None:
        looks = 0
        while True:
            try:
                await self.look(beat=looks % BEAT_LOOKS == 0)
                if looks % SWEEP_LOOKS == 0:
                    await sync_to_async(sweep)()
            except DatabaseError as error:
                # A database that is away for a moment must not end the heartbeat of the process.
                log.warning("look_failed", kind=type(error).__name__)
            looks += 1
            self._rung.clear()
            try:
                await asyncio.wait_for(self._rung.wait(), LOOK_SECONDS)
            except TimeoutError:
                continue

    async def _listen(self) -> None:
        async for session_pk in self._runner.bell.rings():
            if session_pk in self._runner.stages:
                self._rung.set()

    def _present(self, mirror: Mirror) -> None:
        stage = self._runner.stages.get(mirror.run.session_id)
        if stage is not None and mirror.run.pk > stage.newest_run:
            stage.present(mirror)

    def _mirrors(self) -> list[Mirror]:
        feeds = (stage.feed for stage in self._runner.stages.values())
        return [feed for feed in feeds if isinstance(feed, Mirror) and not feed.is_over]

    def _read(self, scene: Scene, beat: bool) -> News:
        """All database work of one look, a handful of small queries however many sessions are watched."""
        news = News()
        mine = Run.objects.filter(pk__in=scene.lives)
        if beat:
            mine.update(heartbeat_at=timezone.now())
            news.orphaned = [*reap(self._runner.presence), *stranded()]
        if scene.lives:
            news.to_stop = set(mine.filter(stop_requested=True).values_list("pk", flat=True))
        if scene.stages:
            _read_runs(scene, news, self._runner.presence.key)
            _read_queues(scene, news)
            moves = Session.objects.filter(pk__in=scene.stages).values_list("pk", "moves")
            news.moves = dict(moves)
        return news


def sweep() -> None:
    for session in Session.objects.left_behind():
        session.erase()


def _read_runs(scene: Scene, news: News, process: str) -> None:
    floor = min(stage.newest_run for stage in scene.stages.values())
    # A run of this process is in the rows a moment before it is on the stage, and needs no mirror.
    newer = Run.objects.filter(session_id__in=scene.stages, pk__gt=floor).exclude(process=process)
    for run in newer.order_by("pk"):
        stage = scene.stages[run.session_id]
        if run.pk > stage.newest_run:
            news.begun.append(Mirror(run, stage.pulse))
    mirrors = (*scene.mirrors, *news.begun)
    mirrored = [mirror.run.pk for mirror in mirrors]
    # Whether a run is over is read before its log: the other order could miss the last events.
    over = Run.objects.filter(pk__in=mirrored).exclude(status__in=Run.ACTIVE)
    news.over = set(over.values_list("pk", flat=True)) if mirrored else set()
    news.written = {mirror.run.pk: mirror.read() for mirror in mirrors}


def _read_queues(scene: Scene, news: News) -> None:
    for message in QueuedMessage.objects.filter(session_id__in=scene.stages):
        news.queues.setdefault(message.session_id, []).append(message)
