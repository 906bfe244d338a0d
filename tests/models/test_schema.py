"""What migrations leave in the database is what the models declare; makemigrations compares their states."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models

pytestmark = pytest.mark.django_db

MODELS = [model for model in apps.get_app_config("sessions_app").get_models() if model._meta.managed]


def introspect(model: type[models.Model]) -> Mapping[str, Any]:
    with connection.cursor() as cursor:
        return connection.introspection.get_constraints(cursor, model._meta.db_table)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_each_declared_index_and_constraint_is_in_the_database(model: type[models.Model]) -> None:
    declared = {one.name for one in [*model._meta.indexes, *model._meta.constraints]}
    assert declared <= introspect(model).keys()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_column_has_an_index_of_its_own_where_its_field_says_so(model: type[models.Model]) -> None:
    declared = {index.name for index in model._meta.indexes}
    indexed = {
        found["columns"][0]
        for name, found in introspect(model).items()
        if found["index"] and not found["unique"] and len(found["columns"]) == 1
        # PostgreSQL has a second one for LIKE on a unique text.
        if name not in declared and not name.endswith("_like")
    }
    columns: list[Any] = model._meta.local_fields
    asked = {field.column for field in columns if field.db_index and not field.unique}
    assert indexed == asked
