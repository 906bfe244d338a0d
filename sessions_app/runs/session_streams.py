"""The streams of the sessions that are followed or answered in this process."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from sessions_app.database import database_sync_to_async
from sessions_app.models import QueuedMessage, Run
from sessions_app.runs.streams import RemoteRun, RunStream, SessionStream, StreamEvent


class SessionStreams(dict[int, SessionStream]):
    """Primary key of a session → its stream. `process` is the key under which this process has runs."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def open(self, session_pk: int) -> SessionStream:
        return self.setdefault(session_pk, SessionStream())

    async def follow(
        self, session_pk: int, public: UUID | None, after: int, head_version: int = 0
    ) -> AsyncGenerator[StreamEvent, None]:
        """Events of the session's runs for one viewer; endless.

        The page has the events of run `public` up to `after`; without a run it gets what begins from now on.
        `head_version` is the count it has (`events.Hello`).
        """
        stream = self.open(session_pk)
        stream.viewers += 1
        try:
            await self._load(session_pk, stream)
            feed = await self._run_stream(session_pk, stream, public) if public else stream.feed
            start = resume_position(feed, after) if public else end_position(feed)
            async with aclosing(stream.watch(feed, start, head_version)) as events:
                async for sent in events:
                    yield sent
        finally:
            stream.viewers -= 1
            self.drop_idle()

    def drop_idle(self) -> None:
        for session_pk in [pk for pk, stream in self.items() if stream.is_idle]:
            del self[session_pk]

    async def read_queue(self, session_pk: int) -> None:
        """Shows the queue to whoever follows the session."""
        stream = self.get(session_pk)
        if stream is not None:
            waiting = QueuedMessage.objects.filter(session_id=session_pk)
            stream.set_queue(await database_sync_to_async(list)(waiting))

    async def _load(self, session_pk: int, stream: SessionStream) -> None:
        """Reads what a stream without viewers does not track."""
        if stream.viewers == 1:
            newest = await database_sync_to_async(newest_run_of)(session_pk)
            stream.newest_run = max(stream.newest_run, newest)
        await self.read_queue(session_pk)

    async def _run_stream(self, session_pk: int, stream: SessionStream, public: UUID) -> RunStream | None:
        """The events of the run: of this process, of another one, or from its log."""
        if stream.feed is not None and stream.feed.public == public:
            return stream.feed
        runs = Run.objects.filter(session_id=session_pk, public=public)
        run = await database_sync_to_async(runs.first)()
        if run is None:
            return stream.feed
        if run.is_active and run.process == self._process:
            # Stored but not in the stream yet, where it will start with its first event.
            return None
        remote = RemoteRun(run, stream.broadcast)
        remote.take(await database_sync_to_async(remote.read)(), is_over=not run.is_active)
        if run.is_active:
            stream.add_run(remote)
        return remote


def resume_position(feed: RunStream | None, after: int) -> int:
    """The position of a page that has events up to `after`; it may be ahead of a killed process's log.

    The last event of a run that is over is sent again.
    """
    if feed is None:
        return -1
    return min(after, feed.last - 1) if feed.is_over else min(after, feed.last)


def end_position(feed: RunStream | None) -> int:
    """The position of a page that shows all runs that are over."""
    return feed.last if feed is not None and feed.is_over else -1


def newest_run_of(session_pk: int) -> int:
    """The newest run that is over; 0 without one. An active run is sent from its first event."""
    over = Run.objects.filter(session_id=session_pk).exclude(status__in=Run.ACTIVE)
    return over.order_by("-pk").values_list("pk", flat=True).first() or 0
