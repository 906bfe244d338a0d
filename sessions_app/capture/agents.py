"""Which agent asks: whether two requests have the same one, although its system instruction or tools changed.

A clock in the system instruction, documents that are put into it for each question, tools in another order or
one more of them: the conversation goes on, and that is why a cache misses.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any
from zlib import crc32

from sessions_app.prompt.parts import PartView, parts_in

SKETCH = 64
"""Words that are compared, chosen by their hashes; of a shorter text all of them."""

OPENING = 60
"""Characters with which two long system instructions of one program begin."""

MOST = 0.5
"""More than this share of both has to be the same."""


@dataclass(frozen=True, slots=True)
class Agent:
    """`words` are a sample of the system instruction, `opening` the hash of its beginning where it is long;
    `tools` are their names.
    """

    words: frozenset[int] = frozenset()
    opening: int | None = None
    tools: frozenset[int] = frozenset()

    def is_like(self, other: "Agent") -> bool:
        return self._instructs_like(other) and self._has_tools_like(other)

    def may_follow(self, other: "Agent") -> bool:
        """Whether it is like the other, or the same but for tools, which all went or came."""
        is_same = self._instructs_like(other) and bool(self.words)
        return self.is_like(other) or (is_same and not (self.tools and other.tools))

    def _has_tools_like(self, other: "Agent") -> bool:
        """Most of them, or all of the one are among those of the other."""
        one, more = sorted((self.tools, other.tools), key=len)
        return _are_alike(one, more) or (bool(one) and one <= more)

    def _instructs_like(self, other: "Agent") -> bool:
        is_begun_alike = self.opening is not None and self.opening == other.opening
        return is_begun_alike or _are_alike(self.words, other.words)


NOBODY = Agent()


def agent_of(system: Any, tools: Any) -> Agent:
    """The agent of a request, from the values of its JSON, whatever they are."""
    text = "\n".join(_texts(system))
    opening = _hash(text[:OPENING]) if len(text) >= OPENING else None
    return Agent(_sketch(text.split()), opening, _sketch(names_of(tools)))


def names_of(tools: Any) -> Iterator[str]:
    """The names of declared functions, and the keys of the provider's own tools."""
    for tool in tools if isinstance(tools, list) else [tools]:
        for key, value in tool.items() if isinstance(tool, Mapping) else ():
            declared = value if isinstance(value, list) else ()
            names = [one.get("name") for one in declared if isinstance(one, Mapping)]
            yield from [name for name in names if isinstance(name, str)] or [key]


def _are_alike(some: frozenset[int], others: frozenset[int]) -> bool:
    return some == others or len(some & others) > MOST * len(some | others)


def _sketch(words: Iterable[str]) -> frozenset[int]:
    return frozenset(nsmallest(SKETCH, {_hash(word) for word in words}))


def _hash(text: str) -> int:
    return crc32(text.encode(errors="surrogatepass"))


def _texts(system: Any) -> Iterator[str]:
    if isinstance(system, str):
        yield system
        return
    for at, part in enumerate(parts_in(system)):
        yield PartView(at, part).text
