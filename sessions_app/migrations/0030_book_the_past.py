"""Books what earlier versions spent, so that bookings, sessions and days have the same sums.

Every priced exchange becomes a booking of its session. What the days hold beyond that was spent by titles,
summaries, caches and erased sessions: it is booked to its day without a session, requests under the cause
`earlier`. The total of a session becomes the sum of its bookings; of titles and summaries nobody knows any more
which session asked for them. Whose the money was, the emulator's or the provider's, was not kept: `unknown`.
"""

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db import migrations
from django.db.models import Exists, OuterRef, Q

SLICE = 500
"""Rows that are written at once."""

NOTHING = Decimal(0)

COLUMNS = (
    "session",
    "session__owner",
    "price",
    "price__model",
    "model",
    "served_model",
    "started_at",
    "usd",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
    "thought_tokens",
    "resend_of",
    "run",
)


def slices(found: Any) -> Iterator[list[Any]]:
    """The rows in lists of SLICE, by primary key."""
    last = 0
    while rows := list(found.filter(pk__gt=last).order_by("pk")[:SLICE]):
        yield rows
        last = rows[-1].pk


def book(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    rows = {
        name: apps.get_model("sessions_app", name).objects.using(using)
        for name in ("Booking", "Exchange", "Run", "Session", "Spending")
    }
    by_day, by_session = book_exchanges(rows)
    correct_sessions(rows["Session"], by_session)
    book_the_rest(rows, by_day)


def book_exchanges(rows: dict[str, Any]) -> tuple[dict[Any, Decimal], dict[int, Decimal]]:
    """Returns what was booked by (owner, day, model), and by session."""
    by_day: dict[Any, Decimal] = defaultdict(Decimal)
    by_session: dict[int, Decimal] = defaultdict(Decimal)
    repeated = repeats(rows["Run"])
    counted = rows["Exchange"].filter(Q(usd__isnull=False) | Q(prompt_tokens__isnull=False))
    for exchanges in slices(counted.select_related("session", "price").only(*COLUMNS)):
        bookings = [booking_of(rows["Booking"].model, one, repeated) for one in exchanges]
        for one in bookings:
            by_day[one.owner_id, one.day, one.model] += one.usd or NOTHING
            by_session[one.session_id] += one.usd or NOTHING
        rows["Booking"].bulk_create(bookings)
    return by_day, by_session


def repeats(runs: Any) -> set[int]:
    """Runs that began again at the trigger of another."""
    earlier = runs.filter(trigger=OuterRef("trigger"), pk__lt=OuterRef("pk"))
    return set(runs.filter(Exists(earlier), trigger__isnull=False).values_list("pk", flat=True))


def booking_of(booking: Any, one: Any, repeated: set[int]) -> Any:
    is_repeat = one.resend_of_id is not None or one.run_id in repeated
    prompt = one.prompt_tokens or 0
    return booking(
        owner_id=one.session.owner_id,
        session_id=one.session_id,
        exchange_id=one.pk,
        price_id=one.price_id,
        day=one.started_at.date(),
        model=(one.price.model if one.price else one.served_model or one.model)[:80],
        cause="retry" if is_repeat else "answer",
        usd=one.usd,
        prompt_tokens=prompt,
        cached_tokens=min(one.cached_tokens or 0, prompt),
        output_tokens=one.output_tokens or 0,
        thought_tokens=one.thought_tokens or 0,
    )


def correct_sessions(sessions: Any, by_session: dict[int, Decimal]) -> None:
    for found in slices(sessions.only("spent_usd")):
        changed = [one for one in found if one.spent_usd != by_session[one.pk]]
        for one in changed:
            one.spent_usd = by_session[one.pk]
        sessions.bulk_update(changed, ["spent_usd"])


def book_the_rest(rows: dict[str, Any], by_day: dict[Any, Decimal]) -> None:
    """Books what the days hold beyond the exchanges; adds days that exchanges have and nobody summed up."""
    booking, missing = rows["Booking"].model, dict(by_day)
    for days in slices(rows["Spending"]):
        found = []
        for day in days:
            key = (day.owner_id, day.day, day.model)
            rest = {
                "earlier": day.usd - missing.pop(key, NOTHING),
                "cache_made": day.cache_usd,
                "cache_kept": day.storage_usd,
            }
            facts = dict(zip(("owner_id", "day", "model"), key, strict=True))
            found += [booking(cause=cause, usd=usd, **facts) for cause, usd in rest.items() if usd]
        rows["Booking"].bulk_create(found)
    spending = rows["Spending"].model
    unsummed = [(key, usd) for key, usd in missing.items() if usd]
    rows["Spending"].bulk_create(
        [spending(owner_id=owner, day=day, model=model, usd=usd) for (owner, day, model), usd in unsummed]
    )


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0029_bookings")]

    operations = [migrations.RunPython(book, migrations.RunPython.noop)]
