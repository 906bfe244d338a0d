from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0020_exchange_continues")]

    operations = [
        migrations.CreateModel(
            name="DatabaseProbe",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("written_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="cacherefusal",
            name="estimated",
            field=models.PositiveIntegerField(
                default=0, help_text="Our estimate of the text that it refused as too small, in tokens."
            ),
        ),
        migrations.AddField(
            model_name="cacherefusal",
            name="counted",
            field=models.PositiveIntegerField(default=0, help_text="Its own count of that text."),
        ),
    ]
