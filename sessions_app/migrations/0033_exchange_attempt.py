from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def forget_times_that_nobody_took(apps: Any, editor: Any) -> None:
    """Earlier versions wrote 0 for an exchange that ended before its first chunk."""
    exchanges = apps.get_model("sessions_app", "Exchange").objects.using(editor.connection.alias)
    exchanges.filter(total_ms=0).update(total_ms=None)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0031_model_lifecycle")]

    operations = [
        migrations.CreateModel(
            name="ExchangeAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(help_text="Counts from 1 in the exchange.")),
                ("waited_ms", models.FloatField(default=0, help_text="The pause before it.")),
                ("started_at", models.DateTimeField()),
                ("request_headers", models.JSONField(blank=True, default=list)),
                (
                    "status",
                    models.PositiveSmallIntegerField(help_text="Empty: no response came.", null=True),
                ),
                (
                    "reason",
                    models.CharField(blank=True, help_text="The words after the status.", max_length=80),
                ),
                ("http_version", models.CharField(blank=True, max_length=12)),
                ("response_headers", models.JSONField(blank=True, default=list)),
                ("head_ms", models.FloatField(help_text="Until the head of the response.", null=True)),
                ("total_ms", models.FloatField(help_text="Until the end of the response.", null=True)),
                (
                    "is_cut",
                    models.BooleanField(
                        default=False,
                        help_text="`body` is the beginning only, or was not read: it was compressed.",
                    ),
                ),
                (
                    "body",
                    models.ForeignKey(
                        help_text="What came in place of an answer, or of its next event.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.blob",
                    ),
                ),
                (
                    "exchange",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="sessions_app.exchange",
                    ),
                ),
            ],
            options={
                "ordering": ["exchange", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("exchange", "number"), name="attempt_number_in_exchange")
                ],
            },
        ),
        migrations.RunPython(forget_times_that_nobody_took, migrations.RunPython.noop),
    ]
