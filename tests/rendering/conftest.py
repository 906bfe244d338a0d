"""Renderers of the tests, whose workers are ended with them."""

from collections.abc import Iterator

import pytest

from sessions_app.rendering import process
from sessions_app.rendering.renderer import Renderer

ESCAPED = """
import os, signal, socket, sys, time
from sessions_app.rendering import worker
from sessions_app.prompt.templates import Rendered

def escaped(text, values, defaults=None):
    try:
        return Rendered(str(eval(text.strip('{} '), globals() | {'values': values})), 'rendered')
    except OSError as error:
        return Rendered(text, 'fallback', str(error))

main, render = worker.main, worker.render
worker.render = lambda *given: escaped(*given) if is_up else render(*given)
is_up = False
limit = worker._limit_resources
def limited():
    global is_up
    limit()
    is_up = True
worker._limit_resources = limited
main()
"""
"""A worker whose sandbox is open: it evaluates a text as Python, under the same limits."""


@pytest.fixture
def renderer() -> Iterator[Renderer]:
    """With the limits of the product."""
    renderer = Renderer()
    yield renderer
    renderer.close()


@pytest.fixture
def escaped(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> Renderer:
    """Its workers evaluate `{{ … }}` as Python; it gives them time to compute on a busy machine."""
    renderer.seconds = 1.0
    monkeypatch.setattr(process, "_COMMAND", (*process._COMMAND[:3], "-c", ESCAPED))
    return renderer
