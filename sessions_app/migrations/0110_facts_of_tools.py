"""Lets an administrator say which tools of the provider a model takes, and whether beside others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0109_answer_fit"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelfacts",
            name="mixes_tools",
            field=models.BooleanField(
                blank=True,
                help_text="Takes them beside functions, and either beside a JSON schema.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="modelfacts",
            name="own_tools",
            field=models.JSONField(
                blank=True, help_text='["google_search", "url_context", "code_execution"]', null=True
            ),
        ),
    ]
