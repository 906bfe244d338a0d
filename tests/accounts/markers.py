"""A marker in every field that can hold a text, of every row that leads to a person."""

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, models
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app import append_only
from sessions_app.chat.person_export import APPS
from sessions_app.context.mcp_logs import LOGS
from sessions_app.context.workspaces import workspace_of

if TYPE_CHECKING:
    Field = models.Field[Any, Any]
else:
    # Generic only in the stubs.
    Field = models.Field

NOT_A_PERSONS = {
    "AllowedCommand": "an admin's, of the installation",
    "DatabaseProbe": "a heartbeat of the installation",
    "CacheRefusal": "what a model refuses",
    "McpServer": "an admin's, of the installation",
    "McpTool": "what a server of the installation listed",
    "ModelFacts": "of the installation",
    "ModelLifecycle": "of the installation",
    "PersonalLimits": "numbers",
    "Price": "of the installation",
    "PromptText": "the installation's library",
    "ProviderFileRemoval": "made by the erasure",
    "RetentionReport": "counts",
    "RetentionRules": "of the installation",
    "SeededLifecycle": "of the installation",
    "SearchPrice": "of the installation",
    "SeededPrice": "of the installation",
    "SocialApp": "of the installation",
    "SeededSearchPrice": "of the installation",
}
"""Models without a row of a person, with the reason."""

KEPT = {
    "Attachment": {"uri", "route"},
    "AuditEntry": {"action", "kind", "key", "actor"},
    "Booking": {"model", "cause", "source", "cache_name"},
    "CacheEntry": {"fingerprint", "model", "route", "name", "state", "reason"},
    "CacheEvent": {"kind", "name", "reason", "said"},
    "Spending": {"model", "source"},
}
"""Columns of rows that stay without a person: names of models, codes, and what the provider named or said.

A file's address is kept until the provider has deleted the file. The actor of the audit log is whoever did
something to the person; the person's own name there has the marker of `User.username`.
"""


class Marker:
    """A word of its own for each field: `found` tells which field left it."""

    def __init__(self) -> None:
        self.seed = uuid.uuid4().hex[:10]
        self.fields: dict[str, str] = {}

    def word(self, field: Field | str) -> str:
        name = field if isinstance(field, str) else f"{field.model.__name__}.{field.name}"
        number = list(self.fields).index(name) if name in self.fields else len(self.fields)
        self.fields.setdefault(name, f"zq{self.seed}{number:03d}")
        return self.fields[name]

    def left_in(self, data: bytes) -> set[str]:
        """The fields whose marker is in these bytes, in whatever letters."""
        lowered = data.lower()
        if self.seed.encode() not in lowered:
            return set()
        return {name for name, word in self.fields.items() if word.encode() in lowered}


def models_of_people() -> Iterator[type[models.Model]]:
    for model in (
        model for app in APPS if app in apps.app_configs for model in apps.app_configs[app].get_models()
    ):
        if model.__name__ not in NOT_A_PERSONS:
            yield model


def make_missing(person: User) -> None:
    """A row of each model that has none yet, of the person; those that others name come first."""
    waiting = [model for model in models_of_people() if not model._base_manager.exists()]
    for _ in range(len(waiting)):
        for model in [*waiting]:
            columns = {field.name: filling(field, person) for field in required_fields(model)}
            if all(value is not None for value in columns.values()):
                model._base_manager.create(**columns)
                waiting.remove(model)
    assert waiting == []


def required_fields(model: type[models.Model]) -> Iterator[Field]:
    for field in model._meta.concrete_fields:
        is_given = field.primary_key or field.has_default() or getattr(field, "auto_now_add", False)
        # The person is named wherever a row can name one.
        if field.related_model is User or not (is_given or field.null):
            yield field


def filling(field: Field, person: User) -> Any:
    if field.related_model is User:
        return person
    if field.is_relation:
        return field.related_model._base_manager.first()  # type: ignore[union-attr]
    fillings = {
        models.DateField: timezone.now(),
        models.BinaryField: b"",
        models.GenericIPAddressField: "192.0.2.1",
        models.JSONField: {},
        models.CharField: "",
        models.TextField: "",
    }
    return next((value for kind, value in fillings.items() if isinstance(field, kind)), 1)


def mark_rows(person: User, marker: Marker) -> None:
    """Writes the markers into the rows that there are by plain UPDATEs, which the audit log refuses."""
    append_only.remove(connection)
    for model in models_of_people():
        kept = KEPT.get(model.__name__, ())
        fields = [field for field in model._meta.concrete_fields if field.name not in kept]
        values = {one.attname: value for one in fields if (value := value_for(one, marker)) is not None}
        for number, row in enumerate(model._base_manager.all()):
            # Columns that may not repeat need a value of each row's own.
            own = {
                key: f"{value}{number}" if isinstance(value, str) else value for key, value in values.items()
            }
            if own:
                QuerySet.update(model._base_manager.filter(pk=row.pk), **own)
    append_only.prepare(connection)
    names = {"first_name": "User.first_name", "last_name": "User.last_name", "email": "User.email"}
    User.objects.filter(pk=person.pk).update(**{name: marker.word(where) for name, where in names.items()})


def value_for(field: Field, marker: Marker) -> Any:
    """None where a text has no place: numbers, times, keys, codes of few letters."""
    if field.is_relation or field.primary_key or isinstance(field, models.UUIDField) or field.choices:
        return None
    if isinstance(field, models.JSONField):
        return {"marker": marker.word(field)}
    if isinstance(field, models.BinaryField):
        return marker.word(field).encode()
    longest = getattr(field, "max_length", None) or 10_000
    if isinstance(field, models.CharField | models.TextField) and longest >= 20:
        return marker.word(field)
    return None


def mark_files(person: User, marker: Marker) -> None:
    folder = workspace_of(person.pk).root
    (folder / "deep").mkdir()
    for name in ("plain.txt", "deep/er.bin", ".hidden"):
        (folder / name).write_bytes(marker.word(f"file {name}").encode())
    (folder / f"{marker.word('file name')}.txt").touch()
    # What the process of an MCP server wrote to stderr for the person.
    logs = settings.PIPEWEB_DATA / LOGS
    logs.mkdir(exist_ok=True)
    (logs / f"{uuid.uuid4()}.{person.pk}.1.log").write_bytes(marker.word("log of a server").encode())


def everything_stored() -> Iterator[tuple[str, bytes]]:
    """Every file of the data folder and the workspaces, and every column of every table of the database."""
    for root in {settings.PIPEWEB_DATA, settings.PIPEWEB_WORKSPACES}:
        for path in root.rglob("*"):
            yield f"name of {path.name}", path.name.encode()
            if path.is_file():
                yield str(path.name), path.read_bytes()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                for value in row:
                    yield (
                        table,
                        bytes(value) if isinstance(value, memoryview | bytes) else str(value).encode(),
                    )
