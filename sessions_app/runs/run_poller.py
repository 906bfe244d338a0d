"""Polls the rows for what other processes did, and renews the leases of this process's runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

import structlog
from django.utils import timezone

from sessions_app.context.mcp_logs import delete_old_logs
from sessions_app.context.storage import count_stored, old_counts
from sessions_app.database import database_sync_to_async
from sessions_app.errors import RunError
from sessions_app.models import CapturedRequest, QueuedMessage, Reservation, Run, RunLog, Session, SharedLink
from sessions_app.runs.background import BackgroundTask, detached, is_set_within, isolated, readable
from sessions_app.runs.parking import Waiting, read_waiting
from sessions_app.runs.processes import (
    LeaseWatch,
    abandoned_runs,
    end_abandoned_run,
    sessions_left_waiting,
)
from sessions_app.runs.retention import carry_out, due_now, report
from sessions_app.runs.run_streams import RemoteRun
from sessions_app.runs.runner import Runner
from sessions_app.runs.session_streams import SessionStream
from sessions_app.runs.stream_queries import head_versions, newer_runs, queues_of, runs_to_stop

POLL_SECONDS = 1.0
"""Time between polls without a notification."""

HEARTBEAT_POLLS = 4
"""Polls between two heartbeats, which renew leases and end the runs of dead processes."""

REAP_PAUSE = 0.1
"""Seconds between the ends of two runs of dead processes: others hardly wait, however many there are."""

ERASE_POLLS = 900
"""Polls between two deletions of abandoned temporary sessions."""

RETENTION_POLLS = 3_600
"""Polls between two rounds of the rules of retention."""

log = structlog.get_logger("pipeweb.runs")


@dataclass(frozen=True, slots=True)
class LocalState:
    """The streams and runs of this process when the poll began."""

    streams: dict[int, SessionStream]
    remotes: list[RemoteRun]
    live_runs: list[int]


@dataclass
class Changes:
    """The result of one poll."""

    to_stop: set[int] = field(default_factory=set)
    new_runs: list[RemoteRun] = field(default_factory=list)
    logs: dict[int, list[RunLog]] = field(default_factory=dict)
    ended_runs: set[int] = field(default_factory=set)
    queues: dict[int, list[QueuedMessage]] = field(default_factory=dict)
    head_version: dict[int, int] = field(default_factory=dict)
    abandoned_runs: list[int] = field(default_factory=list)
    to_continue: list[int] = field(default_factory=list)
    waiting: Waiting = field(default_factory=Waiting)


class RunPoller:
    """Polls once a second, and at once after a notification. One per process."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._wake = asyncio.Event()
        self._polls = BackgroundTask("poller_ended", self._poll_forever)
        self._notifications = BackgroundTask("listener_ended", self._listen)
        self._reaper: asyncio.Task[None] | None = None
        self._leases = LeaseWatch()
        self._polled_at = self._beat_at = monotonic()

    def start(self) -> None:
        """Begins when a loop is running; calling it again does nothing."""
        self._polls.start()
        self._notifications.start()

    @property
    def poll_age(self) -> float:
        """Seconds since the last poll ended, well or not: whether this process still works."""
        return monotonic() - self._polled_at

    @property
    def heartbeat_age(self) -> float:
        """Seconds since the leases of this process's runs were last renewed."""
        return monotonic() - self._beat_at

    async def stop(self) -> None:
        await self._polls.stop()
        await self._notifications.stop()
        if self._reaper is not None:
            self._reaper.cancel()
            await asyncio.gather(self._reaper, return_exceptions=True)

    async def poll(self, *, is_heartbeat: bool = False) -> None:
        """Applies what other processes wrote: stop requests, runs, queues, the branch in view."""
        state = LocalState(dict(self._runner.streams), self._remotes(), list(self._runner.live_runs))
        changes = await database_sync_to_async(self._read)(state, is_heartbeat)
        for pk in changes.to_stop:
            if (live := self._runner.live_runs.get(pk)) is not None:
                self._runner.cancel(live)
        self._show(state, changes)
        if changes.abandoned_runs and (self._reaper is None or self._reaper.done()):
            self._reaper = detached(self._end_abandoned(changes.abandoned_runs))
        for session_pk in changes.to_continue:
            await self._continue(session_pk)
        await self._runner.waiting.settle(changes.waiting)

    def _show(self, state: LocalState, changes: Changes) -> None:
        """Passes on to the streams of this process what others wrote."""
        # Before new runs are added: a replaced remote run gets no more events, not even its end.
        for remote in (*state.remotes, *changes.new_runs):
            with isolated("remote_run_failed", run=str(remote.public)):
                rows = changes.logs.get(remote.run.pk, [])
                remote.take(rows, is_over=remote.run.pk in changes.ended_runs)
        for remote in changes.new_runs:
            self._add_run(remote)
        for session_pk, stream in self._runner.streams.items():
            if session_pk in changes.queues:
                stream.set_queue(changes.queues[session_pk])
            stream.set_head_version(changes.head_version.get(session_pk, 0))
        # A run of another process may have ended after its last viewer here left.
        self._runner.streams.drop_idle([*self._runner.streams])

    async def _end_abandoned(self, runs: Sequence[int]) -> None:
        """One by one, beside the polls. What waits in their queues waits for the person, as after a stop."""
        for pk in runs:
            with isolated("reap_failed", run=pk):
                await database_sync_to_async(end_abandoned_run)(pk)
            await asyncio.sleep(REAP_PAUSE)

    async def _continue(self, session_pk: int) -> None:
        with isolated("continue_failed", session=session_pk):
            try:
                await self._runner.continue_with(session_pk)
            except RunError as error:
                log.warning("continue_failed", session=session_pk, reason=str(error))

    async def _poll_forever(self) -> None:
        polls = 0
        while True:
            with isolated("poll_failed"):
                await self.poll(is_heartbeat=polls % HEARTBEAT_POLLS == 0)
            if polls % ERASE_POLLS == 0:
                with isolated("erase_failed"):
                    await database_sync_to_async(erase_left_behind)()
                    await count_storage()
            if polls % RETENTION_POLLS == 0:
                with isolated("retention_failed"):
                    await apply_retention()
            polls += 1
            self._polled_at = monotonic()
            self._wake.clear()
            await is_set_within(self._wake, POLL_SECONDS)

    async def _listen(self) -> None:
        async for session_pks in self._runner.notifier.listen():
            if not session_pks.isdisjoint(self._runner.streams):
                self._wake.set()

    def _add_run(self, remote: RemoteRun) -> None:
        stream = self._runner.streams.get(remote.run.session_id)
        # Until it is loaded, every earlier run of the session would be new to it.
        if stream is not None and stream.is_loaded and remote.run.pk > stream.newest_run:
            stream.add_run(remote)

    def _remotes(self) -> list[RemoteRun]:
        feeds = (stream.feed for stream in self._runner.streams.values())
        return [feed for feed in feeds if isinstance(feed, RemoteRun) and not feed.is_over]

    def _read(self, state: LocalState, is_heartbeat: bool) -> Changes:
        """All queries of one poll; their number does not depend on the number of sessions.

        What fails is left as it was, and keeps nothing else from being read.
        """
        changes = Changes()
        if is_heartbeat:
            self._beat(state, changes)
        if state.live_runs:
            with isolated("stops_not_read"):
                changes.to_stop = runs_to_stop(state.live_runs)
        if state.streams:
            with isolated("runs_not_read"):
                _read_runs(state, changes, self._runner.process_lock.key)
            with isolated("queues_not_read"):
                changes.queues = queues_of(state.streams)
            with isolated("heads_not_read"):
                changes.head_version = head_versions(state.streams)
        return changes

    def _beat(self, state: LocalState, changes: Changes) -> None:
        with isolated("leases_not_renewed"):
            Run.objects.filter(pk__in=state.live_runs).update(heartbeat_at=timezone.now())
            self._beat_at = monotonic()
        with isolated("reap_failed"):
            # Its own may look so where it could not renew them: the database takes no writes, but is read.
            abandoned = abandoned_runs(self._runner.process_lock, self._leases)
            changes.abandoned_runs = sorted({*abandoned} - {*state.live_runs})
        with isolated("asks_not_read"):
            changes.waiting = read_waiting()
        with isolated("waiting_not_read"):
            changes.to_continue += sessions_left_waiting()


def erase_left_behind() -> None:
    for expired in (Session.objects.expired_temporary(), Session.objects.expired_captured()):
        for session in readable(expired, "erase_failed"):
            with isolated("erase_failed", session=str(session)):
                # It may have been used while those before it were erased.
                if expired.filter(pk=session.pk).exists():
                    session.erase()
    with isolated("links_not_erased"):
        SharedLink.objects.expired().revoke()
    with isolated("captured_not_erased"):
        CapturedRequest.objects.expired().erase()
    with isolated("reservations_not_released"):
        Reservation.objects.expired().delete()
    with isolated("logs_not_deleted"):
        delete_old_logs()


async def count_storage() -> None:
    """Renews old counts one by one, so that other work of the database thread passes in between."""
    for user_id in await database_sync_to_async(old_counts)():
        with isolated("count_failed", user=user_id):
            await database_sync_to_async(count_stored)(user_id)


async def apply_retention() -> None:
    """Takes away what is due session by session, so that other work of the database thread passes between."""
    found = []
    for due in await database_sync_to_async(due_now)():
        with isolated("retention_failed", session=due.session):
            found.append(await database_sync_to_async(carry_out)(due))
    await database_sync_to_async(report)(found)


def _read_runs(state: LocalState, changes: Changes, process: str) -> None:
    floor = min(stream.newest_run for stream in state.streams.values())
    for run in newer_runs(state.streams, floor, process):
        stream = state.streams[run.session_id]
        if run.pk > stream.newest_run:
            changes.new_runs.append(RemoteRun(run, stream.broadcast))
    remotes = (*state.remotes, *changes.new_runs)
    mirrored = [remote.run.pk for remote in remotes]
    # The status is read before the log; the other order could miss the last events.
    ended_runs = Run.objects.filter(pk__in=mirrored).exclude(status__in=Run.ACTIVE)
    changes.ended_runs = set(ended_runs.values_list("pk", flat=True)) if mirrored else set()
    for remote in remotes:
        with isolated("remote_run_failed", run=str(remote.public)):
            changes.logs[remote.run.pk] = remote.read()
