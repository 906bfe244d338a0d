"""Selections of cache entries, and every change of their state, each with its events."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from sessions_app.models.cache_event import NOBODY, CacheEvent, CausedBy
from sessions_app.models.cache_states import (
    AT_PROVIDER,
    EXPIRY_GRACE,
    LEASE,
    EntryState,
    is_free,
    is_unleased,
    may_be_kept,
)
from sessions_app.models.columns import storable
from sessions_app.models.prepared import Change, Parameter, insert
from sessions_app.models.run import Run
from sessions_app.prompt import caching
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import EntryReason

if TYPE_CHECKING:
    from sessions_app.models.cache import CacheEntry
    from sessions_app.models.exchange import Exchange


class CacheEntryQuerySet(models.QuerySet["CacheEntry"]):
    def locked(self) -> Self:
        """In one order, until the end of the transaction; rows that name them are stored meanwhile."""
        return self.order_by("pk").select_for_update(of=("self",), no_key=True)

    def live(self) -> Self:
        return self.filter(state=EntryState.LIVE)

    def ours(self) -> Self:
        """Without those that captured programs made, which are theirs to extend and delete."""
        return self.filter(is_programs=False)

    def at_provider(self) -> Self:
        """Entries whose cache exists there, also when it is to be deleted."""
        return self.filter(state__in=AT_PROVIDER)

    def on_endpoint(self, endpoint: str) -> Self:
        """Entries of one base URL and key, of any model (`gemini.routes`)."""
        return self.filter(Q(route=endpoint) | Q(route__startswith=f"{endpoint}/"))

    def pending_actions(self, endpoint: str) -> Self:
        """Entries of ours to be deleted or extended there.

        A cache that an active run named is not deleted before that run has ended, unless an admin asked.
        """
        named = Run.objects.active().filter(exchanges__cache_name__gt="").values("exchanges__cache_name")
        deletable = Q(state=EntryState.TO_DELETE) & (Q(reason=EntryReason.ADMIN) | ~Q(name__in=named))
        extendable = Q(state=EntryState.LIVE, wanted_until__isnull=False)
        return self.ours().on_endpoint(endpoint).filter(deletable | extendable)

    @transaction.atomic
    def set_state(
        self, state: EntryState, kind: CacheEventKind, *, by: CausedBy = NOBODY, **fields: Any
    ) -> int:
        """Changes these entries and writes what happened to each; no other statement changes a state."""
        # Locked and read first: the condition is often about what changes.
        found = list(self.locked())
        if not found:
            return 0
        changes = {"state": state, "changed_at": by.moment, **fields}
        self.model._base_manager.filter(pk__in=[entry.pk for entry in found]).update(**changes)
        CacheEvent.objects.add([event for entry in found for event in _events(entry, kind, changes)], by)
        return len(found)

    @transaction.atomic
    def claim(
        self,
        fingerprint: str,
        *,
        model: str,
        route: str,
        owner_id: int | None = None,
        by: CausedBy = NOBODY,
    ) -> bool:
        """Returns True when the caller, and no other run, is to create this cache.

        The claim ends with `remember`, `refuse` or `release`, or expires after LEASE.
        """
        now = by.moment
        lease = {"leased_until": now + LEASE, "reason": "", "said": "", "owner_id": owner_id}
        fresh = {**lease, "model": model, "route": route, "state": EntryState.PENDING}
        entry, is_new = self.get_or_create(fingerprint=fingerprint, defaults=fresh)
        if is_new:
            CacheEvent.objects.add([CacheEvent.of(entry, CacheEventKind.PLANNED, at=now)], by)
            return True
        free = self.filter(is_free(now), fingerprint=fingerprint)
        return bool(free.set_state(EntryState.PENDING, CacheEventKind.PLANNED, by=by, name="", **lease))

    def remember(
        self, fingerprint: str, *, name: str, tokens: int, expires: datetime, by: CausedBy = NOBODY
    ) -> bool:
        """Ends a claim with a cache. Returns False when the claim was lost; no row then has this cache."""
        now = by.moment
        claimed = self.filter(fingerprint=fingerprint, state=EntryState.PENDING)
        made = claimed.set_state(
            EntryState.LIVE,
            CacheEventKind.MADE,
            by=by,
            name=name,
            tokens=tokens,
            expires_at=expires,
            leased_until=None,
            reason="",
            said="",
            failures=0,
            retry_at=None,
            wanted_until=None,
            made_at=now,
            used_at=now,
            hits=0,
        )
        return bool(made)

    @transaction.atomic
    def refuse(
        self, fingerprint: str, said: str, *, pause: timedelta | None = None, by: CausedBy = NOBODY
    ) -> None:
        """Ends a claim with the provider's message `said`.

        Without `pause` each refusal in a row doubles the time before the next try.
        """
        if (entry := self.filter(fingerprint=fingerprint, state=EntryState.PENDING).locked().first()) is None:
            return
        failures = entry.failures + 1
        self.filter(pk=entry.pk).set_state(
            EntryState.REFUSED,
            CacheEventKind.REFUSED,
            by=by,
            name="",
            tokens=0,
            expires_at=None,
            leased_until=None,
            failures=failures,
            retry_at=timezone.now() + (pause or caching.pause_after(failures)),
            reason=EntryReason.PROVIDER,
            said=storable(said, 300),
        )

    def keep(self, entry_pk: int) -> bool:
        """Goes on with a cache that we had let go of; False where it is being deleted, or an admin asked."""
        kept = self.filter(may_be_kept(timezone.now()), pk=entry_pk, state=EntryState.TO_DELETE)
        return bool(kept.set_state(EntryState.LIVE, CacheEventKind.KEPT, reason="", said=""))

    def begin_deletion(self, entry_pk: int) -> bool:
        """Returns True when the caller, and nobody else, is to delete this cache; no request keeps it then.

        Ends with `drop` or `give_up_deletion`, or expires after LEASE.
        """
        now = timezone.now()
        doomed = self.filter(is_unleased(now), pk=entry_pk, state=EntryState.TO_DELETE)
        return bool(doomed.update(leased_until=now + LEASE))

    def give_up_deletion(self, entry_pk: int) -> None:
        self.filter(pk=entry_pk, state=EntryState.TO_DELETE).update(leased_until=None)

    def release(
        self, fingerprint: str, said: str, *, is_refused: bool = False, by: CausedBy = NOBODY
    ) -> None:
        """Ends a claim without a cache; the next run may try at once, unless the model `is_refused` them."""
        self.filter(fingerprint=fingerprint, state=EntryState.PENDING).set_state(
            EntryState.GONE,
            CacheEventKind.REFUSED if is_refused else CacheEventKind.NOT_MADE,
            by=by,
            leased_until=None,
            reason=EntryReason.PROVIDER,
            said=storable(said, 300),
        )

    def forget(self, endpoint: str, reason: EntryReason) -> None:
        """Marks every cache there as gone."""
        caches = self.on_endpoint(endpoint).at_provider()
        caches.set_state(EntryState.GONE, CacheEventKind.DROPPED, reason=reason, said="")

    @transaction.atomic
    def drop(self, reason: str, said: str = "", *, by: CausedBy = NOBODY) -> int:
        """Marks them as gone at the provider, with its message `said`. What we let go of keeps our reason.

        Returns how many were not gone already.
        """
        gone, said = EntryState.GONE, storable(said, 300)
        doomed = self.filter(state=EntryState.TO_DELETE)
        deleted = doomed.set_state(gone, CacheEventKind.DELETED, by=by, said=said, leased_until=None)
        lost = self.exclude(state__in=(EntryState.TO_DELETE, gone))
        return deleted + lost.set_state(gone, CacheEventKind.GONE, by=by, reason=reason, said=said)

    def has_expired(self) -> Self:
        """Live entries whose end is over, and which nothing on its way can extend any more."""
        return self.live().filter(expires_at__lte=timezone.now() - EXPIRY_GRACE)

    def expire(self) -> int:
        """Marks those that have expired as gone; their event has the time of their end."""
        gone = EntryState.GONE
        return self.has_expired().set_state(gone, CacheEventKind.GONE, reason=EntryReason.EXPIRED, said="")

    def mark_for_deletion(self, reason: EntryReason, *, by: CausedBy = NOBODY) -> int:
        """Marks live caches; `runs.cache_janitor` deletes them at the provider."""
        live, doomed = self.live(), EntryState.TO_DELETE
        return live.set_state(doomed, CacheEventKind.DROPPED, by=by, reason=reason, said="")

    @transaction.atomic
    def release_for_session(self, session_pk: int, reason: EntryReason, *, but: str = "") -> int:
        """Unlinks the session's caches, except that with fingerprint `but`, and returns how many of them no
        other session uses: these are marked for deletion. Where history rolled over, that is the reason.
        """
        by = CausedBy(session=session_pk)
        links = self.model.sessions.through.objects
        old = links.filter(session_id=session_pk).exclude(cacheentry__fingerprint=but)
        keys = set(old.values_list("cacheentry_id", flat=True))
        if not keys:
            return 0
        # Two sessions that leave one cache at once would each find the other still in it.
        list(self.filter(pk__in=keys).locked())
        links.filter(session_id=session_pk, cacheentry_id__in=keys).delete()
        is_replaced = reason is EntryReason.REPLACED
        rolled = keys & CacheEvent.objects.rolled_over(session_pk) if is_replaced else set()
        dropped = self.filter(pk__in=rolled)._leave(EntryReason.ROLLED_ON, by)
        return dropped + self.filter(pk__in=keys - rolled)._leave(reason, by)

    def _leave(self, reason: EntryReason, by: CausedBy) -> int:
        """Marks those for deletion that no session uses any more; with the others, others go on."""
        kept = self.live().exclude(sessions=None).distinct()
        left = [CacheEvent.of(entry, CacheEventKind.LEFT, reason=reason) for entry in kept]
        CacheEvent.objects.add(left, by)
        return self.filter(sessions=None).mark_for_deletion(reason, by=by)

    @transaction.atomic
    def note_roll_over(self, but: str, by: CausedBy) -> None:
        """The history of a session is in a longer static layer from now on, that with fingerprint `but`.

        Nothing of its caches that have run out, whether or not anybody has noticed.
        """
        lasting = self.live().filter(expires_at__gt=by.moment)
        left = lasting.filter(sessions=by.session).exclude(fingerprint=but).locked()
        rolled = CacheEventKind.ROLLED_OVER
        CacheEvent.objects.add(
            [CacheEvent.of(entry, rolled, reason=EntryReason.ROLLED_ON) for entry in left], by
        )

    def note_use(self, entry_pk: int, exchange: "Exchange") -> None:
        """Counts a request that was answered from the cache: two statements."""
        _counted.run(entry=entry_pk, now=timezone.now())
        insert(
            CacheEvent(
                entry_id=entry_pk,
                kind=CacheEventKind.NAMED,
                at=exchange.started_at,
                name=exchange.cache_name,
                exchange_id=exchange.pk,
                session_id=exchange.session_id,
            )
        )

    @transaction.atomic
    def set_expiry(self, name: str, expires: datetime, *, by: CausedBy = NOBODY) -> None:
        """What the provider answered to an extension."""
        changes = {"expires_at": expires, "wanted_until": None, "changed_at": by.moment}
        extended = list(self.at_provider().filter(name=name))
        self.at_provider().filter(name=name).update(**changes)
        longer = {"expires": expires, "reason": "", "at": by.moment}
        CacheEvent.objects.add(
            [CacheEvent.of(entry, CacheEventKind.EXTENDED, **longer) for entry in extended], by
        )


def _counting() -> "tuple[models.QuerySet[Any, Any], dict[str, Any]]":
    from sessions_app.models.cache import CacheEntry

    changes = {"hits": F("hits") + 1, "used_at": Parameter("now", models.DateTimeField())}
    return CacheEntry.objects.filter(pk=Parameter("entry", models.BigIntegerField())), changes


_counted = Change(_counting)


def _events(entry: "CacheEntry", kind: CacheEventKind, changes: dict[str, Any]) -> list[CacheEvent]:
    """What happened to an entry that is about to change: first that it expired, if nobody noticed that."""
    now, found = changes["changed_at"], []
    has_expired = entry.state == EntryState.LIVE and entry.expires_at is not None and entry.expires_at <= now
    if has_expired:
        found.append(CacheEvent.of(entry, CacheEventKind.EXPIRED, at=entry.expires_at, reason=""))
    # What had run out can neither get lost nor be let go of.
    if not (has_expired and kind in {CacheEventKind.GONE, CacheEventKind.DROPPED}):
        known = {"name": entry.name, "expires_at": entry.expires_at, "reason": entry.reason, "said": ""}
        now_is = known | {name: changes[name] for name in known if name in changes}
        expires = now_is.pop("expires_at")
        found.append(
            CacheEvent.of(entry, kind, at=now, expires=expires if now_is["name"] else None, **now_is)
        )
    return found
