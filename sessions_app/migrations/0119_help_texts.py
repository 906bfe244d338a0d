"""Help texts name places that are in the tree. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0118_answer_keys"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attachment",
            name="route",
            field=models.CharField(
                blank=True, help_text="The host and API key that keep the copy.", max_length=64
            ),
        ),
        migrations.AlterField(
            model_name="exchange",
            name="break_line",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Where the prefix left the previous exchange's (prompt.prefix_diff.BreakLine).",
            ),
        ),
        migrations.AlterField(
            model_name="exchange",
            name="ledger",
            field=models.JSONField(
                blank=True, default=dict, help_text="Estimated hits and misses (prompt.prefix_diff.Ledger)."
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="outcome",
            field=models.CharField(
                blank=True, help_text="How the last reply ended (prompt.outcomes.Outcome).", max_length=24
            ),
        ),
    ]
