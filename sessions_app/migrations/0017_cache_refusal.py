from typing import Any

from django.db import migrations, models


def rename_permissions(apps: Any, old: str, new: str) -> None:
    """Django renames the content type of a renamed model, but not the codenames of its permissions."""
    for permission in apps.get_model("auth", "Permission").objects.filter(
        content_type__app_label="sessions_app", codename__endswith=f"_{old}"
    ):
        permission.codename = permission.codename.removesuffix(old) + new
        permission.save(update_fields=["codename"])


def forwards(apps: Any, _: Any) -> None:
    rename_permissions(apps, "cachelesson", "cacherefusal")


def backwards(apps: Any, _: Any) -> None:
    rename_permissions(apps, "cacherefusal", "cachelesson")


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("sessions_app", "0016_drop_attempts"),
    ]

    operations = [
        migrations.RenameModel("CacheLesson", "CacheRefusal"),
        migrations.RemoveConstraint(model_name="cacherefusal", name="cache_lesson_once"),
        migrations.AddConstraint(
            model_name="cacherefusal",
            constraint=models.UniqueConstraint(fields=["route", "model"], name="cache_refusal_once"),
        ),
        migrations.RunPython(forwards, backwards),
        migrations.RenameField("session", "moves", "head_version"),
    ]
