"""What happens to cache entries is kept as rows; what their own rows tell of earlier events comes first."""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

ENDS = {
    "rolled_on": "unknown",
    "waived": "waived",
    "session_deleted": "session_deleted",
    "session_erased": "session_erased",
    "session_gone": "session_gone",
    "admin": "admin",
    "emulator_restarted": "emulator_restarted",
}
"""The reasons for which we let go of a cache ourselves, with that of the event. Until now history was said to
have rolled on also where a session took another text or model, so that is not known."""


def tell_what_is_known(apps: Any, schema_editor: Any) -> None:
    """The making of each named cache, and its end; what a row does not tell is left out."""
    alias = schema_editor.connection.alias
    entries = apps.get_model("sessions_app", "CacheEntry").objects.using(alias)
    events = apps.get_model("sessions_app", "CacheEvent")
    known: list[Any] = []
    for entry in entries.exclude(name="").exclude(made_at=None).iterator():
        of = {"entry_id": entry.pk, "name": entry.name, "expires": entry.expires_at}
        known.append(events(kind="made", at=entry.made_at, **of))
        end = end_of(entry)
        if end:
            reason = ENDS.get(entry.reason, entry.reason)
            known.append(events(kind=end, at=entry.changed_at, reason=reason, said=entry.said, **of))
    events.objects.using(alias).bulk_create(known, batch_size=500)


def end_of(entry: Any) -> str:
    """The kind of the event that ended its cache; empty while it lives, or is made anew."""
    if entry.state == "doomed" or (entry.state == "gone" and entry.reason in ENDS):
        return "dropped"
    if entry.state != "gone":
        return ""
    has_expired = entry.expires_at is not None and entry.expires_at <= entry.changed_at
    return "expired" if has_expired else "gone"


def name_losses(apps: Any, schema_editor: Any) -> None:
    """A cache that the provider no longer had was said to have expired, which nobody knew."""
    exchanges = apps.get_model("sessions_app", "Exchange").objects.using(schema_editor.connection.alias)
    lost = exchanges.filter(verdict="cache_expired", verdict_figures__reason="cache_gone")
    lost.update(verdict="cache_lost")


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0026_import_formats")]

    operations = [
        migrations.CreateModel(
            name="CacheEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(help_text="prompt.cache_life.CacheEventKind.", max_length=12)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "name",
                    models.CharField(blank=True, help_text="Of the cache at the provider.", max_length=120),
                ),
                (
                    "expires",
                    models.DateTimeField(blank=True, help_text="Its end, as known from then on.", null=True),
                ),
                (
                    "reason",
                    models.CharField(blank=True, help_text="prompt.caching.EntryReason.", max_length=20),
                ),
                (
                    "said",
                    models.CharField(
                        blank=True, help_text="What the provider said about that.", max_length=300
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="sessions_app.cacheentry",
                    ),
                ),
                (
                    "exchange",
                    models.ForeignKey(
                        blank=True,
                        help_text="The one that named it, or whose plan caused this.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.exchange",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="sessions_app.session",
                    ),
                ),
            ],
            options={"ordering": ["at", "pk"]},
        ),
        migrations.RunPython(tell_what_is_known, migrations.RunPython.noop),
        migrations.RunPython(name_losses, migrations.RunPython.noop),
    ]
