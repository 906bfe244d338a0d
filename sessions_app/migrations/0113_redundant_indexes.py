"""Drops the indexes of foreign keys with which another index begins: each row of a turn was entered in both."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class WithoutIndex(migrations.AlterField):
    """A foreign key that is not indexed by itself any more; SQLite would copy the table for an AlterField."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        column = model._meta.get_field(self.name).column
        # One is over the open exchanges of a session.
        declared = {index.name for index in model._meta.indexes}
        for name in schema_editor._constraint_names(
            model, [column], index=True, unique=False, type_=models.Index.suffix, exclude=declared
        ):
            schema_editor.execute(f"DROP INDEX {schema_editor.quote_name(name)}")

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(
            schema_editor._create_index_sql(model, fields=[model._meta.get_field(self.name)])
        )


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0112_prompt_templates_of_assistants"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        WithoutIndex(
            model_name="blob",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="blobs",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        WithoutIndex(
            model_name="booking",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        WithoutIndex(
            model_name="exchange",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="exchanges",
                to="sessions_app.session",
            ),
        ),
        WithoutIndex(
            model_name="exchangeattempt",
            name="exchange",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="attempts",
                to="sessions_app.exchange",
            ),
        ),
        WithoutIndex(
            model_name="rawchunk",
            name="exchange",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="chunks",
                to="sessions_app.exchange",
            ),
        ),
        WithoutIndex(
            model_name="run",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="runs",
                to="sessions_app.session",
            ),
        ),
        WithoutIndex(
            model_name="runlog",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="log",
                to="sessions_app.run",
            ),
        ),
        WithoutIndex(
            model_name="source",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sources",
                to="sessions_app.session",
            ),
        ),
        WithoutIndex(
            model_name="spending",
            name="owner",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="spending",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        WithoutIndex(
            model_name="turn",
            name="session",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="turns",
                to="sessions_app.session",
            ),
        ),
    ]
