"""Where the members of JSON stand in its bytes: for pointing at a place, not for reading values."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from sessions_app.prompt import wire

_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
"""Strings, punctuation, and numbers or words. Possessive: a long string must not cost a stack."""

_LETTERS = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]++", re.DOTALL
)
"""An escaped character (a surrogate pair is one), or a run of characters without escapes."""

_OPEN, _CLOSE = b"[{", b"]}"


class Member(NamedTuple):
    """One value of an object or a list: its name or index, and its bytes."""

    name: Any
    start: int
    end: int


def members(body: bytes, start: int = 0) -> Iterator[Member]:
    """The members of the object or list at `start`; nothing for any other value."""
    depth, count, end = 0, 0, start
    name: Any = None
    first: int | None = None
    for token in _TOKENS.finditer(body, start):
        mark = body[token.start()]
        if depth == 1 and first is not None and (mark in _CLOSE or mark == b","[0]):
            yield Member(count if name is None else name, first, end)
            name, first, count = None, None, count + 1
        elif depth == 1 and first is not None and mark == b":"[0]:
            name, first = wire.loads(body[first:end]), None
        elif depth and first is None and mark not in _CLOSE:
            first = token.start()
        depth += (mark in _OPEN) - (mark in _CLOSE)
        end = token.end()
        if not depth:
            return


def bytes_of(letters: bytes, count: int) -> int:
    """How many bytes the first `count` characters take of what stands between the quotes of a string."""
    for found in _LETTERS.finditer(letters):
        if count <= 0:
            return found.start()
        if letters[found.start()] == b"\\"[0]:
            count -= 1
            continue
        text = found[0].decode(errors="replace")
        if len(text) >= count:
            return found.start() + len(text[:count].encode())
        count -= len(text)
    return len(letters)


def respelled(spelling: bytes, offset: int, other: bytes) -> int:
    """The offset in another spelling of the same JSON: exact in equal tokens, else the token's beginning."""
    if spelling == other:
        return offset
    for one, same in zip(_TOKENS.finditer(spelling), _TOKENS.finditer(other), strict=False):
        if one.end() > offset:
            inside = max(0, offset - one.start())
            return same.start() + (inside if one[0] == same[0] else 0)
    return len(other)
