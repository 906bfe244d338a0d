"""Base classes of the admin."""

from collections.abc import Iterable
from datetime import MAXYEAR, MINYEAR
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path

from sessions_app.admin.bounded_list import COUNTED, BoundedChangeList, BoundedPaginator
from sessions_app.admin.lists import LARGEST, CsvMixin
from sessions_app.admin.searching import search
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.models.audit_entry import record
from sessions_app.prompt.tokens import cached_percent
from sessions_app.wording import audit_log

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    # Generic only in the stubs.
    ModelAdmin = admin.ModelAdmin


FILTER_LOOKUPS = frozenset(
    {"exact", "id__exact", "in", "isnull", "isempty", "gte", "lt", "year", "month", "day"}
)
"""The lookups of Django's own filters and of its date hierarchy."""


YEARS = frozenset(map(str, range(MINYEAR + 1, MAXYEAR)))
"""Those of which every time zone has each day."""

LOGGED = 100
"""Entries of the audit log on the page of a row's history."""


class FilteredAdmin(ModelAdmin):
    """Allows look-ups of `list_filter` and `date_hierarchy` only; the base of every admin class here.

    Who looks at a list or a row, or acts on rows, stands in the audit log.

    Django allows every look-up on a field of the model, so `?text__startswith=` would disclose content.
    """

    object_history_template = "admin/logged_history.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response: HttpResponse = super().changelist_view(request, extra_context)
        if request.method == "GET" and response.status_code == 200:
            record(LoggedAction.STAFF_VIEWED, request.user, self.model, filters=sorted(request.GET))
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **named: Any
    ) -> HttpResponse:
        obj = context.get("original")
        if obj is not None and request.method == "GET":
            record(LoggedAction.STAFF_VIEWED, request.user, obj)
        response: HttpResponse = super().render_change_form(request, context, *args, **named)
        return response

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With what the audit log says of the row, for whoever may see that: changes as old and new."""
        row = self.get_object(request, unquote(object_id))
        if row is not None and request.user.has_perm("sessions_app.view_auditentry"):
            extra_context = {**(extra_context or {}), "logged": logged_of(row)}
        response: HttpResponse = super().history_view(request, object_id, extra_context)
        return response

    def response_action(self, request: HttpRequest, queryset: Any, *where: Any, **more: Any) -> Any:
        """Actions of lists, named with the number of rows, of which there are `COUNTED` at most."""
        name, chosen = request.POST.get("action", ""), request.POST.getlist(ACTION_CHECKBOX_NAME)
        if name in self.get_actions(request) and chosen:
            is_all = request.POST.get("select_across", "0") != "0"
            count = queryset.count() if is_all else len(chosen)
            if count > COUNTED:
                told = f"An action takes {COUNTED:,} rows at most; {count:,} were chosen. Filters find fewer."
                self.message_user(request, told, messages.WARNING)
                return HttpResponseRedirect(request.get_full_path())
            record(LoggedAction.ADMIN_ACTION, request.user, self.model, name=name, count=count)
        return super().response_action(request, queryset, *where, **more)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Django computes the dates of a year without asking whether there is one."""
        if lookup.endswith("__year") and str(value) not in YEARS:
            return False
        names = {_parameter_of(each) for each in self.get_list_filter(request)} | {self.date_hierarchy}
        return any(
            lookup == name or lookup.removeprefix(f"{name}__") in FILTER_LOOKUPS for name in names if name
        )


def logged_of(row: Model) -> list[dict[str, Any]]:
    """The newest entries of the audit log about a row, as words; without those who only looked."""
    entries = AuditEntry.objects.on(row).exclude(action=LoggedAction.STAFF_VIEWED)[:LOGGED]
    return [
        {
            "at": one.at,
            "who": audit_log.actor(one.actor, one.actor_key, one.action),
            "what": audit_log.title(one.action),
            "details": audit_log.details(one.figures),
        }
        for one in entries
    ]


def add_history(request: HttpRequest, rows: Iterable[Model], done: str) -> None:
    """Adds what staff did to Django's history of each row; the audit log has the action."""
    LogEntry.objects.log_actions(
        user_id=request.user.pk or 0,
        queryset=list(rows),
        action_flag=CHANGE,
        change_message=done,
    )


def name_column(model: type[Model]) -> str:
    """What pages of the admin call a row: its public id, a person's name, else its key. Never a title."""
    is_public = any(field.name == "public" for field in model._meta.concrete_fields)
    return "public" if is_public else getattr(model, "USERNAME_FIELD", "pk")


def names_of(rows: QuerySet[Any]) -> list[tuple[Any, str]]:
    """(key, name) of each row."""
    return [(pk, str(name)) for pk, name in rows.values_list("pk", name_column(rows.model))]


def _parameter_of(listed: Any) -> str:
    """The field of an entry of `list_filter`, or the parameter of a filter class."""
    name = listed[0] if isinstance(listed, tuple) else listed
    return name if isinstance(name, str) else str(name.parameter_name)


class RecordAdmin(CsvMixin, FilteredAdmin):
    """Read-only pages."""

    is_long = False
    """Whether its table has so many rows that a search must not compare each."""

    paginator = BoundedPaginator
    change_list_template = "admin/record_list.html"

    list_per_page = 50
    show_full_result_count = False
    view_on_site = False
    search_help_text = "Owner, session id or model"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        limits = {"counted": COUNTED, "largest": LARGEST}
        return super().changelist_view(request, limits | (extra_context or {}))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[BoundedChangeList]:
        return BoundedChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not self.is_long:
            return super().get_search_results(request, queryset, search_term)
        return search(queryset, self.get_search_fields(request), search_term), False

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

    @admin.display(ordering="session_id", description="session")
    def in_session(self, row: Any) -> str:
        return short(row.session.public)


def short(public: UUID) -> str:
    """The first eight digits of a public id."""
    return str(public)[:8]


def percent(part: int | None, whole: int | None) -> str:
    share = cached_percent(part or 0, whole)
    return "–" if share is None else f"{share} %"


def milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f} ms"
