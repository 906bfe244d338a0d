"""Whether a JSON answer fits the schema that it was asked for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0108_search_prices"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="fit",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Whether a JSON answer fits its schema (prompt.answer_schema.Fit); empty without one.",
            ),
        ),
    ]
