"""What is true of each model: the code's table, what was entered over it, and what holds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from sessions_app.admin.base import ModelAdmin
from sessions_app.context.capabilities import facts_of, model_names
from sessions_app.gemini.capabilities import Capabilities, capabilities_of
from sessions_app.models import ModelFacts

COLUMNS = (
    ("served by", "family"),
    ("explicit from", "explicit_minimum"),
    ("implicit from", "implicit_minimum"),
    ("thinking", "thinking"),
    ("levels", "levels"),
    ("signatures", "signatures_required"),
    ("sampling", "sampling"),
    ("input", "input_limit"),
    ("output", "output_limit"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """What holds; `code` is what the code says, where that is something else."""

    holds: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One model: its cells in the order of COLUMNS, where to edit it and where its prices are."""

    model: str
    cells: tuple[Cell, ...]
    edit: str
    prices: str
    checked_at: datetime | None = None
    note: str = ""


@admin.register(ModelFacts)
class ModelFactsAdmin(ModelAdmin):
    """An empty field keeps what the code says; `manage.py conform --live --save` fills in what it finds."""

    list_display = ("model", "is_family", "note", "checked_at", "updated_at")
    search_fields = ("model", "note")
    search_help_text = "Model or note"
    readonly_fields = ("updated_at",)
    fieldsets = (
        (None, {"fields": (("model", "is_family"), "served_by", "note", ("checked_at", "updated_at"))}),
        ("Caches", {"fields": ("has_explicit_caches", ("explicit_minimum", "implicit_minimum"))}),
        ("Thinking", {"fields": (("thinking", "levels"), "signatures_required", "sampling")}),
        ("Limits", {"fields": (("input_limit", "output_limit"),)}),
    )
    change_list_template = "admin/facts.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"columns": [title for title, _ in COLUMNS], "table": table()}
        return super().changelist_view(request, (extra_context or {}) | shown)


def table() -> list[Line]:
    """Every model that has a name here, newest first: one query for all rows."""
    rows = {row.model: row for row in ModelFacts.objects.filter(is_family=False)}
    return [_line(model, rows.get(model)) for model in model_names()]


def _line(model: str, row: ModelFacts | None) -> Line:
    holds, code = facts_of(model), capabilities_of(model)
    if row is None:
        edit = f"{reverse('admin:sessions_app_modelfacts_add')}?{urlencode({'model': model})}"
    else:
        edit = reverse("admin:sessions_app_modelfacts_change", args=[row.pk])
    return Line(
        model,
        tuple(_cell(field, holds, code) for _, field in COLUMNS),
        edit,
        f"{reverse('admin:sessions_app_price_changelist')}?{urlencode({'q': holds.family})}",
        row.checked_at if row else None,
        row.note if row else "",
    )


def _cell(field: str, holds: Capabilities, code: Capabilities) -> Cell:
    now, before = getattr(holds, field), getattr(code, field)
    return Cell(_words(now), "" if now == before else _words(before))


def _words(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case int():
            return f"{value:,}"
        case tuple():
            return ", ".join(value) or "none"
    return str(value)
