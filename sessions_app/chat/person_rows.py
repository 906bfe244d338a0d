"""The rows of a person's session in a full export, found by the models themselves."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet

from sessions_app.models import Blob, PromptText, Session

BATCH = 50
"""Rows that are read at once."""

SECRET = {"token_hash", "token", "password", "key_hash", "session_key"}
"""Columns with which somebody could sign in or read; they are no content."""

SECRET_OF = {"mfa_authenticator": {"data"}}
"""The same, by table."""

OF_PERSON = ("owner", "user")
"""Names of the columns that say whose a row is. Such rows are in `account.json`."""

PARENTS = ("session", "exchange", "run", "turn", "link")
"""Names of the columns that lead to a session, the shortest way first."""

ELSEWHERE = {
    "RawChunk": "payloads/",
    "RunLog": "the events of an answer, which its turns tell",
    "Turn": "sessions/",
}
"""Models without a file of rows, with what holds them."""

INSTALLED = {Group, PromptText}
"""Models of the installation whose rows have names."""

WITH_BYTES = {"FileChange", "HistoryChunk", "SharedFile", "SharedLink"}
"""Models whose bytes may stand nowhere else in the export."""


class _Encoder(DjangoJSONEncoder):
    """Bytes in a column are text of ours."""

    def default(self, o: Any) -> Any:
        return bytes(o).decode(errors="replace") if isinstance(o, bytes | memoryview) else super().default(o)


def json_of(value: Any, indent: int | None = 1) -> bytes:
    return json.dumps(value, cls=_Encoder, ensure_ascii=False, indent=indent).encode()


def columns_of(row: Model) -> dict[str, Any]:
    names = (one.attname for one in row._meta.concrete_fields)
    secret = SECRET | SECRET_OF.get(row._meta.db_table, set())
    return {name: getattr(row, name) for name in names if name not in secret}


def chosen_in(row: Model) -> dict[str, Any]:
    """Names of what the row has chosen of the installation's: keys say nothing outside of the database."""
    one = [field.name for field in row._meta.concrete_fields if field.related_model in INSTALLED]
    several = [field.name for field in row._meta.many_to_many if field.related_model in INSTALLED]
    names = {name: getattr(getattr(row, name), "name", None) for name in one}
    return names | {name: [each.name for each in getattr(row, name).all()] for name in several}


def rows_of_session(session: Session) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Files of the export: a table each, and the bytes that its rows name."""
    blobs = set[int]()
    for model in apps.get_app_config("sessions_app").get_models():
        way = _way_to_session(model)
        if not way or model.__name__ in ELSEWHERE:
            continue
        rows = model._base_manager.filter(**{way: session.pk}).order_by("pk")
        if keys := list(rows.values_list("pk", flat=True)):
            table = model._meta.db_table.removeprefix("sessions_app_")
            yield f"rows/{session.public}/{table}.ndjson", _lines(rows, keys)
        if model.__name__ in WITH_BYTES:
            blobs |= _blobs_of(rows)
    for key in sorted(blobs):
        for blob in Blob.objects.filter(pk=key):
            yield f"bytes/{session.public}/{key}.bin", [blob.bytes]


def _way_to_session(model: type[Model]) -> str:
    """The path of a query; empty for a model whose rows belong to none."""
    if model is Session:
        return "pk"
    fields: dict[str, Any] = {one.name: one.related_model for one in model._meta.concrete_fields}
    for name in () if fields.keys() & set(OF_PERSON) else PARENTS:
        related = fields.get(name)
        if related is Session:
            return name
        if related is not None and (way := _way_to_session(related)):
            return f"{name}__{way}"
    return ""


def _lines(rows: "QuerySet[Any]", keys: list[Any]) -> Iterator[bytes]:
    """Rows that are still there when it is their turn."""
    for start in range(0, len(keys), BATCH):
        for row in rows.filter(pk__in=keys[start : start + BATCH]):
            yield json_of(columns_of(row), indent=None) + b"\n"


def _blobs_of(rows: "QuerySet[Any]") -> set[int]:
    (name,) = (one.name for one in rows.model._meta.concrete_fields if one.related_model is Blob)
    return set(rows.values_list(name, flat=True)) - {None}
