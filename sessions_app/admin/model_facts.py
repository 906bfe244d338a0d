"""Capabilities of models, from the code and from rows that override it, and their prices."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import escape
from django.utils.http import urlencode

from sessions_app.admin.base import FilteredAdmin
from sessions_app.context.model_lookup import facts_of, model_names
from sessions_app.errors import PriceUsed
from sessions_app.gemini.model_capabilities import Capabilities, capabilities_of
from sessions_app.models import ModelFacts, ModelLifecycle, Price, SearchPrice, SessionSettings

COLUMNS = (
    ("served by", "family"),
    ("explicit from", "explicit_minimum"),
    ("implicit from", "implicit_minimum"),
    ("thinking", "thinking"),
    ("levels", "levels"),
    ("signatures", "signatures_required"),
    ("sampling", "sampling"),
    ("own tools", "own_tools"),
    ("mixed", "mixes_tools"),
    ("input", "input_limit"),
    ("output", "output_limit"),
)

OPTIONS = SessionSettings.form_fields()
LABELS = {"levels": OPTIONS["thinking_level"].choices, "own_tools": OPTIONS["provider_tools"].choices}
"""What a chat calls the values of a column that holds a list, by column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`value` is in force; `code` is the value in the code, where it differs."""

    value: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class FactsRow:
    """One model: cells in the order of `COLUMNS`, and the URLs of its form and its prices."""

    model: str
    cells: tuple[Cell, ...]
    edit: str
    prices: str
    checked_at: datetime | None = None
    note: str = ""


@admin.register(ModelFacts)
class ModelFactsAdmin(FilteredAdmin):
    """An empty field keeps the value of the code; `manage.py conform --live --save` fills in others.

    `served_by` has no date: it holds where no row of the model's life is in force.
    """

    list_display = ("model", "is_family", "note", "checked_at", "updated_at")
    search_fields = ("model", "note")
    search_help_text = "Model or note"
    readonly_fields = ("updated_at",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("model", "is_family"),
                    "summary",
                    "served_by",
                    "note",
                    ("checked_at", "updated_at"),
                )
            },
        ),
        ("Caches", {"fields": ("has_explicit_caches", ("explicit_minimum", "implicit_minimum"))}),
        ("Thinking", {"fields": (("thinking", "levels"), "signatures_required", "sampling")}),
        ("Tools of the provider", {"fields": (("own_tools", "mixes_tools"),)}),
        ("Limits", {"fields": (("input_limit", "output_limit"),)}),
    )
    change_list_template = "admin/facts.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"columns": [title for title, _ in COLUMNS], "table": table()}
        return super().changelist_view(request, (extra_context or {}) | shown)


def table() -> list[FactsRow]:
    """All known models, newest first: one query."""
    rows = {row.model: row for row in ModelFacts.objects.filter(is_family=False)}
    return [_row(model, rows.get(model)) for model in model_names()]


def _row(model: str, row: ModelFacts | None) -> FactsRow:
    facts, code = facts_of(model), capabilities_of(model)
    if row is None:
        edit = f"{reverse('admin:sessions_app_modelfacts_add')}?{urlencode({'model': model})}"
    else:
        edit = reverse("admin:sessions_app_modelfacts_change", args=[row.pk])
    return FactsRow(
        model,
        tuple(_cell(field, facts, code) for _, field in COLUMNS),
        edit,
        f"{reverse('admin:sessions_app_price_changelist')}?{urlencode({'q': facts.family})}",
        row.checked_at if row else None,
        row.note if row else "",
    )


def _cell(field: str, facts: Capabilities, code: Capabilities) -> Cell:
    value, default = getattr(facts, field), getattr(code, field)
    return Cell(_text(value, field), "" if value == default else _text(default, field))


def _text(value: Any, field: str) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case int():
            return f"{value:,}"
        case tuple():
            return ", ".join(LABELS[field].get(one, one) for one in value) or "none"
    return str(value)


@admin.register(ModelLifecycle)
class ModelLifecycleAdmin(FilteredAdmin):
    """A row holds until the next one of its model. Rows of the catalogue are added once: a change stays."""

    list_display = ("model", "valid_from", "is_retired", "served_by", "successor", "source")
    list_filter = ("is_retired", "valid_from")
    search_fields = ("model", "served_by", "successor")
    search_help_text = "Model"


class UsedPriceAdmin(FilteredAdmin):
    """A price that something was charged at is only shown: a correction is a new row from its day on."""

    def get_fieldsets(self, request: HttpRequest, obj: Price | SearchPrice | None = None) -> Any:
        """With the reason where the price cannot be changed."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not obj.is_used:
            return fieldsets
        told = PriceUsed(str(obj))
        (title, first), *rest = fieldsets
        return [(title, {**first, "description": escape(f"{told.message} {told.hint}")}), *rest]

    def has_change_permission(self, request: HttpRequest, obj: Price | SearchPrice | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj is not None and obj.is_used)

    def has_delete_permission(self, request: HttpRequest, obj: Price | SearchPrice | None = None) -> bool:
        return False


@admin.register(SearchPrice)
class SearchPriceAdmin(UsedPriceAdmin):
    """What the provider charges for a search, beside its tokens."""

    list_display = ("model", "valid_from", "usd", "per", "source")
    list_filter = ("per", "valid_from")
    search_fields = ("model",)
    search_help_text = "Model"


@admin.register(Price)
class PriceAdmin(UsedPriceAdmin):
    """What the provider charges for tokens."""

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
