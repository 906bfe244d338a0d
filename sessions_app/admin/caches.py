"""Cache entries: what we hold at the provider, what it costs, and what it refused."""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.admin.base import RecordAdmin
from sessions_app.models import CacheEntry, CacheLesson, Price
from sessions_app.prompt.pricing import MILLION, dollars

EXTENSION = timedelta(hours=1)


@admin.register(CacheEntry)
class CacheEntryAdmin(RecordAdmin):
    list_display = (
        "short_print",
        "state",
        "model",
        "size",
        "kept",
        "left",
        "stored",
        "hits",
        "used_by",
    )
    list_filter = ("state", "expires_at")
    date_hierarchy = "created_at"
    search_fields = ("fingerprint", "name", "model")
    search_help_text = "Fingerprint, name at the provider or model"
    actions = ("extend_at_provider", "delete_at_provider")
    fields = (
        "fingerprint",
        "name",
        ("model", "route"),
        ("state", "reason"),
        ("size", "hits", "used_by"),
        ("kept", "left", "stored"),
        ("made_at", "used_at", "expires_at", "wanted_until"),
        ("failures", "retry_at", "leased_until"),
        ("created_at", "changed_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CacheEntry]:
        prices = Price.objects.filter(model=OuterRef("model"), valid_from__lte=timezone.now().date())
        newest = prices.order_by("-valid_from").values("storage")[:1]
        rows: QuerySet[CacheEntry] = super().get_queryset(request)
        return rows.annotate(users=Count("sessions"), rate=Subquery(newest))

    @admin.display(ordering="fingerprint", description="fingerprint")
    def short_print(self, entry: CacheEntry) -> str:
        return entry.fingerprint[:12]

    @admin.display(ordering="tokens", description="tokens")
    def size(self, entry: CacheEntry) -> str:
        return f"{entry.tokens:,}" if entry.tokens else "–"

    @admin.display(ordering="made_at", description="kept for")
    def kept(self, entry: CacheEntry) -> str:
        return _span(timedelta(hours=entry.kept_hours(timezone.now()))) if entry.made_at else "–"

    @admin.display(ordering="expires_at", description="left")
    def left(self, entry: CacheEntry) -> str:
        is_kept = entry.state in (CacheEntry.State.LIVE, CacheEntry.State.DOOMED)
        return _span(entry.expires_at - timezone.now()) if is_kept and entry.expires_at else "–"

    @admin.display(ordering="users", description="sessions")
    def used_by(self, entry: Any) -> int:
        return int(entry.users)

    @admin.display(description="storage")
    def stored(self, entry: Any) -> str:
        if entry.rate is None or entry.made_at is None:
            return "–"
        hours = Decimal(entry.kept_hours(timezone.now()))
        return dollars(entry.tokens * hours * entry.rate / MILLION)

    @admin.action(description="Extend at the provider by an hour from now", permissions=["manage"])
    def extend_at_provider(self, request: HttpRequest, chosen: "QuerySet[CacheEntry]") -> None:
        until = timezone.now() + EXTENSION
        count = CacheEntry.objects.live().filter(pk__in=_keys(chosen)).update(wanted_until=until)
        self._say(request, count, "prolonged")

    @admin.action(description="Delete at the provider", permissions=["manage"])
    def delete_at_provider(self, request: HttpRequest, chosen: "QuerySet[CacheEntry]") -> None:
        count = CacheEntry.objects.filter(pk__in=_keys(chosen)).doom("An admin asked for it.")
        self._say(request, count, "deleted")

    def has_manage_permission(self, request: HttpRequest) -> bool:
        """Rows cannot be edited by anybody; what is at the provider, by those who might change rows."""
        return request.user.has_perm("sessions_app.change_cacheentry")

    def _say(self, request: HttpRequest, count: int, word: str) -> None:
        if count:
            words = f"{count} will be {word} at the provider within seconds, while the server runs."
            self.message_user(request, words, messages.SUCCESS)
        else:
            self.message_user(request, "None of them is alive at the provider.", messages.WARNING)


@admin.register(CacheLesson)
class CacheLessonAdmin(RecordAdmin):
    list_display = ("model", "minimum", "refused_until", "failures", "reason", "learned_at")
    search_fields = ("model", "reason")
    search_help_text = "Model or reason"


def _keys(chosen: "QuerySet[CacheEntry]") -> Iterable[int]:
    return list(chosen.values_list("pk", flat=True))


def _span(span: timedelta) -> str:
    """Minutes up to two hours, then hours; with a space that does not break."""
    minutes = max(span.total_seconds(), 0) / 60
    return (
        f"{minutes:.0f}\N{NO-BREAK SPACE}min" if minutes < 120 else f"{minutes / 60:.1f}\N{NO-BREAK SPACE}h"
    )
