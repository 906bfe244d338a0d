"""Lets bookings be known again by their answer, which may stand in two imported files.

What was booked twice before stays: its sums were shown, and nobody knows which of them are right.
"""

from typing import Any

from django.db import migrations, models
from django.db.models import Q

SLICE = 500
"""Rows that are written at once."""

COLUMNS = ("pk", "source", "exchange__response_id", "exchange__request_sha256", "exchange__started_at")


def fill(apps: Any, schema_editor: Any) -> None:
    booking = apps.get_model("sessions_app", "Booking").objects.using(schema_editor.connection.alias)
    changed = []
    for pk, *facts in booking.exclude(exchange=None).order_by().values_list(*COLUMNS).iterator(SLICE):
        changed.append(booking.model(pk=pk, answer_key=key_of(*facts)))
    booking.bulk_update(changed, ["answer_key"], batch_size=SLICE)


def key_of(source: str, response_id: str, request: str, began: Any) -> str:
    from sessions_app.prompt.bookings import answer_key
    from sessions_app.prompt.pricing import MoneySource

    return answer_key(MoneySource(source), response_id, request, began)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0117_estimates")]

    operations = [
        migrations.AddField(
            "booking",
            "answer_key",
            models.CharField(
                max_length=64,
                blank=True,
                default="",
                db_default="",
                help_text="prompt.bookings.answer_key",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            "booking",
            models.Index(
                fields=["owner", "answer_key"], name="booking_of_answer", condition=~Q(answer_key="")
            ),
        ),
    ]
