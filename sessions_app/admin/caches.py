"""Cache entries and the refusals of the provider."""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.timezone import localtime

from sessions_app.admin.base import RecordAdmin
from sessions_app.admin.filters import ChoiceFilter
from sessions_app.admin.labels import sum_of, words_of
from sessions_app.context.model_lookup import facts_of, price_now
from sessions_app.models import CacheEntry, CacheEvent, CacheRefusal
from sessions_app.models.booking import exact
from sessions_app.prompt.caching import EntryReason
from sessions_app.prompt.pricing import MILLION, dollars
from sessions_app.runs.serving import model_of_cache
from sessions_app.wording import cache_events, cache_plans

EXTENSION = timedelta(hours=1)

EVENTS_SHOWN = 20


class StateFilter(ChoiceFilter):
    title = "state"
    parameter_name = "state"
    labels = {state.value: cache_plans.state(state) for state in CacheEntry.State}


def _stored_usd(entry: CacheEntry) -> Decimal | None:
    """Cost of storage so far, at its model's price when it was made, as its bookings are; None if unknown."""
    if entry.made_at is None or not entry.name:
        return None
    now, day = timezone.now(), entry.made_at.date()
    served = model_of_cache(entry.model, entry.route, day)
    price = price_now(served, day, family=facts_of(served, day=day).family)
    if price is None or price.storage is None:
        return None
    return exact(entry.tokens * Decimal(entry.stored_hours(now)) * price.storage / MILLION)


@admin.register(CacheEntry)
class CacheEntryAdmin(RecordAdmin):
    list_display = ("short_print", "state_text", "model", "size", "kept", "left", "stored", "hits", "used_by")
    list_filter = (StateFilter, "expires_at")
    date_hierarchy = "created_at"
    search_fields = ("fingerprint", "name", "model")
    search_help_text = "Fingerprint, name at the provider or model"
    actions = ("extend_at_provider", "delete_at_provider")
    fields = (
        "fingerprint",
        "name",
        ("model", "route"),
        ("state_text", "why"),
        ("size", "hits", "used_by"),
        ("kept", "left", "stored"),
        ("made_at", "used_at", "expires_at", "wanted_until"),
        ("failures", "retry_at", "leased_until"),
        ("created_at", "changed_at"),
        "life",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CacheEntry]:
        rows: QuerySet[CacheEntry] = super().get_queryset(request)
        return rows.annotate(users=Count("sessions"))

    @admin.display(ordering="fingerprint", description="fingerprint")
    def short_print(self, entry: CacheEntry) -> str:
        return entry.fingerprint[:12]

    @words_of("state", description="state")
    def state_text(self, entry: CacheEntry) -> str:
        return cache_plans.state(entry.state)

    @admin.display(description="reason")
    def why(self, entry: CacheEntry) -> str:
        return cache_plans.entry_reason(entry.reason, entry.said) or "–"

    @admin.display(ordering="tokens", description="tokens")
    def size(self, entry: CacheEntry) -> str:
        return f"{entry.tokens:,}" if entry.tokens else "–"

    @admin.display(ordering="made_at", description="kept for")
    def kept(self, entry: CacheEntry) -> str:
        hours = entry.stored_hours(timezone.now())
        return _span(timedelta(hours=hours)) if hours else "–"

    @admin.display(ordering="expires_at", description="left")
    def left(self, entry: CacheEntry) -> str:
        is_kept = entry.state in CacheEntry.AT_PROVIDER
        return _span(entry.expires_at - timezone.now()) if is_kept and entry.expires_at else "–"

    @admin.display(description="life")
    def life(self, entry: CacheEntry) -> str:
        """The newest events, oldest first; whose exchange caused them is no part of the admin."""
        newest = reversed(entry.events.order_by("-at", "-pk")[:EVENTS_SHOWN])
        lines = ((date_format(localtime(one.at), "j M Y, H:i:s"), _event_text(one)) for one in newest)
        return format_html_join("", "<div>{}: {}</div>", lines) or "–"

    @admin.display(ordering="users", description="sessions")
    def used_by(self, entry: Any) -> int:
        return int(entry.users)

    @sum_of(_stored_usd, description="storage")
    def stored(self, entry: CacheEntry) -> str:
        usd = _stored_usd(entry)
        return "–" if usd is None else dollars(usd)

    @admin.action(description="Extend at the provider by an hour from now", permissions=["manage"])
    def extend_at_provider(self, request: HttpRequest, chosen: "QuerySet[CacheEntry]") -> None:
        until = timezone.now() + EXTENSION
        alive = CacheEntry.objects.ours().live().filter(pk__in=_keys(chosen))
        # To set the end of one that lives longer would shorten its life.
        longer = alive.filter(expires_at__gte=until).count()
        count = alive.exclude(expires_at__gte=until).update(wanted_until=until)
        if longer:
            self.message_user(request, f"Left as they are, since they live longer: {longer}.", messages.INFO)
        if count or not longer:
            self._report(request, count, "prolonged")

    @admin.action(description="Delete at the provider", permissions=["manage"])
    def delete_at_provider(self, request: HttpRequest, chosen: "QuerySet[CacheEntry]") -> None:
        count = CacheEntry.objects.ours().filter(pk__in=_keys(chosen)).mark_for_deletion(EntryReason.ADMIN)
        self._report(request, count, "deleted")

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Caches at the provider may be managed by whoever may change cache entries."""
        return request.user.has_perm("sessions_app.change_cacheentry")

    def _report(self, request: HttpRequest, count: int, word: str) -> None:
        if count:
            message = f"{count} will be {word} at the provider within seconds, while the server runs."
            self.message_user(request, message, messages.SUCCESS)
        else:
            self.message_user(
                request, "None of them is a cache of ours that is alive at the provider.", messages.WARNING
            )


@admin.register(CacheRefusal)
class CacheRefusalAdmin(RecordAdmin):
    list_display = ("model", "minimum", "refused_until", "failures", "said", "learned_at")
    search_fields = ("model", "said")
    search_help_text = "Model or what the provider said"


def _keys(chosen: "QuerySet[CacheEntry]") -> Iterable[int]:
    return list(chosen.values_list("pk", flat=True))


def _event_text(event: CacheEvent) -> str:
    words = (cache_events.event(event.kind, event.reason), cache_events.reason(event.reason, event.said))
    return ". ".join(filter(None, words))


def _span(span: timedelta) -> str:
    """Minutes up to two hours, then hours; with a no-break space."""
    minutes = max(span.total_seconds(), 0) / 60
    return (
        f"{minutes:.0f}\N{NO-BREAK SPACE}min" if minutes < 120 else f"{minutes / 60:.1f}\N{NO-BREAK SPACE}h"
    )
