"""Lists of any number of rows: they page through, sort and count the newest of those that match."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import InvalidPage, Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

if TYPE_CHECKING:
    BasePaginator = Paginator[Any]
else:
    # Generic only in the stubs.
    BasePaginator = Paginator

COUNTED = 2_000
"""Rows that a list counts, sorts and pages through; what is further back is found by filters."""


class AtLeast(int):
    """A number of rows that were not counted further."""

    def __str__(self) -> str:
        return f"{int(self):,} or more"


class BoundedPaginator(BasePaginator):
    """Pages of keys of which there are `COUNTED` at most."""

    @cached_property
    def count(self) -> int:
        found = len(self.object_list)
        return AtLeast(found) if found >= COUNTED else found


class BoundedChangeList(ChangeList):
    """Reads keys first, and all columns of the rows of one page only.

    A filter finds rows however old they are, by an index; of what it finds the newest `COUNTED` are listed.
    """

    def get_results(self, request: HttpRequest) -> None:
        keys: Any = self._sorted(request, newest(self.queryset))
        paginator = self.model_admin.get_paginator(request, keys, self.list_per_page)
        self.can_show_all = len(keys) <= self.list_max_show_all
        self.multi_page = len(keys) > self.list_per_page
        shown = keys
        if self.multi_page and not (self.show_all and self.can_show_all):
            try:
                shown = list(paginator.page(self.page_num).object_list)
            except InvalidPage:
                raise IncorrectLookupParameters from None
        self.result_count, self.full_result_count = paginator.count, None
        self.show_full_result_count, self.show_admin_actions = False, True
        self.result_list: Any = self._rows(shown)
        self.paginator = paginator

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """With `exclude_parameters` it is for the counts of a filter: those of the newest rows."""
        rows: QuerySet[Any] = super().get_queryset(request, exclude_parameters)
        if exclude_parameters is None:
            return rows
        plain: QuerySet[Any] = self.model._default_manager.order_by()
        return plain.filter(pk__in=rows.order_by("-pk").values("pk")[:COUNTED])

    def _sorted(self, request: HttpRequest, keys: list[Any]) -> list[Any]:
        ordering = self.get_ordering(request, self.root_queryset)
        if ordering[0] == "-pk":
            return keys
        return list(self.root_queryset.filter(pk__in=keys).order_by(*ordering).values_list("pk", flat=True))

    def _rows(self, keys: list[Any]) -> list[Any]:
        rows = self.root_queryset if self.root_queryset.query.select_related else None
        rows = self.apply_select_related(self.root_queryset) if rows is None else rows
        found = rows.order_by().in_bulk(keys)
        return [found[key] for key in keys if key in found]


def newest(rows: QuerySet[Any]) -> list[Any]:
    """The keys of the newest of them, newest first."""
    return list(rows.order_by("-pk").values_list("pk", flat=True)[:COUNTED])


def counts_of(rows: QuerySet[Any], column: str) -> dict[Any, int]:
    return dict(rows.order_by().values_list(column).annotate(Count("pk")))
