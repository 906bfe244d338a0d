"""Keeps what earlier versions said in sentences: as text on an exchange, as a code on a cache entry."""

from collections.abc import Iterator
from typing import Any

from django.db import migrations
from django.db.models import Q

SLICE = 500
"""Rows that are changed at once."""

SUBJECTS = {"verdict": "verdict_words", "cache_plan": "cache_reason", "strategy": "strategy_reason"}
"""Subject → the column that held its sentence."""

REASONS = {
    "History rolled on.": "rolled_on",
    "Its session was deleted.": "session_deleted",
    "Its session was erased.": "session_erased",
    "Its session is gone.": "session_gone",
    "An admin asked for it.": "admin",
    "The provider no longer lists it.": "not_listed",
    "The emulator keeps caches only while it runs.": "emulator_restarted",
}
"""The sentences of ours that stood among the provider's messages on a cache entry."""

STRATEGIES = Q(said__startswith="Implicit: ") | Q(said__startswith="Implicit, ")
"""How the reasons of a strategy began, which stood there when a session left its cache."""


def slices(found: Any) -> Iterator[list[Any]]:
    """The rows in lists of SLICE, by primary key."""
    last = 0
    while rows := list(found.filter(pk__gt=last).order_by("pk")[:SLICE]):
        yield rows
        last = rows[-1].pk


def keep(apps: Any, schema_editor: Any) -> None:
    """Moves sentences of exchanges to `earlier_wording`, and gives cache entries the code of theirs."""
    exchanges = apps.get_model("sessions_app", "Exchange").objects.using(schema_editor.connection.alias)
    told = ~Q(verdict_words="") | ~Q(cache_reason="") | ~Q(strategy_reason="") | Q(money__has_key="notice")
    columns = [*SUBJECTS.values(), "earlier_wording", "money"]
    for rows in slices(exchanges.filter(told).only(*columns)):
        for row in rows:
            words = {subject: getattr(row, column) for subject, column in SUBJECTS.items()}
            words["budget"] = row.money.pop("notice", "")
            row.earlier_wording = {subject: text for subject, text in words.items() if text}
        exchanges.bulk_update(rows, ["earlier_wording", "money"])
    entries = apps.get_model("sessions_app", "CacheEntry").objects.using(schema_editor.connection.alias)
    for sentence, reason in REASONS.items():
        entries.filter(said=sentence).update(reason=reason, said="")
    entries.filter(STRATEGIES, reason="").update(reason="waived")
    entries.filter(state__in=("refused", "gone"), reason="").exclude(said="").update(reason="provider")
    entries.filter(reason="").exclude(said="").update(reason="unknown")


def restore(apps: Any, schema_editor: Any) -> None:
    """Puts the sentences back where they stood; what was only ever stored as figures stays without."""
    exchanges = apps.get_model("sessions_app", "Exchange").objects.using(schema_editor.connection.alias)
    kept = exchanges.exclude(earlier_wording={})
    for rows in slices(kept.only(*SUBJECTS.values(), "earlier_wording", "money")):
        for row in rows:
            for subject, column in SUBJECTS.items():
                setattr(row, column, row.earlier_wording.get(subject, ""))
            if "budget" in row.earlier_wording:
                row.money["notice"] = row.earlier_wording["budget"]
        exchanges.bulk_update(rows, [*SUBJECTS.values(), "money"])
    entries = apps.get_model("sessions_app", "CacheEntry").objects.using(schema_editor.connection.alias)
    for sentence, reason in REASONS.items():
        entries.filter(reason=reason).update(said=sentence)


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0012_verdict_figures")]

    operations = [migrations.RunPython(keep, restore)]
