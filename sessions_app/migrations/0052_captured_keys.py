from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0051_captured_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name="captureaddress",
            name="uses_server_key",
            field=models.BooleanField(
                default=False,
                help_text="The server's key in place of the program's: calls spend the owner's budget.",
            ),
        ),
        migrations.AddField(
            model_name="capturedrequest",
            name="key_hash",
            field=models.CharField(
                blank=True,
                help_text="Keyed hash of the key that it went out with; empty without.",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="capturedrequest",
            name="uses_server_key",
            field=models.BooleanField(default=False),
        ),
    ]
