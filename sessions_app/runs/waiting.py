"""The runs that wait for a person, as the runner of a process sees them."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction

from sessions_app.database import database_sync_to_async
from sessions_app.errors import RunEnded, RunWaits
from sessions_app.events import Finished
from sessions_app.mcp_codes import Choice
from sessions_app.models import Run, RunLog
from sessions_app.runs.approvals import decide, expire
from sessions_app.runs.background import isolated
from sessions_app.runs.parking import Waiting, hold_waiting, park, parked_at, take
from sessions_app.runs.run_end import end_run
from sessions_app.runs.run_streams import LiveRun, RemoteRun

if TYPE_CHECKING:
    from sessions_app.runs.runner import Runner

log = structlog.get_logger("pipeweb.runs")


class WaitingRuns:
    """One per process. Rows decide: each of these may be tried in several processes at once."""

    def __init__(self, runner: "Runner") -> None:
        self._runner = runner
        self._parking: dict[UUID, asyncio.Event] = {}

    async def park(self, live: LiveRun, waits: RunWaits) -> None:
        """Lets go of a run of this process that waits; viewers follow its log from now on.

        Where that cannot be stored its lease expires, and it is ended like one of a dead process.
        """
        is_parked = self._parking[live.public] = asyncio.Event()
        try:
            await self._park(live, waits)
        finally:
            del self._parking[live.public]
            is_parked.set()

    async def _park(self, live: LiveRun, waits: RunWaits) -> None:
        parked = parked_at(waits.step, waits.tools, live.first)
        store = partial(park, live.run, parked, waits.turn, waits.indices, waits.expires_at)
        try:
            await self._runner.store_end(live, database_sync_to_async(store))
        except RunEnded:
            self._runner.publish_end(live, None)
            return
        remote = RemoteRun(live.run, self._runner.streams.open(live.run.session_id).broadcast)
        remote.wires.extend(live.wires)
        self._runner.streams.open(live.run.session_id).replace(live, remote)
        self._runner.notifier.notify([live.run.session_id])
        if live.stopping:
            await self.stop(live.run.session_id, live.public)

    async def decide(self, session_pk: int, public: UUID, step: int, index: int, choice: Choice) -> None:
        """No effect where the ask is over; the last answer lets the run go on, here."""
        # Pages have an ask before its row, which waits while the database takes no writes.
        if (is_parked := self._parking.get(public)) is not None:
            await is_parked.wait()
        run_pk = await database_sync_to_async(decide)(session_pk, public, step, index, choice)
        if run_pk is not None:
            await self._show(session_pk, public)
            await self.go_on(run_pk)
            self._runner.notifier.notify([session_pk])

    async def stop(self, session_pk: int, public: UUID) -> bool:
        """Whether it waited, and is stopped."""
        waiting = Run.objects.filter(session_id=session_pk, public=public, status=Run.Status.WAITING)
        run_pk = await database_sync_to_async(waiting.values_list("pk", flat=True).first)()
        if run_pk is None or await database_sync_to_async(_end)(run_pk) is None:
            return False
        await self._show(session_pk, public, is_over=True)
        self._runner.notifier.notify([session_pk])
        return True

    async def go_on(self, run_pk: int) -> None:
        """Takes the run where all is answered and there is a place for it."""
        if self._runner.launches.are_closed:
            return
        with self._runner.launches.one():
            run = await database_sync_to_async(take)(run_pk, self._runner.process_lock.key)
            if run is not None:
                rows = await database_sync_to_async(list)(RunLog.objects.after(run.pk, -1))
                self._runner.go_on(run, [wire for row in rows for wire in row.wires])

    async def settle(self, found: Waiting) -> None:
        """What a poll has read."""
        for run_pk in found.to_end:
            with isolated("waiting_not_ended", run=run_pk):
                await database_sync_to_async(_end)(run_pk)
        for run_pk in found.late:
            with isolated("asks_not_expired", run=run_pk):
                await database_sync_to_async(expire)(run_pk)
        for run_pk in (*found.late, *found.answered):
            with isolated("waiting_not_taken", run=run_pk):
                await self.go_on(run_pk)

    async def _show(self, session_pk: int, public: UUID, *, is_over: bool = False) -> None:
        """Shows the news to the viewers of this process at once; others are notified, or poll."""
        stream = self._runner.streams.get(session_pk)
        feed = stream.feed if stream is not None else None
        if isinstance(feed, RemoteRun) and feed.public == public:
            feed.take(await database_sync_to_async(feed.read)(), is_over=is_over)


@transaction.atomic
def _end(run_pk: int) -> Finished | None:
    """Stops a run that waits; its calls are “not run”, and it can be resumed."""
    try:
        hold_waiting(run_pk)
    except RunEnded:
        return None
    return end_run(run_pk, Run.Status.STOPPED)
