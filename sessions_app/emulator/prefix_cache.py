"""Implicit caching: beginnings of requests that were seen before.

The provider promises "identical prefix, above a minimum" (gemini-wire §7). Here a prefix is a chain of
hashes over blocks of 1,024 bytes, which start anew with every part.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from sessions_app.emulator.decisions import PrefixMatch
from sessions_app.emulator.gemini_requests import Content
from sessions_app.emulator.tool_declarations import ToolDeclarations
from sessions_app.emulator.usage import counted_bytes, declaration_bytes, estimate_tokens, part_tokens

_BLOCK = 1_024
_BLOCKS_KEPT = 100_000


class PrefixBlock(NamedTuple):
    """A block of a request. `link` is a digest of everything up to its end; the tokens of the blocks of a
    part add up to the tokens of the part."""

    link: bytes
    size: int
    tokens: int


def chain_of(contents: Sequence[Content], tools: Sequence[ToolDeclarations]) -> tuple[PrefixBlock, ...]:
    """The blocks of a request, tools first; whatever begins alike has the same links."""
    chain: list[PrefixBlock] = []
    link = b""
    for label, data, tokens in _parts(contents, tools):
        for block, cost in _split(data, tokens):
            link = hashlib.sha256(link + label + b"\0" + block).digest()
            chain.append(PrefixBlock(link, len(block), cost))
    return tuple(chain)


class PrefixCache:
    """The prefixes of earlier requests by scope. Of more than `capacity` blocks the oldest are forgotten."""

    def __init__(self, capacity: int = _BLOCKS_KEPT) -> None:
        self._seen: OrderedDict[tuple[str, bytes], None] = OrderedDict()
        self._capacity = capacity

    def match(self, scope: str, chain: Sequence[PrefixBlock], minimum: int) -> PrefixMatch:
        """The longest prefix known in the scope."""
        known = list(takewhile(lambda block: (scope, block.link) in self._seen, chain))
        size, tokens = sum(block.size for block in known), sum(block.tokens for block in known)
        return PrefixMatch(size, tokens, sum(block.tokens for block in chain), minimum)

    def remember(self, scope: str, chain: Sequence[PrefixBlock]) -> None:
        """Keeps a request that is answered; a refused one was never read."""
        for block in chain:
            self._seen[scope, block.link] = None
            self._seen.move_to_end((scope, block.link))
            if len(self._seen) > self._capacity:
                self._seen.popitem(last=False)


def _parts(
    contents: Sequence[Content], tools: Sequence[ToolDeclarations]
) -> Iterator[tuple[bytes, bytes, int]]:
    """Label, bytes and tokens of each part."""
    if tools:
        data = declaration_bytes(tools)
        yield b"tools", data, estimate_tokens(data)
    for content in contents:
        for part in content.parts:
            yield f"{content.role}:{part.kind}".encode(), counted_bytes(part), part_tokens(part)


def _split(data: bytes, tokens: int) -> Iterator[tuple[bytes, int]]:
    spent = 0
    for start in range(0, max(1, len(data)), _BLOCK):
        end = start + _BLOCK
        reached = tokens if end >= len(data) else min(tokens, 10 * end // 33)
        yield data[start:end], reached - spent
        spent = reached
