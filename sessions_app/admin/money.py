"""Prices, what people spent, and what they may spend."""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet, Sum
from django.http import HttpRequest, HttpResponse

from sessions_app.admin.base import ModelAdmin, RecordAdmin, percent
from sessions_app.models import Allowance, Price, Spending
from sessions_app.prompt.pricing import dollars


@admin.register(Price)
class PriceAdmin(ModelAdmin):
    """A price that exchanges were charged at is kept: enter the new one from its day on."""

    list_display = ("model", "valid_from", "input", "cached", "output", "above", "storage", "source")
    list_filter = ("valid_from",)
    search_fields = ("model",)
    search_help_text = "Model"
    fieldsets = (
        (None, {"fields": ("model", "valid_from", "source")}),
        ("US dollars per million tokens", {"fields": ("input", "cached", "output", "storage")}),
        (
            "For long prompts",
            {"fields": ("above", "input_above", "cached_above", "output_above"), "classes": ("collapse",)},
        ),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Price | None = None) -> bool:
        return False


@admin.register(Allowance)
class AllowanceAdmin(ModelAdmin):
    list_display = ("owner", "usd_per_day", "usd_per_month", "warn_percent")
    autocomplete_fields = ("owner",)
    search_fields = ("owner__username",)
    search_help_text = "Owner"


@admin.register(Spending)
class SpendingAdmin(RecordAdmin):
    """Bookings by person, day and model; above them the sum for each person of what is listed."""

    list_display = (
        "owner",
        "day",
        "model",
        "exchanges",
        "unpriced",
        "cached",
        "answers",
        "caches_cost",
        "sum",
    )
    list_filter = ("day", "model")
    list_select_related = ("owner",)
    date_hierarchy = "day"
    search_fields = ("owner__username", "model")
    search_help_text = "Owner or model"
    change_list_template = "admin/spending.html"

    @admin.display(description="cached share")
    def cached(self, row: Spending) -> str:
        return percent(row.cached_tokens, row.prompt_tokens)

    @admin.display(ordering="usd", description="answers")
    def answers(self, row: Spending) -> str:
        return dollars(row.usd)

    @admin.display(description="caches")
    def caches_cost(self, row: Spending) -> str:
        return dollars(row.cache_usd + row.storage_usd)

    @admin.display(description="sum")
    def sum(self, row: Spending) -> str:
        return dollars(row.total)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["totals"] = totals_of(listed["cl"].queryset)
        return response


def totals_of(rows: QuerySet[Spending]) -> list[tuple[str, int, Decimal]]:
    """Person, exchanges and sum, dearest first."""
    amount = Sum(F("usd") + F("cache_usd") + F("storage_usd"))
    people = rows.order_by().values("owner__username").annotate(count=Sum("exchanges"), amount=amount)
    dearest = people.order_by("-amount")[:100]
    return [(one["owner__username"], one["count"], one["amount"]) for one in dearest]
