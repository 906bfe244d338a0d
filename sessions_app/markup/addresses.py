"""Addresses in a text that are not written as links become links."""

import re
from collections.abc import Iterator, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_ADDRESS = re.compile(r"(?<!\w)https?://[^\s<>\"'`|\\^{}]+", re.IGNORECASE)
_END = ".,:;!?*_~"


def link_addresses(state: StateCore) -> None:
    for token in state.tokens:
        if token.children and any("://" in child.content for child in token.children):
            token.children = list(_with_links(token.children))


def _with_links(children: Sequence[Token]) -> Iterator[Token]:
    links = 0
    for token in children:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type == "text" and not links:
            yield from _split(token.content)
        else:
            yield token


def _split(text: str) -> Iterator[Token]:
    """The text with its addresses as links."""
    end = 0
    for found in _ADDRESS.finditer(text):
        address = _address(found[0])
        if address.endswith("://"):
            continue
        yield Token("text", "", 0, content=text[end : found.start()])
        yield Token("link_open", "a", 1, attrs={"href": address})
        yield Token("text", "", 0, content=address)
        yield Token("link_close", "a", -1)
        end = found.start() + len(address)
    yield Token("text", "", 0, content=text[end:])


def _address(found: str) -> str:
    """Without the marks that end the sentence, and without a bracket that was opened before it."""
    address = found.rstrip(_END)
    while address.endswith((")", "]")) and _is_unopened(address):
        address = address[:-1].rstrip(_END)
    return address


def _is_unopened(address: str) -> bool:
    opening = {")": "(", "]": "["}[address[-1]]
    return address.count(opening) < address.count(address[-1])
