"""Caches at the provider after an answer: made, prolonged, left; never in the person's way.

Nothing here can fail a run. What the provider teaches by refusing is remembered, so that it is not asked
at every turn.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import structlog
from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils import timezone

from sessions_app.context.capabilities import facts_of
from sessions_app.errors import (
    BadKey,
    BadRequest,
    CacheGone,
    CacheTooSmall,
    GatewayError,
    QuotaExceeded,
    UnknownModel,
)
from sessions_app.gemini.answers import CacheCreated
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, CacheLesson, Price, Session
from sessions_app.models.cache import deployment
from sessions_app.models.price import Entry, Spending
from sessions_app.prompt import pricing
from sessions_app.prompt.caching import display_name, minimum_in
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import cacheable
from sessions_app.runs.draft import Draft

log = structlog.get_logger("pipeweb.runs")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A cache to be made: what it holds, for which session, and how long it may live unused."""

    fingerprint: str
    model: str
    route: str
    layers: Layers
    session: Session
    lifetime: timedelta

    @classmethod
    def of(cls, draft: Draft) -> "Wanted":
        work = draft.work
        return cls(
            draft.fingerprint,
            draft.payload.model,
            work.route,
            draft.layers,
            work.session,
            work.strategy.lifetime,
        )


async def follow_plan(gateway: Gateway, draft: Draft) -> None:
    """Carries out what the plan left for after the answer."""
    wanted = Wanted.of(draft)
    match draft.plan.action:
        case "create":
            await make(gateway, wanted)
        case "extend":
            await prolong(gateway, draft.plan.name, wanted.lifetime)
        case "drop":
            await sync_to_async(CacheEntry.objects.let_go)(wanted.session, draft.plan.reason)
    if draft.plan.is_hit and draft.plan.name not in draft.work.named:
        await sync_to_async(join)(wanted)


async def make(gateway: Gateway, wanted: Wanted) -> bool:
    """Makes a cache unless somebody else does; answers whether there is one now of ours.

    The claim is written before the call, with the name that the cache bears there: after a crash the
    caretaker knows whose it is.
    """
    claim = sync_to_async(CacheEntry.objects.claim)
    owner = wanted.session.owner_id
    if not await claim(wanted.fingerprint, model=wanted.model, route=wanted.route, owner_id=owner):
        return False
    try:
        made = await gateway.create_cache(
            model=wanted.model,
            contents_and_tools=cacheable(wanted.layers),
            ttl_seconds=round(wanted.lifetime.total_seconds()),
            display_name=display_name(deployment(), wanted.fingerprint),
        )
    except GatewayError as error:
        log.info("cache_not_made", kind=type(error).__name__)
        await sync_to_async(_learn)(wanted, error)
        return False
    if await sync_to_async(_remember)(wanted, made):
        return True
    await delete(gateway, made.name)
    return False


async def prolong(gateway: Gateway, name: str, lifetime: timedelta) -> bool:
    """Moves the end of a cache to `lifetime` from now; answers whether it did."""
    try:
        kept = await gateway.extend_cache(name, round(lifetime.total_seconds()))
    except CacheGone as error:
        await sync_to_async(_is_gone)(name, error.message)
        return False
    except GatewayError as error:
        # It lives on until its old end; the next answer asks again.
        log.info("cache_not_prolonged", kind=type(error).__name__)
        return False
    await sync_to_async(_note_end)(name, kept.expires or timezone.now() + lifetime)
    return True


async def delete(gateway: Gateway, name: str) -> bool:
    """Whether the provider has nothing by this name any more."""
    try:
        await gateway.delete_cache(name)
    except CacheGone:
        return True
    except GatewayError as error:
        log.info("cache_not_deleted", kind=type(error).__name__)
        return False
    return True


def _learn(wanted: Wanted, error: GatewayError) -> None:
    """What a refusal teaches: about the model, about this text, or nothing where nobody said no."""
    entries, lessons = CacheEntry.objects, CacheLesson.objects
    if isinstance(error, CacheTooSmall) and (minimum := minimum_in(error.message)):
        lessons.demand(wanted.route, wanted.model, minimum, error.message)
        entries.release(wanted.fingerprint, error.message)
    elif isinstance(error, QuotaExceeded | UnknownModel):
        lessons.refuse(wanted.route, wanted.model, error.message)
        entries.release(wanted.fingerprint, error.message)
    elif isinstance(error, BadRequest) and not isinstance(error, BadKey):
        entries.refuse(wanted.fingerprint, error.message)
    else:
        entries.release(wanted.fingerprint, error.message)


@transaction.atomic
def _remember(wanted: Wanted, made: CacheCreated) -> bool:
    """Keeps the name, books the money, and leaves what the session used before. False: nobody wants it."""
    expires = made.expires or timezone.now() + wanted.lifetime
    entries = CacheEntry.objects
    if not entries.remember(wanted.fingerprint, name=made.name, tokens=made.tokens, expires=expires):
        # The caretaker may have found it first; then it is not to be deleted.
        return entries.filter(name=made.name).exists()
    CacheLesson.objects.forgive(wanted.route, wanted.model)
    book(CacheEntry.objects.get(fingerprint=wanted.fingerprint), wanted.lifetime, is_new=True)
    join(wanted)
    return True


@transaction.atomic
def join(wanted: Wanted) -> None:
    """The session uses this cache from now on, and no other."""
    entry = CacheEntry.objects.live().filter(fingerprint=wanted.fingerprint).first()
    if entry is None:
        return
    if Session.objects.filter(pk=wanted.session.pk, deleted_at=None).exists():
        entry.serve(wanted.session)
        CacheEntry.objects.let_go(wanted.session, "History rolled on.", but=wanted.fingerprint)
    else:
        CacheEntry.objects.filter(pk=entry.pk, sessions=None).doom("Its session is gone.")


@transaction.atomic
def _note_end(name: str, expires: datetime) -> None:
    entry = CacheEntry.objects.live().filter(name=name).first()
    if entry is not None:
        gained = expires - (entry.expires_at or expires)
        CacheEntry.objects.extended(name, expires)
        book(entry, gained)


def _is_gone(name: str, reason: str) -> None:
    for entry in CacheEntry.objects.live().filter(name=name):
        entry.drop(reason)


def book(entry: CacheEntry, kept: timedelta, *, is_new: bool = False) -> None:
    """Books what keeping a cache for `kept` costs (negative: what an early end saves), and its making."""
    if entry.owner_id is None:
        return
    today = timezone.now().date()
    price = Price.objects.of(entry.model, today, family=facts_of(entry.model).family)
    rates = price.rates(entry.tokens) if price else None
    hours = kept.total_seconds() / 3_600
    made = (pricing.making(entry.tokens, rates).total if rates else None) if is_new else Decimal(0)
    Spending.objects.add_cache(
        Entry(entry.owner_id, today, entry.model),
        made=made,
        kept=pricing.storage(entry.tokens, hours, rates) if rates else None,
    )
