"""An exchange compared with the one before it on its branch: ledger, break line, settings, model."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sessions_app.gemini.model_capabilities import base_of
from sessions_app.models import Exchange, Source
from sessions_app.models.columns import storable_json
from sessions_app.models.source import ManifestEntry, body_starts
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt import prefix_diff
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.prompt.prompt_comparison import PromptComparison, compare_prompts
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.routes import endpoint_of
from sessions_app.prompt.verdict import Comparison
from sessions_app.runs.sent_settings import have_same_settings

PREVIOUS_FIELDS = (
    "number",
    "model",
    "served_model",
    "route",
    "manifest",
    "prompt_tokens",
    "cached_tokens",
    "started_at",
    "ended_at",
    "session",
    "payload_purged_at",
)
"""Columns read of the previous exchange; its usage, stages and notes can be large."""

PREVIOUS_FIELD = Exchange._meta.get_field("previous")


def compare_with_previous(exchange: Exchange, items: Sequence[Item] | None = None) -> Comparison | None:
    """Sets ledger and break line; returns the comparison, or None without a previous exchange, and
    without the bytes of it.

    Passing the payload's `items` saves a query. A request that does not begin with the sources of the one
    before costs two more, perhaps some for further sources, and one for the numbers of turns.
    """
    before, now = previous_of(exchange), exchange.ledger_entries(items)
    if before is None or before.payload_purged_at is not None:
        exchange.ledger = prefix_diff.ledger_of([], now).stored()
        return None
    same_model = asks_same_model(before, exchange)
    found = _compared(before, exchange, items)
    whole = found.shared.items if found else len(before.manifest["entries"])
    same: list[Hashable] = [entry.identity for entry in now[:whole]]
    totals = prefix_diff.ledger_of(same if same_model else [], now)
    exchange.ledger = totals.stored()
    broken = found.broken if found else None
    exchange.break_line = storable_json(broken.stored()) if broken else {}
    idle = exchange.started_at - (before.ended_at or before.started_at)
    return Comparison(
        number=before.number,
        prefix_tokens=found.shared.tokens if found else sum(entry.tokens for entry in now[:whole]),
        tokens=totals.tokens,
        was_prompt=before.prompt_tokens,
        idle_seconds=max(0.0, idle.total_seconds()),
        same_model=same_model,
        same_endpoint=endpoint_of(before.route) == endpoint_of(exchange.route),
        same_served=served_by_one(before, exchange),
        same_config=have_same_settings(before, exchange),
        broken=broken,
    )


def previous_of(exchange: Exchange) -> Exchange | None:
    """The exchange that it is compared with: one query unless it is loaded."""
    if exchange.previous_id is not None and not PREVIOUS_FIELD.is_cached(exchange):
        exchange.previous = Exchange.objects.only(*PREVIOUS_FIELDS).get(pk=exchange.previous_id)
    return exchange.previous


def asks_same_model(before: Exchange, exchange: Exchange) -> bool:
    """Whether both asked one endpoint for one model, maybe by two names (an alias).

    The whole route is not compared: its second half is what was known of the serving model beforehand.
    """
    if endpoint_of(before.route) != endpoint_of(exchange.route):
        return False
    served = base_of(exchange.served_model)
    return before.model == exchange.model or (bool(served) and served == base_of(before.served_model))


def served_by_one(before: Exchange, exchange: Exchange) -> bool:
    """False when the answers name two models."""
    names = {base_of(one.served_model) for one in (before, exchange) if one.served_model}
    return len(names) < 2


def _compared(before: Exchange, exchange: Exchange, items: Sequence[Item] | None) -> PromptComparison | None:
    """None when the request begins with the very sources of the one before."""
    was, now = (sources_of(one) for one in (before, exchange))
    prefix = prefix_diff.common_prefix(was, now)
    if prefix == len(was):
        return None
    rows = SourceRows([*was, *now])
    if items is not None:
        rows.bodies |= {key: item.wire for key, item in zip(now, items, strict=True)}
    near = slice(max(0, prefix - 1), prefix + 2)
    rows.read([*was[near], *now[near]])
    found = compare_prompts(rows.prompt(before), rows.prompt(exchange))
    return replace(found, broken=with_numbers(exchange.session_id, found.broken)) if found.broken else found


def sources_of(exchange: Exchange) -> list[int]:
    """Primary keys of the sources in reading order."""
    return [entry[0] for entry in exchange.manifest.get("entries", [])]


def with_numbers(session_pk: int, line: BreakLine) -> BreakLine:
    """The break line with the numbers of its turns."""
    names = [line.source, line.at.source if line.at else ""]
    numbers = turn_numbers(session_pk, names)
    at = line.at and replace(line.at, number=numbers.get(line.at.source, line.at.number))
    return replace(line, number=numbers.get(line.source, line.number), at=at)


@dataclass
class SourceRows:
    """The sources of some requests: one query, and one for each further body that is asked for."""

    keys: Iterable[int]
    bodies: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = ("pk", "name", "role", "kind", "tokens", "blob_id", "blob__size")
        rows = Source.objects.filter(pk__in=set(self.keys)).values_list(*columns)
        self._rows = {pk: rest for pk, *rest in rows}

    def prompt(self, exchange: Exchange) -> list[PromptItem]:
        """The logical prompt of the exchange."""
        entries = [ManifestEntry(*entry) for entry in exchange.manifest.get("entries", [])]
        starts = body_starts(entries, [self._rows[entry.source][-1] for entry in entries])
        return [self._item(entry, start) for entry, start in zip(entries, starts, strict=True)]

    def _item(self, entry: ManifestEntry, start: int | None) -> PromptItem:
        name, role, kind, tokens, blob, size = self._rows[entry.source]
        read = partial(self._body, entry.source)
        return PromptItem(entry.layer, name, role, kind, blob, tokens, size, read, start)

    def read(self, keys: Iterable[int]) -> None:
        """Reads the bodies that are probably asked for, in one query."""
        wanted = {key for key in keys if key not in self.bodies}
        found = Source.objects.select_related("blob").filter(pk__in=wanted) if wanted else ()
        self.bodies |= {source.pk: source.blob.bytes for source in found}

    def _body(self, key: int) -> bytes:
        self.read([key])
        return self.bodies[key]
