"""How the database is emptied after a test that commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate

from sessions_app import append_only

KEPT = {"django_content_type", "auth_permission"}
"""Tables with rows of which no test changes any: Django makes them of the models."""

PERMISSIONS = "django.contrib.auth.management.create_permissions"
"""The name under which Django has connected `create_permissions`."""


@contextmanager
def flushes() -> Iterator[None]:
    """Flushes take the rows of the audit log too, and cost no more than the test has written."""
    emptied = deletes if connection.vendor == "postgresql" else deletes_without_triggers
    with pytest.MonkeyPatch.context() as patch:
        emptied(patch, type(connection.ops))
        patch.setattr("django.core.management.commands.flush.emit_post_migrate_signal", seed)
        yield


def deletes(patch: pytest.MonkeyPatch, operations: Any) -> None:
    """Foreign keys and triggers are not asked. TRUNCATE gives each table and index a new file: 0.15 s."""

    def sql_flush(self: Any, _style: Any, tables: Any, **_: Any) -> list[str]:
        statements = "; ".join(
            f"DELETE FROM {self.quote_name(table)}" for table in tables if table not in KEPT
        )
        return [f"SET LOCAL session_replication_role = replica; {statements}"]

    patch.setattr(operations, "sql_flush", sql_flush)


def deletes_without_triggers(patch: pytest.MonkeyPatch, operations: Any) -> None:
    sql_flush, execute = operations.sql_flush, operations.execute_sql_flush

    def sql_flush_of_others(self: Any, style: Any, tables: Any, **options: Any) -> Any:
        return sql_flush(self, style, [table for table in tables if table not in KEPT], **options)

    def execute_sql_flush(self: Any, statements: Any) -> None:
        append_only.remove(self.connection)
        execute(self, statements)
        append_only.prepare(self.connection)

    patch.setattr(operations, "sql_flush", sql_flush_of_others)
    patch.setattr(operations, "execute_sql_flush", execute_sql_flush)


def seed(verbosity: int, interactive: bool, db: str, **_: Any) -> None:
    """What `post_migrate` does for this project; for the rest every row is there."""
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid=PERMISSIONS)
    try:
        app = apps.get_app_config("sessions_app")
        post_migrate.send(
            app, app_config=app, verbosity=verbosity, interactive=interactive, using=db, apps=apps, plan=[]
        )
    finally:
        post_migrate.connect(create_contenttypes)
        post_migrate.connect(create_permissions, dispatch_uid=PERMISSIONS)
