"""What becomes of a model from a day on; `post_migrate` adds the rows of the catalogue."""

from typing import Any

from django.db import migrations, models


def key() -> Any:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0030_book_the_past")]

    operations = [
        migrations.CreateModel(
            name="ModelLifecycle",
            fields=[
                ("id", key()),
                ("model", models.CharField(max_length=80)),
                ("valid_from", models.DateField(help_text="The first day on which this holds (UTC).")),
                (
                    "served_by",
                    models.CharField(
                        blank=True,
                        help_text="The model that answers; empty: the model itself.",
                        max_length=80,
                    ),
                ),
                (
                    "is_retired",
                    models.BooleanField(
                        default=False, help_text="The provider shut it down.", verbose_name="retired"
                    ),
                ),
                (
                    "successor",
                    models.CharField(
                        blank=True,
                        help_text="What the provider recommends instead; empty: unknown.",
                        max_length=80,
                    ),
                ),
                ("source", models.CharField(help_text="Where and when this was read.", max_length=300)),
            ],
            options={
                "verbose_name_plural": "model lifecycles",
                "ordering": ["model", "-valid_from"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("model", "valid_from"), name="model_lifecycle_once_per_day"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SeededLifecycle",
            fields=[
                ("id", key()),
                ("model", models.CharField(max_length=80)),
                ("valid_from", models.DateField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model", "valid_from"), name="seeded_lifecycle_once")
                ]
            },
        ),
    ]
