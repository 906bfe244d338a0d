"""Files of what a list shows: as many rows as are filtered or chosen, with its columns.

A code that the list shows as words is a code in the file. A sum, which the list rounds and marks, has a
column in US dollars beside it.
"""

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field, lookup_field
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from sessions_app.admin.labels import stored_code
from sessions_app.log_codes import LoggedAction
from sessions_app.models.audit_entry import record
from sessions_app.spreadsheets import escape_formulas

LARGEST = 100_000
"""Rows of an export."""


class CsvMixin:
    """`csv/` below a list: the filtered rows with its columns, so nothing that the list does not show."""

    def csv(self: Any, request: HttpRequest) -> StreamingHttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters as error:
            raise BadRequest("This address names no filter of the list.") from error
        return exported(self, request, rows, "csv")


class _Echo:
    """A file that gives back what is written."""

    def write(self, line: str) -> str:
        return line


def exported(listing: Any, request: HttpRequest, rows: QuerySet[Any], form: str) -> StreamingHttpResponse:
    """A file of these rows with the columns of their list, in one of `FORMS`; it stands in the audit log."""
    record(LoggedAction.EXPORTED, request.user, listing.model, form=form)
    columns = [name for name in listing.get_list_display(request) if name != "action_checkbox"]
    write, kind = FORMS[form]
    response = StreamingHttpResponse(write(rows[:LARGEST], columns, listing), content_type=kind)
    name = f"{listing.model._meta.model_name}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def csv_lines(rows: QuerySet[Any], columns: list[str], listing: Any) -> Iterator[str]:
    write: Callable[[Any], str] = csv.writer(_Echo()).writerow
    cells = dict(_cells(columns, listing))
    yield write(cells)
    for row in rows.iterator(chunk_size=1_000):
        yield write(escape_formulas(cell(row) for cell in cells.values()))


def json_lines(rows: QuerySet[Any], columns: list[str], listing: Any) -> Iterator[str]:
    """One list, an object on each line."""
    cells = dict(_cells(columns, listing))
    before = "[\n"
    for row in rows.iterator(chunk_size=1_000):
        told = {label: cell(row) for label, cell in cells.items()}
        yield before + json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _cells(columns: list[str], listing: Any) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """The columns of the file by their headings."""
    for name in columns:
        label = str(label_for_field(name, listing.model, listing))
        yield label, partial(_cell, name, listing)
        if usd := getattr(getattr(listing, name, None), "summed_usd", None):
            yield f"{label}, US dollars", partial(_or_empty, usd)


def _cell(name: str, listing: Any, row: Model) -> object:
    value = stored_code(getattr(listing, name, None), row)
    if value is None:
        value = lookup_field(name, row, listing)[2]
    return "" if value is None else str(value) if isinstance(value, Model) else value


def _or_empty(read: Callable[[Model], object], row: Model) -> object:
    value = read(row)
    return "" if value is None else value


FORMS = {"csv": (csv_lines, "text/csv; charset=utf-8"), "json": (json_lines, "application/json")}
"""Form of a file → what writes its pieces, and its type."""
