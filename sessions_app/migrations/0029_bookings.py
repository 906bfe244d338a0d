import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SOURCES = [("provider", "Provider"), ("emulator", "Emulator"), ("unknown", "Unknown")]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("sessions_app", "0028_exchange_loss"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="spending",
            options={"ordering": ["-day", "model", "source"], "verbose_name_plural": "spending"},
        ),
        migrations.RemoveConstraint(model_name="spending", name="spending_once"),
        migrations.AddField(
            model_name="allowance",
            name="counts_emulator",
            field=models.BooleanField(
                default=False,
                help_text="Whether budgets also count what the emulator's answers would have cost.",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="emulated_usd",
            field=models.DecimalField(
                decimal_places=8,
                default=0,
                help_text="The part of it that the emulator counted.",
                max_digits=16,
            ),
        ),
        migrations.AlterField(
            model_name="session",
            name="spent_usd",
            field=models.DecimalField(
                decimal_places=8,
                default=0,
                help_text=(
                    "The sum of its bookings, as far as prices were known; kept so that a budget needs no sum."
                ),
                max_digits=16,
            ),
        ),
        migrations.AlterField(
            model_name="session",
            name="unpriced",
            field=models.PositiveIntegerField(default=0, help_text="Bookings whose price is unknown."),
        ),
        migrations.AddField(
            model_name="spending",
            name="source",
            field=models.CharField(choices=SOURCES, default="unknown", max_length=8),
        ),
        migrations.AlterField(
            model_name="spending",
            name="owner",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="spending",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="spending",
            name="unpriced",
            field=models.PositiveIntegerField(default=0, help_text="Bookings whose price is unknown."),
        ),
        migrations.AlterField(
            model_name="spending",
            name="usd",
            field=models.DecimalField(
                decimal_places=8, default=0, help_text="Of the requests.", max_digits=16
            ),
        ),
        migrations.AddConstraint(
            model_name="spending",
            constraint=models.UniqueConstraint(
                fields=("owner", "day", "model", "source"), name="spending_once"
            ),
        ),
        migrations.CreateModel(
            name="Booking",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("model", models.CharField(max_length=80)),
                (
                    "cause",
                    models.CharField(
                        help_text="What it paid for (prompt.bookings.SpendingCause).", max_length=12
                    ),
                ),
                ("source", models.CharField(choices=SOURCES, default="unknown", max_length=8)),
                (
                    "usd",
                    models.DecimalField(
                        decimal_places=8, help_text="Null: the price is unknown.", max_digits=16, null=True
                    ),
                ),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("cached_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                ("thought_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "cache_name",
                    models.CharField(
                        blank=True, help_text="The cache that was made or kept.", max_length=120
                    ),
                ),
                (
                    "stored_seconds",
                    models.FloatField(
                        default=0,
                        help_text="Storage of the cache, paid ahead; negative: it ended so much earlier.",
                    ),
                ),
                (
                    "exchange",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.exchange",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "price",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.price",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="bookings",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(fields=["owner", "day"], name="booking_of_day"),
                    models.Index(
                        condition=models.Q(("cache_name", ""), _negated=True),
                        fields=["cache_name"],
                        name="booking_of_cache",
                    ),
                ],
            },
        ),
    ]
