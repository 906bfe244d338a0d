"""The Markdown that people and models write here: CommonMark, tables, strikethrough, task lists, formulas.

Raw HTML is text, and so is `$5 to $10`. Headings move two levels
down, because the page has a title of its own.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.tasklists import tasklists_plugin

from sessions_app.markup.code import code_block
from sessions_app.markup.mathematics import mathematics
from sessions_app.markup.sanitising import is_picture

NESTING_LIMIT = 40
"""Blocks inside blocks. The parser drops what lies deeper, and its time grows with the depth."""

HEADING_SHIFT = 2

BRACKET_LIMIT = 1_000
"""Opening brackets of one paragraph; with more its links stay text, since each is tried to the end."""


def make_parser() -> MarkdownIt:
    options = {"html": False, "maxNesting": NESTING_LIMIT}
    parser = MarkdownIt("commonmark", options, renderer_cls=Html)
    parser.enable(["table", "strikethrough"]).use(tasklists_plugin).use(mathematics)
    without_links = MarkdownIt("commonmark", options).enable("strikethrough").disable(["link", "image"])
    parser.core.ruler.before("inline", "brackets", partial(_parse_bracket_floods, without_links))
    parser.core.ruler.push("headings", _lower_headings)
    parser.core.ruler.push("alignment", _classes_for_styles)
    parser.core.ruler.push("images", _links_for_remote_images)
    return parser


class Html(RendererHTML):
    """Renders a token by the method of its type; the library's own methods do the rest."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_block(tokens[idx].content, next(iter(tokens[idx].info.split()), ""))

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return code_block(tokens[idx].content)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="table" tabindex="0">' + self.renderToken(tokens, idx, options, env)

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.renderToken(tokens, idx, options, env).rstrip("\n") + "</div>\n"


def _parse_bracket_floods(without_links: MarkdownIt, state: StateCore) -> None:
    """A hundred thousand brackets would hold the event loop for seconds."""
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > BRACKET_LIMIT:
            token.children = without_links.parseInline(token.content)[0].children
            token.content = ""


def _lower_headings(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + HEADING_SHIFT)}"


def _classes_for_styles(state: StateCore) -> None:
    """Cells are aligned by class: the content policy refuses style attributes."""
    for token in state.tokens:
        style = token.attrs.pop("style", "") if token.type in ("th_open", "td_open") else ""
        if style:
            token.attrSet("class", f"align-{str(style).removeprefix('text-align:')}")


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
