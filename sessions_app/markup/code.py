"""Code as HTML: highlighted by class names, with its language and a copy button above it.

Colours live in static/css/code.css: inline styles would need a weaker content policy.
"""

from functools import lru_cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound

HIGHLIGHT_LIMIT = 50_000
"""Characters; a longer block stays plain, because it would hold the event loop for too long."""

LABEL_LIMIT = 40

_FORMATTER = HtmlFormatter[str](nowrap=True)


def code_block(code: str, language: str = "") -> str:
    """A block of code. `language` is the first word after the fence; unknown ones are only shown."""
    label = escape(language[:LABEL_LIMIT])
    return (
        '<div class="code"><div class="code-head">'
        f'<span class="code-language">{label}</span>'
        '<button type="button" class="copy" data-copy>Copy</button></div>'
        f'<pre tabindex="0"><code>{_coloured(code, language)}</code></pre></div>\n'
    )


def _coloured(code: str, language: str) -> str:
    lexer_class = _lexer_class(language.lower()) if language and len(code) <= HIGHLIGHT_LIMIT else None
    if lexer_class is None:
        return escape(code)
    return highlight(code, lexer_class(stripnl=False), _FORMATTER)


@lru_cache(maxsize=256)
def _lexer_class(language: str) -> type[Lexer] | None:
    try:
        return find_lexer_class_by_name(language)
    except ClassNotFound:
        return None
