"""Reads what happened to the static layer between two exchanges from their manifests."""

from collections.abc import Sequence

from sessions_app.models import Exchange, HistoryChunk, Source
from sessions_app.prompt import wire
from sessions_app.prompt.layers import STATIC_SOURCE, Layer
from sessions_app.prompt.payload import SYSTEM_SOURCE, TOOLS_SOURCE
from sessions_app.prompt.spellings import spelled_alike
from sessions_app.prompt.static_change import RolledHistory, StaticChange, StaticLayer, static_change

CHUNK = "chunk:"


def change_between(before: Exchange, now: Exchange) -> tuple[StaticChange, RolledHistory | None]:
    """No query where the layer has the same items, two where it has not, one more for a roll-over."""
    old_keys, new_keys = static_keys(before), static_keys(now)
    if old_keys == new_keys:
        return StaticChange.SAME, None
    names = dict(Source.objects.filter(pk__in={*old_keys, *new_keys}).values_list("pk", "name"))
    # The chunks are not read: they can be long, and an identity tells as much.
    read = [key for key, name in names.items() if name in (STATIC_SOURCE, SYSTEM_SOURCE, TOOLS_SOURCE)]
    rows = Source.objects.select_related("blob").in_bulk(read)

    def wires(keys: Sequence[int], name: str) -> list[bytes]:
        return [rows[key].blob.bytes for key in keys if names[key] == name]

    def layer_of(keys: Sequence[int]) -> StaticLayer:
        text: str = wire.loads(b'"' + b"".join(wires(keys, STATIC_SOURCE)) + b'"')
        return StaticLayer(
            tools=tuple(_meaning(one, is_tools=True) for one in wires(keys, TOOLS_SOURCE)),
            chunks=tuple(names[key] for key in keys if names[key].startswith(CHUNK)),
            text=text or "".join(_meaning(one).decode() for one in wires(keys, SYSTEM_SOURCE)),
        )

    old, new = layer_of(old_keys), layer_of(new_keys)
    change = static_change(old, new)
    return change, rolled_into(old.chunks, new.chunks) if change is StaticChange.ROLLED_OVER else None


def _meaning(body: bytes, *, is_tools: bool = False) -> bytes:
    """The same for JSON that says the same, since programs spell it in their own ways."""
    try:
        value = wire.loads(body)
    except ValueError:
        return body
    return wire.canonical(spelled_alike(value) if is_tools else value)


def static_keys(exchange: Exchange) -> list[int]:
    """The sources of the static layer, tools included, in order."""
    return [entry[0] for entry in exchange.manifest.get("entries", []) if entry[1] == Layer.STATIC]


def rolled_into(before: Sequence[str], now: Sequence[str]) -> RolledHistory | None:
    """The turns that the further chunks hold, by their numbers in the chat; None when the chunks are gone."""
    keys = [int(name.removeprefix(CHUNK)) for name in now]
    depths = dict(HistoryChunk.objects.filter(pk__in=keys).values_list("pk", "last_turn__depth"))
    if len(depths) < len(keys):
        return None
    ends = [depths[key] + 1 for key in keys]
    earlier = ends[len(before) - 1] if before else 0
    return RolledHistory(earlier + 1, ends[-1], len(before) + 1, len(now))
