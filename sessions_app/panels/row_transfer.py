"""Copies, exports and reads back the rows of panels that are transferred with a session."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError as FieldError

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.models import Session
from sessions_app.panels import KINDS
from sessions_app.panels.refresh import STATES
from sessions_app.panels.rows import PanelRow, RowSource
from sessions_app.values import check_json, check_moment

TRANSFERRED: tuple[RowSource[Any], ...] = tuple(
    source for source in (*KINDS, STATES) if source.is_transferred
)

BATCH = 500


def copy_rows(session: Session, copy: Session) -> None:
    """Copies the rows to a fork, in a constant number of statements."""
    for source in TRANSFERRED:
        add_rows(source, copy, _rows_of(source, session))


def export_rows(session: Session) -> dict[str, list[dict[str, Any]]]:
    """Key of a source → its rows as JSON; without those that have none."""
    found = {source.key: _rows_of(source, session) for source in TRANSFERRED}
    return {
        key: [row.model_dump(mode="json", exclude={"id"}) for row in rows]
        for key, rows in found.items()
        if rows
    }


def parse_row(source: RowSource[Any], values: Mapping[str, Any], where: str) -> PanelRow:
    """A row of an exported file, which is at `where`. Raises NotImportable for one that cannot be kept."""
    try:
        row = source.row.model_validate(check_json(values))
        _check_columns(source, row)
    except (ValueError, FieldError) as error:
        raise NotImportable(ImportProblem.ROWS, where=where) from error
    return row


def add_rows(source: RowSource[Any], session: Session, rows: Iterable[PanelRow]) -> None:
    made = [source.model(session=session, **row.model_dump(exclude={"id"})) for row in rows]
    source.model.objects.bulk_create(made, batch_size=BATCH)


def _rows_of(source: RowSource[Any], session: Session) -> list[PanelRow]:
    rows = source.model.objects.filter(session=session).order_by(source.order)
    return [source.row.model_validate(values) for values in rows.values(*source.row.model_fields)]


def _check_columns(source: RowSource[Any], row: PanelRow) -> None:
    """Checks the limits of the columns, equally for both databases. Raises FieldError or ValueError."""
    for name, value in row.model_dump(exclude={"id"}).items():
        if isinstance(value, datetime):
            check_moment(value)
        source.model._meta.get_field(name).run_validators(value)
