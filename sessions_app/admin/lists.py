"""Lists of many rows: pages without a count of all of them, filters by owner and error, and CSV."""

import csv
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import label_for_field, lookup_field
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.functional import cached_property

from sessions_app import errors
from sessions_app.errors import PipewebError
from sessions_app.spreadsheets import escape_formulas

if TYPE_CHECKING:
    BasePaginator = Paginator[Any]
else:
    # Generic only in the stubs.
    BasePaginator = Paginator

COUNTED = 2_000
"""Rows that a list counts and pages through; what is further back is found by filters."""

CSV_ROWS = 100_000

PEOPLE = 100
"""That a filter offers, by name; others are found by the search."""


class AtLeast(int):
    """A number of rows that were not counted further."""

    def __str__(self) -> str:
        return f"{int(self):,} or more"


class BoundedPaginator(BasePaginator):
    """Counts `COUNTED` rows at most, so that a page costs the same however many there are."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found = len(rows.order_by().values_list("pk", flat=True)[:COUNTED])
        return AtLeast(found) if found == COUNTED else found


class OwnerFilter(admin.SimpleListFilter):
    """People by name; `field_path` is the way from a row to its owner."""

    title = "owner"
    parameter_name = "of"
    field_path = "session__owner"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        people = User.objects.order_by("username").values_list("pk", "username")[:PEOPLE]
        return [(str(pk), name) for pk, name in people]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        if not chosen:
            return queryset
        return queryset.filter(**{self.field_path: int(chosen)}) if chosen.isdecimal() else queryset.none()


class OwnOwnerFilter(OwnerFilter):
    """For rows that name their owner themselves."""

    field_path = "owner"


class ErrorFilter(admin.SimpleListFilter):
    """By class of error, never by what it says."""

    title = "error"
    parameter_name = "failed_with"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in error_kinds()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        if not chosen:
            return queryset
        return queryset.filter(error__kind=chosen) if chosen in error_kinds() else queryset.none()


def error_kinds() -> list[str]:
    """The names of our classes of errors."""
    known = (getattr(errors, name) for name in errors.__all__)
    return sorted(one.__name__ for one in known if isinstance(one, type) and issubclass(one, PipewebError))


class CsvMixin:
    """`csv/` below a list: the filtered rows with its columns, so nothing that the list does not show."""

    def csv(self: Any, request: HttpRequest) -> StreamingHttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        listing = self.get_changelist_instance(request)
        columns = [name for name in listing.list_display if name != "action_checkbox"]
        name = self.model._meta.model_name
        lines = csv_lines(listing.queryset[:CSV_ROWS], columns, self)
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
        return response


class _Echo:
    """A file that gives back what is written."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: QuerySet[Any], columns: list[str], listing: Any) -> Iterator[str]:
    write: Callable[[Any], str] = csv.writer(_Echo()).writerow
    yield write([label_for_field(name, listing.model, listing) for name in columns])
    for row in rows.iterator(chunk_size=1_000):
        yield write(escape_formulas(_cell(name, row, listing) for name in columns))


def _cell(name: str, row: Model, listing: Any) -> object:
    value = lookup_field(name, row, listing)[2]
    return "" if value is None else str(value) if isinstance(value, Model) else value
