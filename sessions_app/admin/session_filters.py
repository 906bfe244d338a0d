"""Filters of sessions by what happened in them: how the last run stands, verdicts and errors of exchanges."""

from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest

from sessions_app.admin.exchanges import VerdictFilter
from sessions_app.admin.filters import ChosenFilter, ErrorFilter
from sessions_app.models import Exchange, Run
from sessions_app.models.columns import ErrorKind


class LastRunFilter(ChosenFilter):
    """A filter by the status of the newest run."""

    title = "last run"
    parameter_name = "last_run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(value), str(label)) for value, label in Run.Status.choices]

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        return queryset.alias(last_status=_last_status()).filter(last_status=chosen)

    def counted(self, rows: Any) -> dict[Any, int]:
        statuses = rows.order_by().values_list(_last_status())
        return dict(statuses.annotate(Count("pk")))


class SessionVerdictFilter(VerdictFilter):
    """By a verdict that an exchange of the session has. Without counts: all their exchanges would be read."""

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        return queryset.filter(pk__in=Exchange.objects.filter(verdict=chosen).values("session"))

    def get_facet_queryset(self, changelist: Any) -> dict[str, int]:
        return {}


class SessionErrorFilter(ErrorFilter):
    """A filter by an error that ended an exchange of the session."""

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        failed = Exchange.objects.alias(error_kind=ErrorKind("error")).filter(error_kind=chosen)
        return queryset.filter(pk__in=failed.values("session"))

    def counted(self, rows: Any) -> dict[Any, int]:
        failed = Exchange.objects.filter(session__in=rows).exclude(error={})
        kinds = failed.annotate(error_kind=ErrorKind("error")).order_by().values_list("error_kind")
        return dict(kinds.annotate(Count("session", distinct=True)))


def _last_status() -> Subquery:
    return Subquery(Run.objects.filter(session=OuterRef("pk")).order_by("-pk").values("status")[:1])
