"""Untrusted Markdown to safe HTML."""

from sessions_app.markup.blocks import Blocks, Closed, render
from sessions_app.markup.citations import Mark
from sessions_app.markup.open_block import Preview
from sessions_app.markup.rendering import plain

__all__ = ["Blocks", "Closed", "Mark", "Preview", "plain", "render"]
