"""Columns for figures beside those for sentences; the next two migrations keep the text and drop them."""

from django.db import migrations, models

EXCHANGE = {
    "earlier_wording": "What an earlier version said in words only: verdict, cache_plan, strategy, budget.",
    "plan_figures": "Why the cache was planned so (prompt.caching.CachePlan).",
    "strategy_figures": "Why this policy and this mode (prompt.strategy.StrategyRecord).",
    "verdict_figures": "What the verdict rests on (prompt.verdict.Verdict).",
}


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0011_thought_time")]

    operations = [
        *(
            migrations.AddField("exchange", name, models.JSONField(blank=True, default=dict, help_text=text))
            for name, text in EXCHANGE.items()
        ),
        migrations.RenameField("cachelesson", "reason", "said"),
        migrations.AlterField(
            "cachelesson",
            "said",
            models.CharField(blank=True, help_text="What the provider said last.", max_length=300),
        ),
        migrations.RenameField("cacheentry", "reason", "said"),
        migrations.AlterField(
            "cacheentry",
            "said",
            models.CharField(blank=True, help_text="What the provider said about that.", max_length=300),
        ),
        migrations.AddField(
            "cacheentry",
            "reason",
            models.CharField(
                blank=True,
                default="",
                help_text="Why it is gone or was refused (prompt.caching.EntryReason).",
                max_length=20,
            ),
            preserve_default=False,
        ),
    ]
