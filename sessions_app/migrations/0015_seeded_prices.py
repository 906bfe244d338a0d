"""Remembers which prices of the catalogue a database was given; those of 0006 are marked as given."""

from importlib import import_module
from typing import Any

from django.db import migrations, models


def mark(apps: Any, schema_editor: Any) -> None:
    first = import_module("sessions_app.migrations.0006_prices")
    keys = [(row[0], row[1]) for row in first.ROWS] + [(row[0], first.LISTED) for row in first.TIERED]
    seeded = apps.get_model("sessions_app", "SeededPrice")
    rows = [seeded(model=model, valid_from=valid_from) for model, valid_from in keys]
    seeded.objects.using(schema_editor.connection.alias).bulk_create(rows)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0014_sentences_gone")]

    operations = [
        migrations.CreateModel(
            name="SeededPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=80)),
                ("valid_from", models.DateField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model", "valid_from"), name="seeded_price_once")
                ]
            },
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
