"""The tools that a server lists, as functions that the model can call."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from sessions_app.mcp.schemas import Loss, Translation, parameters_of
from sessions_app.mcp_codes import FUNCTION_SEPARATOR, ListingLoss
from sessions_app.values import mended

FUNCTION_LIMIT = 64
NAME_LIMIT = 200
TOOL_LIMIT = 128
"""Tools of one server."""

DECLARATION_LIMIT = 20_000
"""Bytes of one declaration: it stands in every request."""

_DIGEST = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class RawTool:
    """A tool as a server named it."""

    name: str
    title: str
    description: str
    schema: Any


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool that can be called. `sha256` is that of what the server said of it."""

    name: str
    function: str
    title: str
    declaration: dict[str, Any]
    losses: tuple[Loss, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools by function, and how much was left out, by ListingLoss."""

    tools: tuple[ListedTool, ...]
    losses: tuple[tuple[str, int], ...] = ()


def function_name(server: str, tool: str) -> str:
    """A name that Gemini takes, always the same for the same tool, and no other tool's.

    One that has to be changed or cut gets digits of its hash.
    """
    prefix = f"{server}{FUNCTION_SEPARATOR}"
    clean, room = _OTHER.sub("_", tool), FUNCTION_LIMIT - len(prefix)
    if clean == tool and len(clean) <= room:
        return prefix + clean
    digest = sha256(tool.encode(errors="replace")).hexdigest()[:_DIGEST]
    return f"{prefix}{clean[: room - _DIGEST - 1]}_{digest}"


def listing_of(server: str, tools: Iterable[RawTool], cut: Iterable[tuple[ListingLoss, int]] = ()) -> Listing:
    """`cut` is what was lost before: pages, say."""
    lost: dict[str, int] = {code.value: count for code, count in cut}
    found: dict[str, ListedTool] = {}
    names = set[str]()

    def lose(code: ListingLoss) -> None:
        lost[code.value] = lost.get(code.value, 0) + 1

    for raw in tools:
        if not raw.name or len(raw.name) > NAME_LIMIT or raw.name != mended(raw.name):
            lose(ListingLoss.UNUSABLE_NAME)
        elif raw.name in names:
            lose(ListingLoss.SAME_NAME)
        elif len(found) == TOOL_LIMIT:
            lose(ListingLoss.TOO_MANY_TOOLS)
        elif (tool := _listed(server, raw)) is None:
            lose(ListingLoss.TOO_LARGE)
        else:
            names.add(raw.name)
            found[tool.function] = tool
    return Listing(tuple(found[name] for name in sorted(found)), tuple(sorted(lost.items())))


def _listed(server: str, raw: RawTool) -> ListedTool | None:
    """None where its declaration is too large."""
    name, schema = function_name(server, raw.name), mended(raw.schema)
    texts = Translation({})
    description = texts.text(mended(raw.description).strip() or raw.name, "description")
    parameters, losses = parameters_of(schema)
    declaration: dict[str, Any] = {"name": name, "description": description}
    if parameters:
        declaration["parameters"] = parameters
    if len(orjson.dumps(declaration)) > DECLARATION_LIMIT:
        return None
    said = orjson.dumps(
        [raw.name, mended(raw.title), mended(raw.description), schema], option=orjson.OPT_SORT_KEYS
    )
    return ListedTool(
        name=raw.name,
        function=name,
        title=(mended(raw.title).strip() or raw.name)[:NAME_LIMIT],
        declaration=declaration,
        losses=(*texts.losses, *losses),
        sha256=sha256(said).hexdigest(),
    )
