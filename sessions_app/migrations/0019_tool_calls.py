import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0018_refused_signatures"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="closing",
            field=models.BooleanField(
                default=False, help_text="Written by Pipeweb below a tool round that brought no answer."
            ),
        ),
        migrations.CreateModel(
            name="ToolCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("index", models.PositiveIntegerField(help_text="Counts the calls of the turn from 0.")),
                ("began_at", models.DateTimeField(blank=True, null=True)),
                (
                    "ended_at",
                    models.DateTimeField(blank=True, help_text="Its effects are committed.", null=True),
                ),
                ("response", models.BinaryField(default=b"", help_text="The response as JSON.")),
                (
                    "run",
                    models.ForeignKey(
                        help_text="The last that dealt with it.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_calls",
                        to="sessions_app.run",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_calls",
                        to="sessions_app.turn",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("turn", "index"), name="tool_call_once"),
                ],
            },
        ),
    ]
