import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0017_cache_refusal")]

    operations = [
        # Null: never refused.
        migrations.AddField(
            model_name="turn",
            name="refused_in",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Number of the exchange in which its signatures were refused; 0: in another session.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="exchange",
            name="resend_of",
            field=models.ForeignKey(
                help_text="The failed request that this one repeats.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="resends",
                to="sessions_app.exchange",
            ),
        ),
    ]
