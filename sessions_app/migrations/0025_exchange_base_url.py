from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0024_personal_limits")]

    operations = [
        migrations.AddField(
            model_name="exchange",
            name="base_url",
            field=models.CharField(
                blank=True, help_text="Empty in rows before version 0025.", max_length=255
            ),
        )
    ]
