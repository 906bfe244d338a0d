from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0015_seeded_prices")]

    operations = [
        migrations.RemoveConstraint(model_name="runlog", name="log_once"),
        migrations.RemoveField(model_name="runlog", name="attempt"),
        migrations.AddConstraint(
            model_name="runlog",
            constraint=models.UniqueConstraint(fields=["run", "seq_from"], name="log_once"),
        ),
        migrations.RemoveField(model_name="run", name="attempt"),
    ]
