"""Lets assistants bring example messages, and defaults of the names that their texts use."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0111_mcp_servers"),
    ]

    operations = [
        migrations.AddField(
            model_name="assistant",
            name="examples",
            field=models.JSONField(
                blank=True, default=list, help_text="Messages with their roles, read before the history."
            ),
        ),
        migrations.AddField(
            model_name="assistant",
            name="variables",
            field=models.JSONField(
                blank=True, default=list, help_text="Defaults of names that instructions and examples use."
            ),
        ),
    ]
