"""What the viewers of one session look at: the newest run, and the messages that wait."""

from collections.abc import AsyncGenerator, Iterable
from uuid import UUID

from sessions_app.events import Moved, Queue, Queued, Titled
from sessions_app.models import QueuedMessage, Run, RunLog
from sessions_app.runs.live import Feed, Link, Pulse

Sent = tuple[Feed | None, int, str]
"""The feed an event belongs to (None for what is no run's), its `seq`, and the event as it is sent."""


class Mirror(Feed):
    """A run of another process, read from its log."""

    def read(self) -> "list[RunLog]":
        """Database work: the rows that are not here yet."""
        return list(RunLog.objects.after(self.run.pk, self.last))

    def take(self, rows: Iterable[RunLog], *, is_over: bool) -> None:
        """Adds what is new; a row may repeat events when its process died between two flushes."""
        for row in rows:
            self.extend(row.wires[self.last + 1 - row.seq_from :])
        if is_over and not self.is_over:
            self.extend([], is_over=True)


class Stage:
    """Lives while a session has viewers or a run of this process."""

    def __init__(self) -> None:
        self.pulse = Pulse()
        self.end: Link = Link()
        self.newest_run = 0
        self.viewers = 0
        self.queue: list[tuple[str, str, int]] = []
        self.queue_version = 0
        self.moves = 0
        self.title = ""

    @property
    def feed(self) -> Feed | None:
        """The newest run, if any was presented."""
        return self.end if isinstance(self.end, Feed) else None

    @property
    def is_idle(self) -> bool:
        return not self.viewers and (self.feed is None or self.feed.is_over)

    def present(self, feed: Feed) -> None:
        """A run begins: everyone who looks gets it from its first event."""
        self.end.next = feed
        self.end = feed
        self.newest_run = max(self.newest_run, feed.run.pk)
        self.pulse.beat()

    def line_up(self, waiting: Iterable[QueuedMessage]) -> None:
        queue = [(str(message.client_id), message.text, message.files) for message in waiting]
        if queue != self.queue:
            self.queue, self.queue_version = queue, self.queue_version + 1
            self.pulse.beat()

    def turn_to(self, moves: int) -> None:
        """Another branch may be in view: `moves` is the session's count."""
        if moves > self.moves:
            self.moves = moves
            self.pulse.beat()

    def entitle(self, title: str) -> None:
        """The session has another title than the page was told of."""
        self.title = title
        self.pulse.beat()

    async def watch(self, feed: Feed | None, after: int, moves: int = 0) -> AsyncGenerator[Sent, None]:
        """Events for one viewer, whose page has those of `feed` up to `after` and shows the branch that
        was in view after `moves` moves; never ends by itself."""
        version, title = 0, self.title
        place: Link = feed or self.end
        while True:
            if moves < self.moves:
                moves = self.moves
                yield None, 0, Moved(moves=moves).wire()
                continue
            if title != self.title:
                title = self.title
                yield None, 0, Titled(title=title).wire()
                continue
            if version != self.queue_version:
                version = self.queue_version
                yield None, 0, self._queue_wire()
                continue
            if isinstance(place, Feed) and after < place.last:
                after += 1
                yield place, after, place.wires[after]
                continue
            following = self._after(place)
            if following is not None:
                place, after = following, -1
                continue
            await self.pulse.wait()

    def _after(self, place: Link) -> Feed | None:
        """The run to show next, once the one in view is over; none is skipped, however fast they came."""
        if not isinstance(place, Feed):
            return place.next
        if not place.is_over:
            return None
        newest = self.feed
        return place.next or (newest if newest is not None and newest.run.pk > place.run.pk else None)

    def _queue_wire(self) -> str:
        messages = [Queued(client_id=UUID(key), text=text, files=files) for key, text, files in self.queue]
        return Queue(messages=messages).wire()


def rejoin(feed: Feed | None, after: int) -> int:
    """Where a page goes on that has events up to `after`. It can be ahead of the log of a killed
    process; the end of a run that is over is shown again, so that no page waits for it in vain."""
    if feed is None:
        return -1
    return min(after, feed.last - 1) if feed.is_over else min(after, feed.last)


def from_now(feed: Feed | None) -> int:
    """Where a page goes on that shows everything that is over."""
    return feed.last if feed is not None and feed.is_over else -1


def newest_run_of(session_pk: int) -> int:
    """The newest run that is over. One that is going on may have begun after the page was told that
    none is, and must still come to it from its first event."""
    over = Run.objects.filter(session_id=session_pk).exclude(status__in=Run.ACTIVE)
    return over.order_by("-pk").values_list("pk", flat=True).first() or 0
