"""Which turns were sent again with nothing but other thought signatures."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sessions_app.models import Exchange, Session, Source
from sessions_app.prompt.signatures import unsigned


class Resent(NamedTuple):
    """An exchange in which the source was not what it had been in the exchange `previous`."""

    exchange: int
    previous: int
    source: str


def signatures_only(session: Session, resent: Iterable[Resent]) -> set[int]:
    """The primary keys of the exchanges in which the source says the same but for its signatures.

    One query; another where the source came in several wordings of which some are the same.
    """
    asked = list(resent)
    if not asked:
        return set()
    known = _wordings(session, {one.source for one in asked})
    certain = {one.exchange for one in asked if len(set(known[one.source].values())) == 1}
    mixed = [one for one in asked if 1 < len(set(known[one.source].values())) < len(known[one.source])]
    manifests = _manifests({pk for one in mixed for pk in (one.exchange, one.previous)})
    equal = {one.exchange for one in mixed if _is_equal(one, known[one.source], manifests)}
    return certain | equal


def _wordings(session: Session, names: set[str]) -> dict[str, dict[int, Any]]:
    """What each row of a source says without signatures, by source; a row that is no content is itself."""
    found: dict[str, dict[int, Any]] = {name: {} for name in names}
    rows = Source.objects.filter(session=session, name__in=names).select_related("blob")
    for row in rows:
        said = unsigned(row.blob.bytes)
        found[row.name][row.pk] = row.pk if said is None else said
    return found


def _manifests(keys: set[int]) -> dict[int, dict[str, Any]]:
    if not keys:
        return {}
    return dict(Exchange.objects.filter(pk__in=keys).values_list("pk", "manifest"))


def _is_equal(one: Resent, wordings: Mapping[int, Any], manifests: Mapping[int, dict[str, Any]]) -> bool:
    """Whether both exchanges have the same wording of it."""
    found = []
    for pk in (one.exchange, one.previous):
        entries = manifests.get(pk, {}).get("entries", [])
        found.append({wordings[entry[0]] for entry in entries if entry[0] in wordings})
    return bool(found[0]) and found[0] == found[1]
