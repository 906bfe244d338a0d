"""The life of explicit caches: what happened to an entry, and what had become of its cache by a moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sessions_app.prompt.caching import EXPIRY_MARGIN, EntryReason, PlanReason
from sessions_app.prompt.stored import Code


class CacheEventKind(Code):
    """What happened to a cache entry.

    `PLANNED`: a run claimed its making. `NOT_MADE`: that failed, nobody refused it. `NAMED`: an exchange was
    answered from it. `ROLLED_OVER`: the history of a session moved on, to a longer static layer. `LEFT`: a
    session gave it up that others use. `DROPPED`: we let go of it. `KEPT`: a request named what we had let
    go of, before it was deleted. `DELETED`: the provider no longer has what we let go of. `GONE`: the
    provider no longer had it, without our doing.
    """

    PLANNED = "planned"
    NOT_MADE = "not_made"
    REFUSED = "refused"
    MADE = "made"
    NAMED = "named"
    EXTENDED = "extended"
    ROLLED_OVER = "rolled_over"
    LEFT = "left"
    DROPPED = "dropped"
    KEPT = "kept"
    DELETED = "deleted"
    EXPIRED = "expired"
    GONE = "gone"
    UNKNOWN = "unknown"


class FateKind(Code):
    """What became of the cache that a request might have named.

    `LIVES`: nothing that we know of. `UNUSED`: the same, and the plan was not to name it. `OTHER_BYTES`: it
    was of other bytes, or of another route, than this request. `UNKNOWN`: nothing is recorded of it.
    """

    LIVES = "lives"
    EXPIRED = "expired"
    DROPPED = "dropped"
    GONE = "gone"
    UNUSED = "unused"
    OTHER_BYTES = "other_bytes"
    UNKNOWN = "unknown"


class CacheMoment(NamedTuple):
    """One event of a cache entry; `name` is that of the cache, `expires` its end as known from then on."""

    kind: CacheEventKind
    at: datetime
    name: str = ""
    expires: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CacheFate:
    """`reason` is why we dropped it, `plan` why it was not named. `seconds` lay between its end and the
    request; negative when it was about to expire.
    """

    kind: FateKind
    name: str = ""
    reason: EntryReason | None = None
    plan: PlanReason | None = None
    seconds: float = 0.0


_BEGINNINGS = {CacheEventKind.MADE, CacheEventKind.NAMED, CacheEventKind.EXTENDED, CacheEventKind.KEPT}
_ENDS = {
    CacheEventKind.DROPPED: FateKind.DROPPED,
    CacheEventKind.DELETED: FateKind.DROPPED,
    CacheEventKind.EXPIRED: FateKind.EXPIRED,
    CacheEventKind.GONE: FateKind.GONE,
}


class _Life(NamedTuple):
    """One cache from its making to its end; `ended` is None while it lives."""

    name: str
    expires: datetime | None
    ended: datetime | None = None
    kind: FateKind = FateKind.LIVES
    reason: EntryReason | None = None

    def at(self, moment: datetime) -> "_Life":
        """The same, ended by the clock if it had expired by then."""
        if self.ended is None and self.expires is not None and self.expires <= moment:
            return self._replace(ended=self.expires, kind=FateKind.EXPIRED)
        return self

    def after(self, event: CacheMoment) -> "_Life":
        life = self.at(event.at)
        if life.ended is not None or event.kind not in _ENDS:
            return life
        reason = EntryReason(event.reason) if event.reason else None
        return life._replace(ended=event.at, kind=_ENDS[event.kind], reason=reason)


def fate_between(events: Sequence[CacheMoment], since: datetime, until: datetime) -> CacheFate | None:
    """What had become by `until` of the newest cache of an entry that lived at some time from `since` on.

    `events` are those of one entry, in order; later ones are ignored. None when none lived. A cache that
    expires within EXPIRY_MARGIN counts as expired: no request would have named it.
    """
    newest: _Life | None = None
    for event in events:
        if event.at > until:
            break
        if event.kind in _BEGINNINGS:
            newest = _begun(newest, event)
        elif newest is not None:
            newest = newest.after(event)
    if newest is None:
        return None
    newest = newest.at(until + EXPIRY_MARGIN)
    if newest.ended is not None and newest.ended < since:
        return None
    seconds = (until - newest.ended).total_seconds() if newest.ended else 0.0
    return CacheFate(newest.kind, newest.name, newest.reason, seconds=round(seconds, 3))


def _begun(life: _Life | None, event: CacheMoment) -> _Life:
    """A cache that is made, or found alive: whoever names or extends one proves that it lives."""
    is_same = life is not None and life.name == event.name and life.ended is None
    expires = event.expires or (life.expires if life is not None and is_same else None)
    is_dropped = life is not None and life.name == event.name and life.kind is FateKind.DROPPED
    if life is not None and is_dropped and event.kind is not CacheEventKind.KEPT:
        # A run that used it names it until it ends, though we have let go of it.
        return life._replace(ended=event.at)
    return _Life(event.name, expires)


def unused(fate: CacheFate, plan: PlanReason) -> CacheFate:
    """A cache that lived as far as we know, beside a plan that did not name it."""
    return CacheFate(FateKind.UNUSED, fate.name, plan=plan)


def moments(rows: Sequence[tuple[Any, ...]]) -> list[CacheMoment]:
    """Events from rows of kind, time, name, expiry and reason."""
    return [CacheMoment(CacheEventKind(kind), *rest) for kind, *rest in rows]
