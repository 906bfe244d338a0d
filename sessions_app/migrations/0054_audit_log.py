"""The audit log, and the triggers that keep its rows as they were written."""

from typing import Any

import django.utils.timezone
from django.db import migrations, models

from sessions_app.append_only import prepare, remove


def forwards(apps: Any, schema_editor: Any) -> None:
    prepare(schema_editor.connection)


def backwards(apps: Any, schema_editor: Any) -> None:
    remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0053_captured_sessions"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False),
                ),
                ("action", models.CharField(help_text="One of `log_codes.LoggedAction`.", max_length=40)),
                (
                    "actor_key",
                    models.BigIntegerField(help_text="Primary key of the person who did it.", null=True),
                ),
                (
                    "actor",
                    models.CharField(
                        blank=True,
                        help_text="Their name then; empty: nobody who was signed in.",
                        max_length=150,
                    ),
                ),
                (
                    "person_key",
                    models.BigIntegerField(
                        db_index=True, help_text="The person whom it concerns.", null=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(blank=True, help_text="Kind of what it was done to.", max_length=40),
                ),
                ("key", models.CharField(blank=True, max_length=64)),
                (
                    "figures",
                    models.JSONField(
                        blank=True, default=dict, help_text="Changes as old and new; reasons; counts."
                    ),
                ),
                (
                    "address",
                    models.CharField(blank=True, help_text="Of the client, as a keyed hash.", max_length=16),
                ),
                (
                    "emptied_at",
                    models.DateTimeField(
                        help_text="Since when it says nothing of an erased person.", null=True
                    ),
                ),
            ],
            options={
                "verbose_name": "entry of the audit log",
                "verbose_name_plural": "audit log",
                "ordering": ["-pk"],
                "indexes": [models.Index(fields=["action", "at"], name="audit_by_action")],
            },
        ),
        migrations.RunPython(forwards, backwards),
    ]
