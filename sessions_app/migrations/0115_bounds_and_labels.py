"""Bounds of ages and prices that forms check, and clearer labels of approvals. No table changes."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0114_cut_off_bookings"),
    ]

    operations = [
        migrations.AlterField(
            model_name="mcpserver",
            name="approval",
            field=models.CharField(
                choices=[
                    ("always", "allowed without asking"),
                    ("ask", "ask the person"),
                    ("never", "never call it"),
                ],
                default="ask",
                help_text="Of each call, where the tool below says nothing else.",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="mcptool",
            name="approval",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "as the server"),
                    ("always", "allowed without asking"),
                    ("ask", "ask the person"),
                    ("never", "never call it"),
                ],
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="cached",
            field=models.DecimalField(decimal_places=6, max_digits=12, validators=[MinValueValidator(0)]),
        ),
        migrations.AlterField(
            model_name="price",
            name="cached_above",
            field=models.DecimalField(
                blank=True, decimal_places=6, max_digits=12, null=True, validators=[MinValueValidator(0)]
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="input",
            field=models.DecimalField(decimal_places=6, max_digits=12, validators=[MinValueValidator(0)]),
        ),
        migrations.AlterField(
            model_name="price",
            name="input_above",
            field=models.DecimalField(
                blank=True, decimal_places=6, max_digits=12, null=True, validators=[MinValueValidator(0)]
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="output",
            field=models.DecimalField(
                decimal_places=6,
                help_text="Thoughts included.",
                max_digits=12,
                validators=[MinValueValidator(0)],
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="output_above",
            field=models.DecimalField(
                blank=True, decimal_places=6, max_digits=12, null=True, validators=[MinValueValidator(0)]
            ),
        ),
        migrations.AlterField(
            model_name="price",
            name="storage",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="Per million tokens and hour; null: unknown.",
                max_digits=12,
                null=True,
                validators=[MinValueValidator(0)],
            ),
        ),
        migrations.AlterField(
            model_name="retentionrules",
            name="payload_days",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Payloads go so many days after the last use of their session.",
                null=True,
                validators=[MinValueValidator(1), MaxValueValidator(36500)],
            ),
        ),
        migrations.AlterField(
            model_name="retentionrules",
            name="session_days",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Whole sessions are erased so many days after their last use.",
                null=True,
                validators=[MinValueValidator(1), MaxValueValidator(36500)],
            ),
        ),
        migrations.AlterField(
            model_name="retentionrules",
            name="trash_days",
            field=models.PositiveIntegerField(
                default=30,
                help_text="Deleted sessions are erased after so many days.",
                validators=[MaxValueValidator(36500)],
            ),
        ),
        migrations.AlterField(
            model_name="searchprice",
            name="usd",
            field=models.DecimalField(
                decimal_places=6, help_text="Per thousand.", max_digits=12, validators=[MinValueValidator(0)]
            ),
        ),
    ]
