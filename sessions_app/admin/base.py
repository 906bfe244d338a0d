"""Base classes of the admin."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from sessions_app.admin.lists import BoundedPaginator, CsvMixin
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record

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

    Who looks at a list or a row, or acts on rows, stands in the audit log.

    Django allows every look-up on a field of the model, so `?text__startswith=` would disclose content.
    """

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response: HttpResponse = super().changelist_view(request, extra_context)
        if request.method == "GET" and response.status_code == 200:
            record(LoggedAction.STAFF_VIEWED, request.user, self.model, filters=sorted(request.GET))
        return response

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        if object_id and request.method == "GET" and response.status_code == 200:
            record(LoggedAction.STAFF_VIEWED, request.user, self.get_object(request, object_id))
        return response

    def response_action(self, request: HttpRequest, queryset: Any, *where: Any, **more: Any) -> Any:
        """Actions of lists, named with the number of rows."""
        name, chosen = request.POST.get("action", ""), request.POST.getlist(ACTION_CHECKBOX_NAME)
        if name in self.get_actions(request) and chosen:
            is_all = request.POST.get("select_across", "0") != "0"
            count = queryset.count() if is_all else len(chosen)
            record(LoggedAction.ADMIN_ACTION, request.user, self.model, name=name, count=count)
        return super().response_action(request, queryset, *where, **more)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        names = {_parameter_of(each) for each in self.get_list_filter(request)} | {self.date_hierarchy}
        return any(
            lookup == name or lookup.removeprefix(f"{name}__") in FILTER_LOOKUPS for name in names if name
        )


def add_history(request: HttpRequest, rows: Iterable[Model], done: str) -> None:
    """Adds what staff did to Django's history of each row; the audit log has the action."""
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
