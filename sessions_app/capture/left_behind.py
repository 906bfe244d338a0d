"""What exchanges leave in a session when they are moved to another."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.db.models import Model

from sessions_app.models import Blob, Run, Session, Source, Turn
from sessions_app.models.turn_numbers import SOURCE

AT_ONCE = 500
"""Rows that one statement deletes."""


def drop_unnamed(session: Session) -> None:
    """Deletes what no exchange of the session names: sources and turns with their bytes, runs of nothing.

    The session has exchanges. Where one is without its payload nothing tells which turns it named: all stay.
    Must run in a transaction.
    """
    manifests = session.exchanges.values_list("manifest", flat=True)
    named = {key for manifest in manifests for key in _sources_in(manifest)}
    sources = dict(Source.objects.filter(session=session).values_list("pk", "name"))
    _delete(Source, sources.keys() - named)
    keys = {name.removeprefix(SOURCE) for pk, name in sources.items() if pk in named}
    is_known = not session.exchanges.exclude(payload_purged_at=None).exists()
    unnamed = _unnamed_turns(session, keys) if is_known else set()
    empty = Run.objects.filter(session=session, exchanges=None)
    empty.filter(trigger__in=unnamed).update(trigger=None)
    Session.objects.filter(pk=session.pk, head__in=unnamed).update(head=None)
    _delete(Turn, unnamed)
    empty.filter(turns=None, trigger=None).delete()
    Blob.objects.delete_unreferenced(session.owner_id)


def _unnamed_turns(session: Session, keys: Collection[str]) -> set[int]:
    """Turns that are neither answers, nor named, nor above one that is."""
    rows = Turn.objects.filter(session=session).values_list("pk", "parent", "public", "exchange")
    above = {pk: parent for pk, parent, _, _ in rows}
    kept = {pk for pk, _, public, exchange in rows if exchange or str(public) in keys}
    found = kept
    while found := {pk for pk, *_ in rows if pk in {above[key] for key in found}} - kept:
        kept |= found
    return above.keys() - kept


def _sources_in(manifest: Mapping[str, Any]) -> Iterator[int]:
    yield from (entry[0] for entry in manifest.get("entries", ()))
    yield from (one["source"] for one in manifest.get("beside", ()))


def _delete(rows: type[Model], keys: Collection[int]) -> None:
    """Deletes rows by their keys, without cascades."""
    listed = sorted(keys)
    for at in range(0, len(listed), AT_ONCE):
        found = rows._base_manager.filter(pk__in=listed[at : at + AT_ONCE])
        found._raw_delete(found.db)
