"""The life of the caches that a session depends on: what had become of one, and whether it is legal."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from sessions_app.audit.differences import Figure, Finding
from sessions_app.audit.rows import Row, SessionRows
from sessions_app.models import CacheEvent

MARGIN = timedelta(seconds=10)
"""A cache that expires sooner is not named."""

PROOFS = {"made", "named", "extended", "kept"}
ENDS = {"dropped": "dropped", "deleted": "dropped", "expired": "expired", "gone": "gone"}

LEGAL: dict[str, dict[str, str]] = {
    "none": {"planned": "planned"},
    "planned": {"planned": "planned", "made": "live", "refused": "none", "not_made": "none"},
    "live": {
        "named": "live", "extended": "live", "rolled_over": "live", "left": "live", "refused": "none",
        "dropped": "dropped", "expired": "over", "gone": "over", "planned": "planned",
    },
    "dropped": {
        "named": "dropped", "extended": "dropped", "dropped": "dropped", "deleted": "over", "gone": "over",
        "planned": "planned", "refused": "none", "kept": "live",
    },
    "over": {"planned": "planned", "refused": "none", "gone": "over", "deleted": "over"},
}  # fmt: skip
"""By state of an entry the events that may follow, with the state after each. A run that uses a cache goes on
naming it when we have let go of it."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What had become of a cache: `end` is lives, expired, dropped or gone."""

    name: str
    end: str
    reason: str
    ended: datetime | None


# No slots here: the cached property needs the instance dictionary.
@dataclass(frozen=True)
class CacheRows:
    """The events of the entries that a session's exchanges could have named."""

    rows: SessionRows

    @cached_property
    def events(self) -> Mapping[str, Sequence[Row]]:
        """By fingerprint, in order."""
        wanted = {exchange["fingerprint"] for exchange in self.rows.exchanges} - {""}
        found: dict[str, list[Row]] = defaultdict(list)
        listed = CacheEvent.objects.filter(entry__fingerprint__in=wanted).order_by("at", "pk")
        columns = "entry__fingerprint", "kind", "at", "name", "expires", "reason", "exchange"
        for event in listed.values(*columns):
            found[event["entry__fingerprint"]].append(event)
        return found

    def fate(self, fingerprint: str, since: datetime, until: datetime, name: str = "") -> Fate | None:
        """The fate of the newest cache by `until`, or of that called `name`; None where none lived since."""
        events = self.events.get(fingerprint, ())
        return fate_of([event for event in events if not name or event["name"] == name], since, until)


@dataclass(slots=True)
class Newest:
    """The newest cache of an entry, while its events are read in order."""

    name: str = ""
    end: str = ""
    reason: str = ""
    ended: datetime | None = None
    expires: datetime | None = None

    def take(self, event: Row) -> None:
        if event["kind"] not in PROOFS:
            self.pass_time(event["at"])
            if self.name and not self.end and event["kind"] in ENDS:
                self.end, self.ended, self.reason = ENDS[event["kind"]], event["at"], event["reason"]
        elif self.name == event["name"] and self.end == "dropped" and event["kind"] != "kept":
            self.ended = event["at"]
        else:
            known = self.expires if self.name == event["name"] and not self.end else None
            self.name, self.end, self.reason, self.ended = event["name"], "", "", None
            self.expires = event["expires"] or known

    def pass_time(self, moment: datetime) -> None:
        if not self.end and self.expires and self.expires <= moment:
            self.end, self.ended = "expired", self.expires


def fate_of(events: Sequence[Row], since: datetime, until: datetime) -> Fate | None:
    newest = Newest()
    for event in events:
        if event["at"] <= until:
            newest.take(event)
    newest.pass_time(until + MARGIN)
    if not newest.name or (newest.ended is not None and newest.ended < since):
        return None
    return Fate(newest.name, newest.end or "lives", newest.reason, newest.ended)


def named_findings(caches: CacheRows, exchange: Row) -> Iterator[Finding]:
    """Every exchange answered from a cache that it named has one event that says so, and no other has one.

    The event is written with the end of the answer: of one that is still coming nothing is due.
    """
    if exchange["ended_at"] is None:
        return
    everywhere = (event for events in caches.events.values() for event in events)
    stored = [
        (event["entry__fingerprint"], event["name"])
        for event in everywhere
        if event["kind"] == "named" and event["exchange"] == exchange["id"]
    ]
    is_named = exchange["cache_name"] and (exchange["usage"] or any(caches.rows.chunks(exchange)))
    events = caches.events.get(exchange["fingerprint"], ())
    if is_named and exchange["id"] in caches.rows.captured:
        # Of a cache whose making was not captured nothing is known.
        is_named = any(event["name"] == exchange["cache_name"] for event in events if event["kind"] == "made")
    if is_named and not stored:
        is_named = not is_before_events(events, exchange["ended_at"])
    found = [(exchange["fingerprint"], exchange["cache_name"])] if is_named else []
    yield Figure.NAMED_EVENTS, stored, found


def is_told(events: Sequence[Row]) -> bool:
    """Whether migration 0027 told the entry from earlier rows: a making without plan and cause."""
    return bool(events) and events[0]["kind"] == "made" and events[0]["exchange"] is None


def is_before_events(events: Sequence[Row], moment: datetime) -> bool:
    """Whether the moment was before a version kept events of the entry; who named it then is not known."""
    return is_told(events) and all(event["at"] > moment for event in events if event["exchange"] is not None)


def life_findings(caches: CacheRows) -> Iterator[Finding]:
    """The first event of each entry that could not follow the one before it."""
    for events in caches.events.values():
        illegal = first_illegal(events)
        if illegal is not None:
            state, event = illegal
            yield Figure.CACHE_LIFE, f"{event['kind']} after {state}", sorted(LEGAL[state])


def first_illegal(events: Sequence[Row]) -> tuple[str, Row] | None:
    state, expires = "planned" if is_told(events) else "none", None
    for event in events:
        is_over = expires is not None and expires <= event["at"] and event["kind"] == "named"
        if is_over or event["kind"] not in LEGAL[state]:
            return ("over" if is_over else state), event
        state = LEGAL[state][event["kind"]]
        if event["kind"] in PROOFS:
            expires = event["expires"] or expires
        elif state != "live":
            expires = None
    return None
