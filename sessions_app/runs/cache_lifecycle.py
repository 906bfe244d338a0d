"""Creates, extends and deletes explicit caches: the plan of a request is carried out after the final answer.

Until then a run keeps the cache that it names. Errors never fail the run; refusals of the provider are
stored, so that it is not asked at every turn.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from sessions_app.database import database_sync_to_async
from sessions_app.errors import BudgetSpent, CacheGone, GatewayError
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.http_evidence import HttpEvidence
from sessions_app.gemini.provider_resources import CacheCreated
from sessions_app.models import CacheEntry, CacheRefusal, Session
from sessions_app.models.cache import deployment
from sessions_app.models.cache_event import NOBODY, CausedBy
from sessions_app.prompt.caching import CacheAction, EntryReason, display_name
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import cacheable, static_tokens
from sessions_app.prompt.pricing import MoneySource
from sessions_app.runs.background import isolated
from sessions_app.runs.cache_bookings import KeptCache, book_creation, book_extension, record_end
from sessions_app.runs.cache_refusals import record_refusal
from sessions_app.runs.cache_reservations import reserve_creation, reserve_extension, reserving
from sessions_app.runs.money_source import source_of_answer
from sessions_app.runs.request import PreparedRequest

log = structlog.get_logger("pipeweb.runs")


@dataclass(frozen=True, slots=True)
class CacheRequest:
    """A cache to create: its content, its session, its lifetime, the exchange whose plan it is."""

    fingerprint: str
    model: str
    route: str
    layers: Layers
    session: Session
    lifetime: timedelta
    exchange: int

    @property
    def by(self) -> CausedBy:
        return CausedBy(self.exchange, self.session.pk)

    @classmethod
    def of(cls, prepared: PreparedRequest) -> "CacheRequest":
        return cls(
            prepared.fingerprint,
            prepared.payload.model,
            prepared.context.route,
            prepared.layers,
            prepared.context.session,
            prepared.built.caching.strategy.lifetime,
            prepared.exchange.pk,
        )


def hold_cache(gateway: Gateway, prepared: PreparedRequest) -> "asyncio.Task[None] | None":
    """Keeps the cache that a request names from expiring, until the task is cancelled; None without one."""
    if not prepared.plan.is_hit:
        return None
    return asyncio.get_running_loop().create_task(_extend_again(gateway, prepared))


async def _extend_again(gateway: Gateway, prepared: PreparedRequest) -> None:
    """A request names a cache with at least half of its life left, or has it extended."""
    request = CacheRequest.of(prepared)
    while True:
        await asyncio.sleep(request.lifetime.total_seconds() / 3)
        with isolated("cache_not_held", cache=prepared.plan.name):
            await extend_cache(gateway, prepared.plan.name, request.lifetime, request.session, by=request.by)


async def keep_cache(gateway: Gateway, prepared: PreparedRequest) -> None:
    """Between the requests of a run: extends the cache that it names, and links the session to it."""
    request = CacheRequest.of(prepared)
    if prepared.plan.action is CacheAction.EXTEND:
        await extend_cache(gateway, prepared.plan.name, request.lifetime, request.session, by=request.by)
    if _is_unlinked(prepared):
        await database_sync_to_async(link_session)(request)


async def carry_out_plan(gateway: Gateway, prepared: PreparedRequest) -> None:
    """Executes the cache plan of a run's last request."""
    request = CacheRequest.of(prepared)
    match prepared.plan.action:
        case CacheAction.CREATE:
            await create_cache(gateway, request)
        case CacheAction.EXTEND:
            await extend_cache(gateway, prepared.plan.name, request.lifetime, request.session, by=request.by)
        case CacheAction.DROP:
            await database_sync_to_async(CacheEntry.objects.release_for_session)(
                request.session.pk, EntryReason.WAIVED
            )
    if prepared.plan.is_hit and _is_unlinked(prepared):
        await database_sync_to_async(use_cache)(request)


def _is_unlinked(prepared: PreparedRequest) -> bool:
    """Whether the session may not be linked to the cache that the request names."""
    return prepared.plan.is_kept or prepared.plan.name not in prepared.built.caching.named


async def create_cache(
    gateway: Gateway, request: CacheRequest, switch: "Callable[[CacheRequest], None] | None" = None
) -> bool:
    """Creates a cache unless another run does, or a budget is spent or held; returns whether it did.

    The pending row is written before the call, with the display name, so that the janitor can adopt the
    cache after a crash. `switch`, by default `use_cache`, runs in the transaction that names the cache.
    """
    asked = (request.session, request.model, request.route, request.layers, request.lifetime)
    take = partial(reserve_creation, *asked)
    try:
        async with reserving(take):
            return await _create(gateway, request, switch or use_cache)
    except BudgetSpent as refused:
        log.info("cache_not_paid", kind=type(refused).__name__)
        return False


async def _create(gateway: Gateway, request: CacheRequest, switch: Callable[[CacheRequest], None]) -> bool:
    claim = database_sync_to_async(CacheEntry.objects.claim)
    owner, by = request.session.owner_id, request.by
    if not await claim(request.fingerprint, model=request.model, route=request.route, owner_id=owner, by=by):
        return False
    evidence = HttpEvidence()
    try:
        with evidence.recording():
            created = await gateway.create_cache(
                model=request.model,
                contents_and_tools=cacheable(request.layers),
                ttl_seconds=round(request.lifetime.total_seconds()),
                display_name=display_name(deployment(), request.fingerprint),
            )
    except GatewayError as error:
        log.info("cache_not_made", kind=type(error).__name__)
        await database_sync_to_async(record_refusal)(
            error, request.fingerprint, request.route, request.model, static_tokens(request.layers), by=by
        )
        return False
    source = source_of_answer(gateway, evidence)
    if await database_sync_to_async(_record_created)(request, created, source, switch):
        return True
    if not await delete_cache(gateway, created.name):
        await database_sync_to_async(_book_left_over)(request, created)
    return False


async def extend_cache(
    gateway: Gateway,
    name: str,
    lifetime: timedelta,
    session: Session | None = None,
    *,
    by: CausedBy = NOBODY,
) -> bool:
    """Sets the expiry to `lifetime` from now; returns whether that succeeded.

    `session` is the one whose run asked for it; None for an admin. Nothing is asked for without money.
    """
    try:
        async with reserving(partial(reserve_extension, name, gateway.route, lifetime, session)):
            return await _extend(gateway, name, lifetime, session, by)
    except BudgetSpent as refused:
        log.info("cache_not_paid", kind=type(refused).__name__)
        return False


async def _extend(
    gateway: Gateway, name: str, lifetime: timedelta, session: Session | None, by: CausedBy
) -> bool:
    try:
        extended = await gateway.extend_cache(name, round(lifetime.total_seconds()))
    except CacheGone as error:
        await database_sync_to_async(_record_gone)(name, error.message, by)
        return False
    except GatewayError as error:
        # The old expiry holds; the next answer tries again.
        log.info("cache_not_prolonged", kind=type(error).__name__)
        return False
    expires = extended.expires or timezone.now() + lifetime
    await database_sync_to_async(_record_extended)(name, expires, session, by)
    return True


async def delete_cache(gateway: Gateway, name: str) -> bool:
    """Returns whether the provider no longer has this cache."""
    try:
        await gateway.delete_cache(name)
    except CacheGone:
        return True
    except GatewayError as error:
        log.info("cache_not_deleted", kind=type(error).__name__)
        return False
    return True


@transaction.atomic
def _record_created(
    request: CacheRequest, created: CacheCreated, source: MoneySource, switch: Callable[[CacheRequest], None]
) -> bool:
    """Stores the name, books the cost, switches the session to it. False when the cache is not needed."""
    expires = created.expires or timezone.now() + request.lifetime
    entries = CacheEntry.objects
    cache = KeptCache(created.name, request.model, request.route, created.tokens)
    if not entries.remember(
        request.fingerprint, name=created.name, tokens=created.tokens, expires=expires, by=request.by
    ):
        # The janitor may have adopted it already; then it must not be deleted.
        is_adopted = entries.filter(name=created.name).exists()
        if not is_adopted:
            book_creation(cache, request.session, timedelta(), source=source)
        return is_adopted
    CacheRefusal.objects.reset_failures(request.route, request.model)
    # Caches are locked before sessions and days (`runs.locks`).
    switch(request)
    book_creation(cache, request.session, request.lifetime, source=source)
    return True


def _book_left_over(request: CacheRequest, created: CacheCreated) -> None:
    """A cache that is not needed and could not be deleted: it lives as long as was asked for, at most."""
    cache = KeptCache(created.name, request.model, request.route, created.tokens)
    book_extension(cache, request.session, request.session.owner_id, request.lifetime)


@transaction.atomic
def use_cache(request: CacheRequest) -> None:
    """Makes this the only cache of the session."""
    lock_caches(request)
    if link_session(request):
        CacheEntry.objects.release_for_session(
            request.session.pk, EntryReason.REPLACED, but=request.fingerprint
        )


def lock_caches(request: CacheRequest) -> None:
    """Inside a transaction, before one of them is changed: the cache, and those that its session has."""
    of_session = Q(sessions=request.session.pk)
    list(CacheEntry.objects.filter(of_session | Q(fingerprint=request.fingerprint)).locked())


@transaction.atomic
def link_session(request: CacheRequest) -> bool:
    """Links the session to the cache, beside those that it has; False when one of the two is gone."""
    named = CacheEntry.objects.live().filter(fingerprint=request.fingerprint)
    # Locked: a session that leaves it as the last one would not see this link.
    entry = named.locked().first()
    if entry is None:
        return False
    if Session.objects.filter(pk=request.session.pk, deleted_at=None).exists():
        entry.add_session(request.session.pk)
        return True
    CacheEntry.objects.filter(pk=entry.pk, sessions=None).mark_for_deletion(EntryReason.SESSION_GONE)
    return False


@transaction.atomic
def _record_extended(name: str, expires: datetime, session: Session | None, by: CausedBy) -> None:
    # Locked: two extensions at once each gain only what the other has not.
    named = CacheEntry.objects.at_provider().filter(name=name)
    entry = named.locked().first()
    if entry is not None:
        gained = expires - (entry.expires_at or expires)
        CacheEntry.objects.set_expiry(name, expires, by=by)
        book_extension(KeptCache.of(entry), session, entry.owner_id, gained)


def _record_gone(name: str, said: str, by: CausedBy) -> None:
    for entry in CacheEntry.objects.at_provider().filter(name=name):
        record_end(entry, EntryReason.PROVIDER, said, by=by)
