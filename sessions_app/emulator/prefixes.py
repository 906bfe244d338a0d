"""Implicit caching: the longest beginning that an earlier request of the same key and model had.

The provider promises nothing but "identical prefix, above a minimum" (gemini-wire §7). Here a
prefix is a chain of hashes over blocks that start anew with every part, so it never ends
inside a kilobyte that differs.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from sessions_app.emulator.shapes import Content, Tool
from sessions_app.emulator.tokens import declaration_bytes, estimate, part_tokens, substance

_BLOCK = 1_024
_REMEMBERED = 100_000


class Prefixes:
    """What this process has seen; the oldest prefixes are forgotten first."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._remembered = remembered

    def match(self, scope: str, contents: Sequence[Content], tools: Sequence[Tool], minimum: int) -> int:
        """Tokens of the longest known prefix, 0 below `minimum`; then remembers this request."""
        link, tokens, hit, unbroken = scope.encode(), 0, 0, True
        for block, cost in _blocks(contents, tools):
            link = hashlib.sha256(link + block).digest()
            tokens += cost
            unbroken = unbroken and link in self._seen
            hit = tokens if unbroken else hit
            self._remember(link)
        return hit if hit >= minimum else 0

    def _remember(self, link: bytes) -> None:
        self._seen[link] = None
        self._seen.move_to_end(link)
        if len(self._seen) > self._remembered:
            self._seen.popitem(last=False)


def _blocks(contents: Iterable[Content], tools: Sequence[Tool]) -> Iterator[tuple[bytes, int]]:
    """Blocks with their tokens; the tokens of a part's blocks add up to the part's tokens."""
    if tools:
        data = declaration_bytes(tools)
        yield from _cut(b"tools", data, estimate(data))
    for content in contents:
        for part in content.parts:
            yield from _cut(f"{content.role}:{part.kind}".encode(), substance(part), part_tokens(part))


def _cut(label: bytes, data: bytes, tokens: int) -> Iterator[tuple[bytes, int]]:
    spent = 0
    for start in range(0, max(1, len(data)), _BLOCK):
        end = start + _BLOCK
        reached = tokens if end >= len(data) else min(tokens, 10 * end // 33)
        yield label + b"\0" + data[start:end], reached - spent
        spent = reached
