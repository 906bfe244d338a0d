"""The prices that were published when this was written; an admin adds what comes after.

Google's price page as transcribed on 2026-10-07 to 2026-10-13, and litellm 1.109.1's price file.
A storage price that neither of them names is left out: unknown, not free.
"""

from datetime import date
from decimal import Decimal
from typing import Any

from django.db import migrations

PAGE = "Google's price page, October 2026"
LISTED = date(2026, 10, 7)

ROWS = [
    # model, valid from, input, cached, output, storage, source
    (
        "gemini-4-argon",
        date(2026, 10, 13),
        "2.00",
        "0.10",
        "10.00",
        None,
        f"{PAGE}: promotion until 2026-11-30",
    ),
    (
        "gemini-4-argon",
        date(2026, 12, 1),
        "4.00",
        "0.20",
        "20.00",
        None,
        f"{PAGE}: after the promotion; cached taken at the promotion's share of the input price",
    ),
    ("gemini-3.8-flash", LISTED, "0.75", "0.075", "3.75", "0.50", f"{PAGE}: until 2026-12-31"),
    ("gemini-3.8-flash", date(2027, 1, 1), "1.50", "0.15", "7.50", "1.00", f"{PAGE}: from 2027-01-01"),
    ("gemini-3.6-flash", LISTED, "0.75", "0.075", "3.75", None, PAGE),
    ("gemini-3.5-flash-lite", LISTED, "0.30", "0.03", "2.50", None, PAGE),
    ("gemini-3.1-flash-lite", LISTED, "0.25", "0.025", "1.50", None, PAGE),
    ("gemini-3-flash-preview", LISTED, "0.50", "0.05", "3.00", "1.00", PAGE),
    ("gemini-2.5-flash", LISTED, "0.30", "0.03", "2.50", "1.00", PAGE),
    ("gemini-2.5-flash-lite", LISTED, "0.10", "0.01", "0.40", "1.00", PAGE),
]

TIERED = [
    # model, the two tiers of input, cached and output, storage
    ("gemini-3.1-pro-preview", "2.00", "4.00", "0.20", "0.40", "12.00", "18.00", "4.50"),
    ("gemini-2.5-pro", "1.25", "2.50", "0.125", "0.25", "10.00", "15.00", "4.50"),
]
ABOVE = 200_000


def add(apps: Any, schema_editor: Any) -> None:
    price = apps.get_model("sessions_app", "Price")
    rows = [
        price(
            model=model,
            valid_from=day,
            input=Decimal(new),
            cached=Decimal(cached),
            output=Decimal(output),
            storage=storage and Decimal(storage),
            source=source,
        )
        for model, day, new, cached, output, storage, source in ROWS
    ]
    rows += [
        price(
            model=model,
            valid_from=LISTED,
            above=ABOVE,
            input=Decimal(new),
            input_above=Decimal(new_above),
            cached=Decimal(cached),
            cached_above=Decimal(cached_above),
            output=Decimal(output),
            output_above=Decimal(output_above),
            storage=Decimal(storage),
            source=PAGE,
        )
        for model, new, new_above, cached, cached_above, output, output_above, storage in TIERED
    ]
    price.objects.bulk_create(rows, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0005_money")]

    operations = [migrations.RunPython(add, migrations.RunPython.noop)]
