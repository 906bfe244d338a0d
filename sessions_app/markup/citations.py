"""The marks of sources in a text: `[(end of a cited place, numbers of its sources)]` become small links.

They are put into the Markdown as a word of their own between rare brackets, behind marks that close there,
and taken out again where a link cannot stand, as in code or an address.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType

Mark = tuple[int, Sequence[int]]
"""The end of a cited place in characters, and the numbers of its sources, from 1 on."""

_CLOSING = re.compile(r"[*_~`)\]\"'”’»]*")
_ROOM = " \t\r\n|"
"""Characters at the end of a cited place that come behind its mark."""


def with_marks(markdown: str, marks: Sequence[Mark], env: EnvType) -> str:
    """The text with a word for each mark, which `env` explains to the parser."""
    key = next(f"⸨{n}:" for n in count() if f"⸨{n}:" not in markdown)
    env["citations"] = (key, [tuple(numbers) for _, numbers in marks])
    pieces, start = [], 0
    for index, (end, _) in enumerate(marks):
        place = _place(markdown, end)
        if place is not None and place >= start:
            pieces += [markdown[start:place], f"{key}{index}⸩"]
            start = place
    return "".join([*pieces, markdown[start:]])


def place_citations(state: StateCore) -> None:
    """Makes tokens of the words, and removes those in code, formulas and addresses."""
    if "citations" not in state.env:
        return
    key, numbers = state.env["citations"]
    word = re.compile(rf"{re.escape(key)}(\d+)⸩")
    for token in state.tokens:
        if token.children:
            token.children = list(_with_citations(token.children, word, numbers))
        elif key in token.content:
            token.content = word.sub("", token.content)
        token.info = word.sub("", token.info)


def citation(token: Token, env: EnvType) -> str:
    scope = env.get("scope", "")
    links = (
        f'<a href="#{scope}source-{number}"><span class="unseen">Source </span>{number}</a>'
        for number in token.meta["numbers"]
    )
    return f'<sup class="cited">{" ".join(links)}</sup>'


def _place(markdown: str, end: int) -> int | None:
    """Where the mark of a place that ends here can stand; None in a line without words, or a fence."""
    end = len(markdown[:end].rstrip(_ROOM))
    closing = _CLOSING.match(markdown, end)
    place = closing.end() if closing else end
    begin = max(markdown.rfind("\n", 0, place), markdown.rfind("\r", 0, place)) + 1
    line = markdown[begin:place].lstrip(" \t>")
    is_fence = line.startswith(("```", "~~~", "$$"))
    return place if not is_fence and any(char.isalnum() for char in line) else None


def _with_citations(
    children: Sequence[Token], word: re.Pattern[str], numbers: Sequence[Sequence[int]]
) -> Iterator[Token]:
    links, waiting = 0, []
    for token in children:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        found = list(word.finditer(token.content))
        if token.type == "text" and found:
            texts = word.split(token.content)[::2]
            marks = [_mark(numbers[int(one[1])]) for one in found if int(one[1]) < len(numbers)]
            if links:
                waiting += marks
                yield _text("".join(texts))
            else:
                for text, mark in zip(texts, [*marks, None], strict=True):
                    yield from filter(None, (_text(text), mark))
            continue
        _strip(token, word)
        yield token
        if not links:
            yield from waiting
            waiting = []
    yield from waiting


def _strip(token: Token, word: re.Pattern[str]) -> None:
    token.content = word.sub("", token.content)
    for name, value in token.attrs.items():
        if isinstance(value, str):
            token.attrs[name] = re.sub(_escaped(word.pattern), "", word.sub("", value))
    for child in token.children or ():
        _strip(child, word)


def _escaped(pattern: str) -> str:
    """The same word in a normalised address."""
    return pattern.replace("⸨", "%E2%B8%A8").replace("⸩", "%E2%B8%A9")


def _mark(numbers: Sequence[int]) -> Token:
    return Token("citation", "", 0, meta={"numbers": numbers})


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
