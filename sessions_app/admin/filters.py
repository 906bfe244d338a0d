"""Filters of long lists: their choices are known without a scan, and each is found by an index."""

import re
from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from sessions_app import errors
from sessions_app.admin.bounded_list import counts_of
from sessions_app.admin.searching import of_people
from sessions_app.context.model_lookup import model_names
from sessions_app.errors import PipewebError
from sessions_app.models.columns import ErrorKind

KEY = re.compile("[0-9]{1,18}")
"""What both databases can compare with a key."""

PEOPLE = 100
"""The most people that a filter offers by name; others are found by the search."""


class ChosenFilter(admin.SimpleListFilter):
    """A filter by one value of a column. It counts all choices in one statement, Django one by one."""

    column = ""
    """What is counted; the parameter where it is empty."""

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        if not chosen:
            return queryset
        known = {key for key, _ in self.lookup_choices}
        return self.chosen_of(queryset, chosen) if chosen in known else queryset.none()

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        return queryset.filter(**{self.column or str(self.parameter_name): chosen})

    def get_facet_queryset(self, changelist: Any) -> dict[str, int]:
        rows = changelist.get_queryset(self.request, self.expected_parameters())
        counts = {str(value): n for value, n in self.counted(rows).items()}
        return {f"{i}__c": counts.get(key, 0) for i, (key, _) in enumerate(self.lookup_choices)}

    def counted(self, rows: Any) -> dict[Any, int]:
        return counts_of(rows, self.column or str(self.parameter_name))


class ChoiceFilter(ChosenFilter):
    """A filter over fixed values. Django's own scans the table for distinct values."""

    labels: Mapping[str, str] = {}
    """What the page says, by the stored value."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*self.labels.items()]


class ModelFilter(ChosenFilter):
    """A filter by the models that are known here."""

    title = "model"
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in model_names()]


class OwnerFilter(ChosenFilter):
    """People by name; `column` is the way from a row to its owner."""

    title = "owner"
    parameter_name = "of"
    column = "session__owner"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        people = User.objects.order_by("username").values_list("pk", "username")[:PEOPLE]
        return [(str(pk), name) for pk, name in people]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        if not chosen:
            return queryset
        # Not only who is offered: a page of a person leads here.
        return self.chosen_of(queryset, chosen) if KEY.fullmatch(chosen) else queryset.none()

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        return queryset.filter(of_people(self.column, [int(chosen)]))


class OwnOwnerFilter(OwnerFilter):
    """For rows that name their owner themselves."""

    column = "owner"


class ErrorFilter(ChosenFilter):
    """A filter by class of error, never by what it says."""

    title = "error"
    parameter_name = "failed_with"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in error_kinds()]

    def chosen_of(self, queryset: Any, chosen: str) -> Any:
        return queryset.alias(error_kind=ErrorKind("error")).filter(error_kind=chosen)

    def counted(self, rows: Any) -> dict[Any, int]:
        return counts_of(rows.annotate(error_kind=ErrorKind("error")), "error_kind")


def error_kinds() -> list[str]:
    """The names of our classes of errors."""
    known = (getattr(errors, name) for name in errors.__all__)
    return sorted(one.__name__ for one in known if isinstance(one, type) and issubclass(one, PipewebError))
