"""Random templates: each comes back in time, and as this process renders it."""

import os
from collections import Counter
from itertools import takewhile
from random import SystemRandom

import pytest

from sessions_app.prompt import templates
from sessions_app.prompt.templates import Rendered, Unrendered
from sessions_app.rendering.renderer import Renderer, RenderTime
from tests.rendering.grammar import Grammar
from tests.rendering.hostile import VALUES
from tests.rendering.test_renderer import MARGIN, memory_of, timed

pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")
"""Raised here as errors, they would make another result than in a worker."""

BATCH = 8
"""Templates of one request, for which the arguments travel once."""


def fuzz(renderer: Renderer, seed: int, count: int) -> Counter[str]:
    grammar, seen, before = Grammar(seed), Counter[str](), memory_of(os.getpid())
    texts = [grammar.template() for _ in range(count)]
    done = 0
    while done < count:
        found = rendered_together(renderer, texts[done : done + BATCH], owner=done)
        for rendered in found or [rendered_alone(renderer, texts[done], owner=count + done)]:
            seen[rendered.failure or rendered.status] += 1
            if rendered.failure is None:
                assert rendered == templates.render(texts[done], VALUES), texts[done]
                seen["compared"] += 1
            done += 1
    assert memory_of(os.getpid()) - before < 64_000_000
    return seen


def rendered_together(renderer: Renderer, texts: list[str], owner: int) -> list[Rendered]:
    """The results of the first texts, as many as keep the limit of one text together."""
    time = RenderTime()
    found = renderer.render([Unrendered(text) for text in texts], VALUES, owner=owner, time=time)
    if time.spent > renderer.seconds + MARGIN:
        return []
    return list(takewhile(lambda rendered: rendered.failure is None, found))


def rendered_alone(renderer: Renderer, text: str, owner: int) -> Rendered:
    """The result, or what it exceeded; either comes in time."""
    rendered, spent = timed(renderer, text, owner)
    if spent > renderer.seconds + MARGIN:
        # A busy machine delays anything once.
        spent = timed(renderer, text, -owner)[1]
    assert spent <= renderer.seconds + MARGIN, text
    return rendered


def run(renderer: Renderer, count: int) -> None:
    seed = SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    seen = fuzz(renderer, seed, count)
    print(seen)
    assert seen["rendered"] > count / 10 and seen["fallback"] > count / 10 and seen["compared"] > count / 3


def test_random_templates_are_rendered_in_time(renderer: Renderer) -> None:
    run(renderer, 300)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_ten_thousand_random_templates_are_rendered_in_time(renderer: Renderer) -> None:
    run(renderer, 10_000)
