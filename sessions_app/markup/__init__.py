"""From untrusted Markdown to HTML that may stand on a page: the only way there."""

from sessions_app.markup.blocks import Blocks, Closed
from sessions_app.markup.plain import plain
from sessions_app.markup.rendering import render

__all__ = ["Blocks", "Closed", "plain", "render"]
