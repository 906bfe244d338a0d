"""Markdown to safe HTML, or to one line of plain text.

The dialect is CommonMark with tables, strikethrough, task lists, footnotes and formulas. Raw HTML is text,
and so is `$5 to $10`. Headings move two levels down, because the page has a title of its own.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.tasklists import tasklists_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound

from sessions_app.markup.addresses import link_addresses
from sessions_app.markup.citations import citation, place_citations
from sessions_app.markup.directions import take_directions
from sessions_app.markup.footnotes import footnotes, note_close, note_open, note_reference
from sessions_app.markup.mathematics import mathematics
from sessions_app.markup.meters import limit_costs
from sessions_app.markup.prose import paragraph_of
from sessions_app.markup.sanitising import is_picture, sanitise
from sessions_app.markup.tables import measure_cells

LABEL_LIMIT = 40

EMULATOR_REPORT = "pipeweb-emulator-report"
"""The word by which the emulator marks its account of a request (`emulator/default_answer`)."""

PLAIN_LIMIT = 2_000
"""Characters of which `plain` makes a line; its patterns are quadratic in brackets."""

_FORMATTER = HtmlFormatter[str](nowrap=True)


def code_block(code: str, language: str = "", *, is_coloured: bool = False) -> str:
    """Highlighted by class names (static/css/code.css); `language` is the first word after the fence."""
    label = escape(language[:LABEL_LIMIT]) or "text"
    shown = _coloured(code, language) if is_coloured else escape(code)
    return (
        '<div class="code"><div class="code-head">'
        f'<span class="code-language">{label}</span>'
        '<button type="button" class="copy" data-wrap aria-pressed="false">Wrap</button>'
        f'<button type="button" class="copy" data-save="code{_ending(language)}">Download</button>'
        '<button type="button" class="copy" data-copy>Copy</button></div>'
        f'<pre tabindex="0"><code>{shown}</code></pre></div>\n'
    )


def is_report(language: str) -> bool:
    return language == EMULATOR_REPORT


def folded_report(report: str) -> str:
    return (
        '<details class="fold received"><summary>What the model received</summary>'
        f'<pre tabindex="0">{escape(report)}</pre></details>\n'
    )


def _coloured(code: str, language: str) -> str:
    lexer_class = _lexer_class(language.lower())
    if lexer_class is None:
        return escape(code)
    return highlight(code, lexer_class(stripnl=False), _FORMATTER)


def _ending(language: str) -> str:
    """The ending of a file with code of the language."""
    lexer_class = _lexer_class(language.lower()) if language else None
    patterns = lexer_class.filenames if lexer_class else []
    return next((ending[1] for name in patterns if (ending := _FILE_ENDING.fullmatch(name))), ".txt")


@lru_cache(maxsize=256)
def _lexer_class(language: str) -> type[Lexer] | None:
    try:
        return find_lexer_class_by_name(language)
    except ClassNotFound:
        return None


NESTING_LIMIT = 40
"""Levels of nested blocks; the parser drops deeper ones, and its time grows with the depth."""

HEADING_SHIFT = 2

CELL_LIMIT = 1_000
"""Cells that are missing in the rows of a table; where there are more, the table ends."""

BRACKET_LIMIT = 1_000
"""Opening brackets in a paragraph; with more its links stay text, since parsing them is quadratic."""

_FILE_ENDING = re.compile(r"\*(\.\w+)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,}).*$", re.MULTILINE)
_LINE_MARK = re.compile(
    r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+|[-*_=|: ]{3,}$)", re.MULTILINE
)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)?")
_EMPHASIS = re.compile(
    "|".join(
        rf"(?<![\w{mark}])[{mark}]{count}(?=\S)|(?<=\S)[{mark}]{count}(?![\w{mark}])"
        for mark, count in (("*", "{1,3}"), ("_", "{1,3}"), ("~", "{2}"), ("`", "+"))
    )
)
"""Between letters or digits a mark is one of the text: `7*8`, `a_name`."""


def render_with(markdown: str, env: EnvType) -> str:
    """Safe HTML of well-formed Markdown; link definitions are read from `env` and added to it."""
    if (prose := paragraph_of(markdown)) is not None:
        return f"<p>{prose}</p>\n"
    return sanitise(PARSER.render(markdown, env))


def plain(text: str) -> str:
    """The beginning of a Markdown text as plain text on one line, never longer than the text."""
    text = text[:PLAIN_LIMIT]
    for pattern, kept in ((_FENCE, " "), (_LINE_MARK, ""), (_LINK, r"\1"), (_EMPHASIS, "")):
        text = pattern.sub(kept, text)
    return " ".join(text.replace(" | ", " ").split())


def make_parser() -> MarkdownIt:
    # The rule reads its limit there and has no option for it.
    table.__globals__["MAX_AUTOCOMPLETED_CELLS"] = CELL_LIMIT
    options = {"html": False, "maxNesting": NESTING_LIMIT}
    parser = MarkdownIt("commonmark", options, renderer_cls=Html)
    parser.enable(["table", "strikethrough"]).use(tasklists_plugin).use(mathematics).use(footnotes)
    without_links = MarkdownIt("commonmark", options).enable("strikethrough").disable(["link", "image"])
    parser.core.ruler.before("inline", "brackets", partial(_parse_bracket_floods, without_links))
    parser.core.ruler.push("citations", place_citations)
    parser.core.ruler.push("addresses", link_addresses)
    parser.core.ruler.push("costs", limit_costs)
    parser.core.ruler.push("headings", _lower_headings)
    parser.core.ruler.push("alignment", _classes_for_styles)
    parser.core.ruler.push("cells", measure_cells)
    parser.core.ruler.push("directions", take_directions)
    parser.core.ruler.push("images", _links_for_remote_images)
    parser.core.ruler.push("windows", _links_in_other_windows)
    return parser


class Html(RendererHTML):
    """Each method renders tokens of the type it is named after."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        language = next(iter(token.info.split()), "")
        if is_report(language):
            return folded_report(token.content)
        return code_block(token.content, language, is_coloured=token.meta.get("is_coloured", False))

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_block(tokens[idx].content)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="table" tabindex="0">' + self.renderToken(tokens, idx, options, env)

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        end = self.renderToken(tokens, idx, options, env).rstrip("\n")
        copy = '<button type="button" class="copy" data-copy-table>Copy table</button>'
        return f"{end}{copy}</div>\n"

    def footnote_reference_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return note_open(tokens[idx], env)

    def footnote_reference_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return note_close()

    def footnote_ref(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return note_reference(tokens[idx], env)

    def citation(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return citation(tokens[idx], env)


def _parse_bracket_floods(without_links: MarkdownIt, state: StateCore) -> None:
    """Parses paragraphs above `BRACKET_LIMIT` without links; they would block the event loop for seconds."""
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > BRACKET_LIMIT:
            token.children = without_links.parseInline(token.content)[0].children
            token.content = ""


def _lower_headings(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + HEADING_SHIFT)}"


def _classes_for_styles(state: StateCore) -> None:
    """Aligns cells by class: the content security policy forbids style attributes."""
    for token in state.tokens:
        style = token.attrs.pop("style", "") if token.type in ("th_open", "td_open") else ""
        if style:
            token.attrSet("class", f"align-{str(style).removeprefix('text-align:')}")


def _links_in_other_windows(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("target", "_blank")


def _links_for_remote_images(state: StateCore) -> None:
    for token in state.tokens:
        if token.children and any(child.type == "image" for child in token.children):
            token.children = list(_without_remote_images(token.children))


def _without_remote_images(children: Sequence[Token]) -> Iterator[Token]:
    links = 0
    for token in children:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        address = str(token.attrGet("src") or "")
        if token.type != "image" or is_picture(address):
            yield token
        elif links:
            yield Token("text", "", 0, content=_alternative(token) or address)
        else:
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield Token("text", "", 0, content=_alternative(token) or address)
            yield Token("link_close", "a", -1)


def _alternative(image: Token) -> str:
    return "".join(child.content for child in image.children or [] if child.type in ("text", "code_inline"))


PARSER = make_parser()
