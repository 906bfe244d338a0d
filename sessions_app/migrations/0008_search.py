"""The words of every turn, for search: an FTS5 table that triggers keep, or a GIN index."""

from typing import Any

from django.db import migrations

from sessions_app.fulltext import prepare, remove


def forwards(apps: Any, schema_editor: Any) -> None:
    prepare(schema_editor.connection)


def backwards(apps: Any, schema_editor: Any) -> None:
    remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0007_kept_caches")]

    operations = [migrations.RunPython(forwards, backwards)]
