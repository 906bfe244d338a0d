"""What stands beside the prompt of a request: how to answer, which tools may be called, what is blocked.

What the provider reads of it before the prompt is not documented: two requests have the same settings where
all of it is the same. The name of a cache and the token of an answer say where the prompt goes on.
"""

from typing import Any

from sessions_app.models import Exchange, Source
from sessions_app.prompt import wire
from sessions_app.prompt.spellings import in_camel_case

_NO_SETTINGS = {"contents", "cachedContent", "continuationToken"}
_CACHE, _OF_TOOLS = "cachedContent", "toolConfig"
_SOURCE = "config:"

BESIDE = "beside"
"""What a manifest has for captured requests only (`models.source.Manifest`)."""


def have_same_settings(before: Exchange, exchange: Exchange) -> bool:
    """No query for our own requests, and for captured ones of the same configuration; else one."""
    if before.manifest.get("settings") != exchange.manifest.get("settings"):
        return False
    if BESIDE in exchange.manifest:
        beside = [[one["source"] for one in each.manifest.get(BESIDE, [])] for each in (before, exchange)]
        if sorted(beside[0]) == sorted(beside[1]):
            return True
        was, now = _beside(beside)
    elif before.manifest.get("tail") == exchange.manifest.get("tail"):
        return True
    else:
        was, now = _in_tail(before), _in_tail(exchange)
    left_out = set(_NO_SETTINGS)
    if (_CACHE in was) != (_CACHE in now):
        # A request that names a cache may not have it: the cache holds it.
        left_out.add(_OF_TOOLS)
    was, now = ({name: said[name] for name in said.keys() - left_out} for said in (was, now))
    return was == now


def _in_tail(exchange: Exchange) -> dict[str, Any]:
    tail = exchange.manifest.get("tail", "")
    found: dict[str, Any] = wire.loads('{"contents":[' + tail) if tail else {}
    return found


def _beside(keys: list[list[int]]) -> list[dict[str, Any]]:
    rows = Source.objects.select_related("blob").in_bulk({key for each in keys for key in each})
    sources = [[rows[key] for key in each] for each in keys]
    return [{_named(one): wire.loads(one.blob.bytes) for one in each} for each in sources]


def _named(source: Source) -> str:
    """The member of the body, as REST spells it."""
    return in_camel_case(source.name.removeprefix(_SOURCE))
