import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0050_capture_addresses"),
    ]

    operations = [
        migrations.CreateModel(
            name="CapturedRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("received_at", models.DateTimeField()),
                ("method", models.CharField(max_length=10)),
                ("path", models.CharField(max_length=300)),
                ("client", models.CharField(blank=True, help_text="User-Agent.", max_length=200)),
                ("headers", models.JSONField(blank=True, default=list)),
                (
                    "scope",
                    models.CharField(blank=True, help_text="Program and installation.", max_length=200),
                ),
                (
                    "name",
                    models.CharField(
                        blank=True, help_text="The session's name, given by the client.", max_length=80
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=80)),
                ("session", models.CharField(blank=True, max_length=90)),
                ("lane", models.CharField(blank=True, max_length=90)),
                ("relation", models.CharField(blank=True, max_length=12)),
                ("role", models.CharField(blank=True, max_length=12)),
                ("before", models.CharField(blank=True, max_length=90)),
                (
                    "shared",
                    models.PositiveIntegerField(default=0, help_text="Contents that both begin with."),
                ),
                ("is_guess", models.BooleanField(default=False)),
                ("request_size", models.PositiveBigIntegerField(default=0)),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        help_text="Empty: no response came, or not yet.", null=True
                    ),
                ),
                ("content_type", models.CharField(blank=True, max_length=80)),
                ("response_headers", models.JSONField(blank=True, default=list)),
                ("response_size", models.PositiveBigIntegerField(default=0)),
                (
                    "packets",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Pairs of milliseconds and bytes, as the answer arrived.",
                    ),
                ),
                (
                    "is_cut",
                    models.BooleanField(default=False, help_text="The stored answer is its beginning only."),
                ),
                (
                    "calls",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Texts of the arguments of each call of the answer.",
                    ),
                ),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("cached_tokens", models.PositiveIntegerField(null=True)),
                ("output_tokens", models.PositiveIntegerField(null=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                (
                    "fault",
                    models.CharField(
                        blank=True,
                        help_text="Why Pipeweb itself refused it or could not finish it.",
                        max_length=24,
                    ),
                ),
                ("first_ms", models.FloatField(help_text="Until the first byte of the answer.", null=True)),
                ("total_ms", models.FloatField(null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "address",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="requests",
                        to="sessions_app.captureaddress",
                    ),
                ),
                (
                    "request_body",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.blob",
                    ),
                ),
                (
                    "response_body",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="sessions_app.blob",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["address", "session"], name="captured_by_session"),
                    models.Index(fields=["received_at"], name="captured_by_age"),
                ],
            },
        ),
    ]
