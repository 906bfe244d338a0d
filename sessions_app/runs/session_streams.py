"""The streams of the sessions that are followed or answered in this process."""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from functools import partial
from uuid import UUID

from sessions_app.database import database_sync_to_async
from sessions_app.events import Moved, Queue, Queued, Titled
from sessions_app.models import QueuedMessage, Run
from sessions_app.runs.run_streams import Broadcast, RemoteRun, RunStream, StreamNode
from sessions_app.runs.stream_queries import newest_run_and_queue, queue_of

StreamEvent = tuple[RunStream | None, int, str]
"""The run of the event (None for events of the session), its `seq`, and the event as JSON."""

Sink = Callable[[Iterable[StreamEvent]], int]
"""Sends events without waiting, where they are made; returns how many of the first ones it sent."""


class SessionStream:
    """The runs, the queue, the title and the branch count of a session that has viewers or a run here."""

    def __init__(self) -> None:
        self.broadcast = Broadcast()
        self.end: StreamNode = StreamNode()
        self.newest_run = 0
        self.is_loaded = False
        self.viewers = 0
        self.queue: list[tuple[str, str, int]] = []
        self.queue_version = 0
        self.head_version = 0
        self.title = ""

    @property
    def feed(self) -> RunStream | None:
        """The newest run, if any."""
        return self.end if isinstance(self.end, RunStream) else None

    @property
    def is_idle(self) -> bool:
        return not self.viewers and (self.feed is None or self.feed.is_over)

    def add_run(self, feed: RunStream) -> None:
        """Appends a run; all viewers get it from its first event."""
        self.end.next = feed
        self.end = feed
        self.newest_run = max(self.newest_run, feed.run.pk)
        self.broadcast.wake_all()

    def continue_run(self, now: RunStream) -> None:
        """A run that waited goes on here: in the place of what its viewers follow."""
        if self.feed is not None and self.feed.public == now.public:
            self.replace(self.feed, now)
        else:
            self.add_run(now)

    def replace(self, earlier: RunStream, now: RunStream) -> None:
        """Puts the stream of the same run in the place of another, for every viewer."""
        earlier.replaced_by = now
        if self.end is earlier:
            self.end = now
        self.newest_run = max(self.newest_run, now.run.pk)
        self.broadcast.wake_all()

    def set_queue(self, waiting: Iterable[QueuedMessage]) -> None:
        queue = [(str(message.client_id), message.text, message.files) for message in waiting]
        if queue != self.queue:
            self.queue, self.queue_version = queue, self.queue_version + 1
            self.broadcast.wake_all()

    def set_head_version(self, head_version: int) -> None:
        """Sets the number of changes of the branch in view (`Session.head_version`)."""
        if head_version > self.head_version:
            self.head_version = head_version
            self.broadcast.wake_all()

    def set_title(self, title: str) -> None:
        self.title = title
        self.broadcast.wake_all()

    def next_run(self, node: StreamNode) -> RunStream | None:
        """The next run once this one is over; none is skipped."""
        if not isinstance(node, RunStream):
            return node.next
        if not node.is_over:
            return None
        newest = self.feed
        return node.next or (newest if newest is not None and newest.run.pk > node.run.pk else None)

    def queue_wire(self) -> str:
        messages = [Queued(client_id=UUID(key), text=text, files=files) for key, text, files in self.queue]
        return Queue(messages=messages).wire()


class Viewer:
    """What one viewer of a session has been given: by default the runs that are over now."""

    def __init__(self, stream: SessionStream, head_version: int = 0) -> None:
        self._stream = stream
        self._node: StreamNode = stream.end
        self._after = end_position(stream.feed)
        self._head_version, self._queue_version, self._title = head_version, 0, stream.title
        self._unsent: deque[StreamEvent] = deque()

    def resume(self, feed: RunStream, after: int) -> None:
        """Goes on from the event `after` of the run, which may be ahead of a killed process's log."""
        self._node, self._after = feed, resume_position(feed, after)

    async def events(self, sink: Sink | None = None) -> AsyncGenerator[StreamEvent, None]:
        """Whatever is new; endless. It is offered to the `sink` first; what that sends is not yielded."""
        while True:
            if (event := self.take()) is not None:
                yield event
            elif sink is None:
                await self._stream.broadcast.wait()
            else:
                await self._stream.broadcast.wait(partial(self.pour_into, sink))

    def take(self) -> StreamEvent | None:
        """The next event, if there is one."""
        if not self._unsent:
            self._collect()
        return self._unsent.popleft() if self._unsent else None

    def pour_into(self, sink: Sink) -> bool:
        """Offers all that there is; whether the sink sent it. The rest is taken in its order."""
        self._collect()
        unsent = self._unsent
        for _ in range(sink(unsent) if unsent else 0):
            unsent.popleft()
        return not unsent

    def _collect(self) -> None:
        """Adds what is new: of the session, of the run, and of those that follow it."""
        self._collect_of_session()
        node: StreamNode | None = self._node
        while node is not None:
            if isinstance(node, RunStream) and node.replaced_by is not None:
                node = node.replaced_by
                continue
            if isinstance(node, RunStream):
                wires = node.wires
                for seq in range(self._after + 1, len(wires)):
                    self._unsent.append((node, seq, wires[seq]))
                    self._after = seq
            self._node = node
            node = self._stream.next_run(node)
            if node is not None:
                self._after = -1

    def _collect_of_session(self) -> None:
        stream, add = self._stream, self._unsent.append
        if self._head_version < stream.head_version:
            self._head_version = stream.head_version
            add((None, 0, Moved(head_version=self._head_version).wire()))
        if self._title != stream.title:
            self._title = stream.title
            add((None, 0, Titled(title=self._title).wire()))
        if self._queue_version != stream.queue_version:
            self._queue_version = stream.queue_version
            add((None, 0, stream.queue_wire()))


class SessionStreams(dict[int, SessionStream]):
    """Primary key of a session → its stream. `process` is the key under which this process has runs."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def open(self, session_pk: int) -> SessionStream:
        return self.setdefault(session_pk, SessionStream())

    async def follow(
        self,
        session_pk: int,
        public: UUID | None,
        after: int,
        head_version: int = 0,
        sink: Sink | None = None,
    ) -> AsyncGenerator[StreamEvent, None]:
        """Events of the session's runs for one viewer; endless. Those that `sink` sends are not yielded.

        The page has the events of run `public` up to `after`; without a run it gets what begins from now on.
        `head_version` is the count it has (`events.Hello`).
        """
        stream = self.open(session_pk)
        stream.viewers += 1
        # Before rows are read: a run may begin and end meanwhile.
        viewer = Viewer(stream, head_version)
        try:
            await self._load(session_pk, stream)
            if public and (feed := await self._run_stream(session_pk, stream, public)) is not None:
                viewer.resume(feed, after)
            async with aclosing(viewer.events(sink)) as events:
                async for sent in events:
                    yield sent
        finally:
            stream.viewers -= 1
            self.drop_idle([session_pk])

    def drop_idle(self, session_pks: Iterable[int]) -> None:
        """Forgets those of these sessions that have neither viewers nor a run."""
        for session_pk in session_pks:
            stream = self.get(session_pk)
            if stream is not None and stream.is_idle:
                del self[session_pk]

    async def read_queue(self, session_pk: int) -> None:
        """Shows the queue to whoever follows the session."""
        stream = self.get(session_pk)
        if stream is not None:
            stream.set_queue(await database_sync_to_async(queue_of)(session_pk))

    async def _load(self, session_pk: int, stream: SessionStream) -> None:
        """Reads what a stream without viewers does not track, for the first or the next where that failed."""
        if stream.viewers > 1 and stream.is_loaded:
            await self.read_queue(session_pk)
            return
        newest, waiting = await database_sync_to_async(newest_run_and_queue)(session_pk)
        stream.newest_run = max(stream.newest_run, newest)
        stream.is_loaded = True
        stream.set_queue(waiting)

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
        # Another viewer, or a poll, may have added it meanwhile: a second stream of it would be fed no more.
        if stream.feed is not None and stream.feed.public == public:
            return stream.feed
        if run.is_active:
            stream.add_run(remote)
        return remote


def resume_position(feed: RunStream, after: int) -> int:
    """The position of a page that has events up to `after`; it may be ahead of a killed process's log.

    The last event of a run that is over is sent again.
    """
    return min(after, feed.last - 1) if feed.is_over else min(after, feed.last)


def end_position(feed: RunStream | None) -> int:
    """The position of a page that shows all runs that are over."""
    return feed.last if feed is not None and feed.is_over else -1
