"""Base classes of the admin."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.http import HttpRequest
from django.urls import URLPattern, path

from sessions_app.admin.lists import BoundedPaginator, CsvMixin

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    # Generic only in the stubs.
    ModelAdmin = admin.ModelAdmin


FILTER_LOOKUPS = frozenset(
    {"exact", "id__exact", "in", "isnull", "isempty", "gte", "lt", "year", "month", "day"}
)
"""The lookups of Django's own filters and of its date hierarchy."""


class FilteredAdmin(ModelAdmin):
    """Allows look-ups of `list_filter` and `date_hierarchy` only; the base of every admin class here.

    Django allows every look-up on a field of the model, so `?text__startswith=` would disclose content.
    """

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        names = {_parameter_of(each) for each in self.get_list_filter(request)} | {self.date_hierarchy}
        return any(
            lookup == name or lookup.removeprefix(f"{name}__") in FILTER_LOOKUPS for name in names if name
        )


def record(request: HttpRequest, rows: Iterable[Model], done: str) -> None:
    """The one place where what staff did to rows is noted: in Django's history of them."""
    LogEntry.objects.log_actions(
        user_id=request.user.pk or 0,
        queryset=list(rows),
        action_flag=CHANGE,
        change_message=done,
    )


def _parameter_of(listed: Any) -> str:
    """The field of an entry of `list_filter`, or the parameter of a filter class."""
    name = listed[0] if isinstance(listed, tuple) else listed
    return name if isinstance(name, str) else str(name.parameter_name)


class RecordAdmin(CsvMixin, FilteredAdmin):
    """Read-only pages."""

    paginator = BoundedPaginator
    change_list_template = "admin/record_list.html"

    list_per_page = 50
    show_full_result_count = False
    view_on_site = False
    search_help_text = "Owner, session id or model"

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.model._meta.model_name}-csv"
        return [path("csv/", self.admin_site.admin_view(self.csv), name=name), *super().get_urls()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class SessionPartAdmin(RecordAdmin):
    """Rows of a session, with its short id as a column."""

    @admin.display(ordering="session__public", description="session")
    def in_session(self, row: Any) -> str:
        return short(row.session.public)


class ChoiceFilter(admin.SimpleListFilter):
    """A filter over fixed values, since Django's own scans the table for distinct values."""

    values: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(value, value.replace("_", " ")) for value in self.values]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        return queryset.filter(**{str(self.parameter_name): chosen}) if chosen else queryset


def short(public: UUID) -> str:
    """The first eight digits of a public id."""
    return str(public)[:8]


def percent(part: int | None, whole: int | None) -> str:
    return "–" if not whole else f"{100 * (part or 0) // whole} %"


def milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f} ms"
