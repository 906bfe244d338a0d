import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0019_tool_calls")]

    operations = [
        migrations.AddField(
            "exchange",
            "continues",
            models.ForeignKey(
                help_text="The exchange whose answer this one goes on with, by its continuation token.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="sessions_app.exchange",
            ),
        ),
    ]
