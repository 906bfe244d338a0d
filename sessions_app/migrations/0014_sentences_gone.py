"""The columns that held sentences; their text is in `earlier_wording`."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0013_earlier_wording")]

    operations = [
        migrations.RemoveField("exchange", name)
        for name in ("verdict_words", "cache_reason", "strategy_reason")
    ]
