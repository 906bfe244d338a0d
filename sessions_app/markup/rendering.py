"""One text to HTML, for live blocks and for history alike."""

from markdown_it.utils import EnvType

from sessions_app.markup.parsing import make_parser
from sessions_app.markup.sanitising import sanitise, well_formed

PARSER = make_parser()


def render(markdown: str) -> str:
    """Safe HTML of a Markdown text from a model or a person. Any string is accepted.

    The same text gives the same HTML, and only tags, attributes and addresses of the allow-list.
    """
    return render_with(markdown, {})


def render_with(markdown: str, env: EnvType) -> str:
    """Like `render`; link definitions are read from `env` and added to it."""
    return sanitise(PARSER.render(well_formed(markdown), env))
