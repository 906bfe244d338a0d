"""Prompts as the provider read them, by the emulator's journal: where two of them part."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from sessions_app.audit.rows import StoredItem
from sessions_app.emulator.cache_store import CachedContentRequest
from sessions_app.emulator.gemini_requests import Content, GenerateRequest, Part, PromptFields
from sessions_app.emulator.journal import Journal
from sessions_app.emulator.prefix_cache import chain_of
from sessions_app.emulator.tool_declarations import ToolDeclarations
from sessions_app.emulator.usage import counted_bytes, declaration_bytes
from sessions_app.models import Exchange

LAYERS = ("static", "dynamic")
"""Each is one part of the prompt, before the parts of the turns."""


class Claim(NamedTuple):
    """Bytes of the prompt between which the texts part; `part` of the prompt holds it, None for the tools."""

    low: int
    high: int
    part: int | None


@dataclass(frozen=True, slots=True)
class ReadPrompt:
    """What was read of one request, with what a named cache held."""

    contents: Sequence[Content]
    tools: Sequence[ToolDeclarations]

    @property
    def parts(self) -> list[tuple[str, Part]]:
        return [(content.role, part) for content in self.contents for part in content.parts]

    @property
    def tool_bytes(self) -> int:
        return len(declaration_bytes(self.tools)) if self.tools else 0

    def start(self, part: int) -> int:
        """The bytes before a part."""
        return self.tool_bytes + sum(len(counted_bytes(one)) for _, one in self.parts[:part])

    def in_blocks(self, before: "ReadPrompt") -> int:
        """The bytes of the blocks with which both begin."""
        old, new = (chain_of(prompt.contents, prompt.tools) for prompt in (before, self))
        pairs = takewhile(lambda pair: pair[0].link == pair[1].link, zip(old, new, strict=False))
        return sum(block.size for _, block in pairs)

    def common(self, before: "ReadPrompt") -> int:
        """The bytes with which both begin."""
        old, new = before.pieces(), self.pieces()
        alike = _alike(old, new)
        whole = sum(len(said) for _, said in new[:alike])
        rest = [piece for pieces in (old, new) for piece in pieces[alike : alike + 1]]
        if len(rest) < 2 or rest[0][0] != rest[1][0]:
            return whole
        return whole + _common_bytes(*(said for _, said in rest))

    def pieces(self) -> list[tuple[str, bytes]]:
        tools = [("tools", declaration_bytes(self.tools))] if self.tools else []
        return tools + [(f"{role}:{part.kind}", counted_bytes(part)) for role, part in self.parts]

    def parts_at(self, before: "ReadPrompt", claim: Claim | None) -> bool:
        """Whether the texts part there; without a claim, not before the end of `before`."""
        place = self.common(before)
        if claim is None:
            return place == before.start(len(before.parts))
        return claim.low <= place <= claim.high or (place > claim.high and self._is_uncounted(before, claim))

    def _is_uncounted(self, before: "ReadPrompt", claim: Claim) -> bool:
        """Both differ, there or in the part before, in what is not counted: a signature, an id of a call."""
        if claim.part is None:
            return False
        old, new = (prompt.parts[max(0, claim.part - 1) : claim.part + 1] for prompt in (before, self))
        kept = [[(role, part.kind, counted_bytes(part)) for role, part in one] for one in (old, new)]
        return kept[0] == kept[1] and old != new


class JournaledPrompts:
    """The prompts of a journal's requests."""

    def __init__(self, journal: Journal) -> None:
        self._bodies = {hashlib.sha256(entry.body).hexdigest(): entry.body for entry in journal}
        self._caches = dict(_made_caches(journal))

    def of(self, exchange: Exchange) -> ReadPrompt:
        body = self._bodies[exchange.sent_sha256 or exchange.request_sha256]
        request = GenerateRequest.model_validate_json(body)
        held = self._caches.get(request.cached_content)
        contents = (*(held.all_contents if held else ()), *request.all_contents)
        return ReadPrompt(contents, held.tools if held else request.tools)


def _made_caches(journal: Journal) -> Iterator[tuple[str, PromptFields]]:
    for entry in journal:
        if entry.method == "POST" and entry.path.endswith("/cachedContents") and entry.status == 200:
            yield (
                json.loads(bytes(entry.answer))["name"],
                CachedContentRequest.model_validate_json(entry.body),
            )


def claimed_place(line: Mapping[str, Any], items: Sequence[StoredItem], prompt: ReadPrompt) -> Claim | None:
    """The place of a break line as a place of the prompt; None where nothing broke."""
    at = line.get("at")
    if at is None:
        return None
    item = items[at["item"]]
    if item.kind == "declarations":
        return Claim(0, prompt.tool_bytes, None)
    layers = [layer for layer in LAYERS if any(one.layer == layer and one.kind == "text" for one in items)]
    if item.kind == "text":
        ahead = [one for one in items[: at["item"]] if one.layer == item.layer and one.kind == "text"]
        return _inside(prompt, layers.index(item.layer), sum(map(_characters, ahead)) + at["char"])
    turns = [one for one in items[: at["item"]] if one.layer not in LAYERS]
    part = len(layers) + sum(len(json.loads(one.body)["parts"]) for one in turns) + (at["part"] or 1) - 1
    return _inside(prompt, part, None if at["line"] is None else at["char"])


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _common_bytes(one: bytes, other: bytes) -> int:
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _inside(prompt: ReadPrompt, part: int, chars: int | None) -> Claim:
    """`chars` are those before it in the text of the part; None where that is no text."""
    start, said = prompt.start(part), prompt.parts[part][1].text
    if chars is None or said is None:
        return Claim(start, prompt.start(part + 1), part)
    place = start + len(said[:chars].encode())
    return Claim(place, place, part)


def _characters(item: StoredItem) -> int:
    return len(json.loads(b'"' + item.body + b'"'))
