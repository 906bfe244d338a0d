"""Lets assistants bring tools of the provider, and a JSON schema of their answers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0095_history_drops"),
    ]

    operations = [
        migrations.AddField(
            model_name="assistant",
            name="answer_schema",
            field=models.TextField(blank=True, help_text="JSON schema of its answers; empty: they are text."),
        ),
        migrations.AddField(
            model_name="assistant",
            name="provider_tools",
            field=models.JSONField(blank=True, default=list, help_text="Names of the provider's own tools."),
        ),
    ]
