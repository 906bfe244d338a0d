"""Formulas: TeX between dollars or brackets becomes MathML, which browsers render without scripts.

`$x$`, `$$x$$`, `\\(x\\)` and `\\[x\\]` are formulas; `$5 to $10` is money. A formula never holds a blank
line, so that a block can close while the text is still being written. One that cannot be shown whole (`tex`),
or is beyond the limits of `meters`, is shown as it was written, with its delimiters.
"""

import re
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.utils import is_code_block

from sessions_app.markup.meters import FORMULA_LIMIT, SOURCE
from sessions_app.markup.tex import mathml

_TEX_MARKS = frozenset("\\^_={}+<>")
_SHELL = re.compile(r"[A-Z_]{2}")
_BRACKETS = {"\\(": "\\)", "\\[": "\\]"}
_DISPLAYED = {"$$", "\\["}
_CLOSING = {"$": "$", "$$": "$$", **_BRACKETS}


def mathematics(parser: MarkdownIt) -> None:
    """Adds formulas to a parser."""
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    for kind in ("math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(kind, _formula)
    dollars = next(rule.fn for rule in parser.inline.ruler.__rules__ if rule.name == "math_inline")

    def unless_money(state: StateInline, silent: bool) -> bool:
        start = state.pos
        if not dollars(state, True):  # noqa: FBT003 (the rule takes it by position)
            return False
        end, state.pos = state.pos, start
        if _is_money(state.src[start + 1 : end - 1], state.src[end : end + 1]):
            return False
        return bool(dollars(state, silent))

    parser.block.ruler.at("math_block", _display_block)
    parser.add_render_rule("math_block_open_end", _unfinished)
    parser.add_render_rule(SOURCE, _source)
    parser.inline.ruler.at("math_inline", unless_money)
    parser.inline.ruler.before("escape", "math_brackets", _brackets)


def _formula(self: RendererHTML, tokens: Sequence[Token], idx: int, *_rest: object) -> str:
    token = tokens[idx]
    made = mathml(token.content.strip(), display=token.block or token.markup in _DISPLAYED)
    return _framed(token, made or _source_code(token))


def _source(self: RendererHTML, tokens: Sequence[Token], idx: int, *_rest: object) -> str:
    return _framed(tokens[idx], _source_code(tokens[idx]))


def _framed(token: Token, shown: str) -> str:
    """A display formula inside a paragraph must not be a div."""
    if token.block:
        return f'<div class="math block">\n{shown}\n</div>\n'
    kind = "display" if token.markup in _DISPLAYED else "inline"
    return f'<span class="math {kind}">{shown}</span>'


def _source_code(token: Token) -> str:
    """As it was written."""
    written = f"{token.markup}{token.content}{_CLOSING[token.markup]}"
    return f'<code class="tex">{escape(written)}</code>'


def _is_money(content: str, following: str) -> bool:
    """Whether the text between two dollars is prices or shell variables rather than a formula."""
    if _SHELL.match(content) and following.isalpha():
        return True
    return content[:1].isdigit() and " " in content and _TEX_MARKS.isdisjoint(content)


def _display_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines from `$$` to `$$` or to a blank line.

    The plugin's rule looks ahead for the end, so later text could change a block that was rendered already.
    """
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].strip()
    if is_code_block(state, start) or not first.startswith("$$"):
        return False
    if "$$" in first[2:-2] or (first.endswith("$$") and len(first) in (3, 4)):
        return False
    last, has_ended = start, len(first) > 4 and first.endswith("$$")
    while not has_ended and last + 1 < end and _continues(state, last + 1):
        last += 1
        has_ended = state.src[state.bMarks[last] : state.eMarks[last]].rstrip().endswith("$$")
    if silent:
        return True
    text = state.getLines(start, last + 1, state.blkIndent, keepLastLF=False).strip()
    token = state.push("math_block" if has_ended else "math_block_open_end", "math", 0)
    token.block, token.map, token.markup = True, [start, last + 1], "$$"
    token.content = text[2:-2] if has_ended else text
    state.line = last + 1
    return True


def _continues(state: StateBlock, line: int) -> bool:
    return not state.isEmpty(line) and state.sCount[line] >= state.blkIndent


def _unfinished(self: RendererHTML, tokens: Sequence[Token], idx: int, *_rest: object) -> str:
    return f"<p>{escape(tokens[idx].content)}</p>\n"


def _brackets(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    closing = _BRACKETS.get(opening)
    if closing is None:
        return False
    end = state.src.find(closing, state.pos + 2, state.pos + 2 + FORMULA_LIMIT)
    if end < 0 or not state.src[state.pos + 2 : end].strip():
        return False
    if not silent:
        token = state.push("math_inline_double" if opening == "\\[" else "math_inline", "math", 0)
        token.content, token.markup = state.src[state.pos + 2 : end], opening
    state.pos = end + 2
    return True
