"""Prices of searches at the provider, and how many an answer took."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0107_assistant_tools"),
    ]

    operations = [
        migrations.AddField(
            model_name="booking",
            name="searches",
            field=models.PositiveIntegerField(default=0, help_text="At the provider, as they are charged."),
        ),
        migrations.AddField(
            model_name="exchange",
            name="searches",
            field=models.PositiveIntegerField(
                help_text="Searches of the provider that the answer took; null: an earlier version.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="SearchPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=80)),
                ("valid_from", models.DateField()),
                ("usd", models.DecimalField(decimal_places=6, help_text="Per thousand.", max_digits=12)),
                (
                    "per",
                    models.CharField(
                        choices=[("query", "query"), ("prompt", "prompt that was answered with a search")],
                        max_length=8,
                    ),
                ),
                ("source", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["model", "-valid_from"],
                "constraints": [
                    models.UniqueConstraint(fields=("model", "valid_from"), name="search_price_once_per_day")
                ],
            },
        ),
        migrations.AddField(
            model_name="booking",
            name="search_price",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="sessions_app.searchprice",
            ),
        ),
        migrations.CreateModel(
            name="SeededSearchPrice",
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
                    models.UniqueConstraint(fields=("model", "valid_from"), name="seeded_search_price_once")
                ],
            },
        ),
    ]
