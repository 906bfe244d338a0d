"""`bench templates`: what the worker process adds to rendering the templates of a request.

The same request is rendered in this process and in a worker by turns, so that a busy machine slows both.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any

from sessions_app.prompt import templates
from sessions_app.prompt.templates import Unrendered
from sessions_app.rendering.renderer import Renderer
from tests.bench.base import Aim, Bench, Say, percentile, positive

REQUESTS = 300
AIM = 2.0
"""Milliseconds that rendering may take a request, in a worker that knows its texts."""

TEXTS = (
    "You help {{ args.customer.name|default('you') }} of {{ args.company }} on {{ system.day_of_week }}.",
    "{% for one in args.orders %}{{ loop.index }}. {{ one.title }}: {{ one.price|round(2) }}\n{% endfor %}",
    "{% if args.orders|length > 3 %}Be brief.{% else %}Take your time.{% endif %}",
    "Answer in {{ message.language or 'English' }}; call yourself {{ assistant.name }}.",
    "No template at all.",
)
VALUES: dict[str, Any] = {
    "system": {"day_of_week": "Monday", "current_time": "12:30:45"},
    "assistant": {"name": "Guide", "language": "English"},
    "message": {"text": "Where is my order? " * 40, "language": ""},
    "args": {
        "customer": {"name": "Ann"},
        "company": "Example",
        "orders": [{"title": f"Order {number}", "price": number * 1.125} for number in range(20)],
    },
}


def add_arguments(parser: ArgumentParser) -> None:
    kind = positive(int)
    parser.add_argument("--requests", type=kind, default=REQUESTS, help="of each (default: %(default)s)")


def run(given: Mapping[str, Any], say: Say) -> Sequence[Aim]:
    """Five texts, four of them templates, in one round trip a request."""
    texts = [Unrendered(text) for text in TEXTS]
    renderer = Renderer(seconds=20)
    try:
        began = perf_counter()
        renderer.render(texts, VALUES, owner=1)
        say(f"the first request, with the start of a worker: {(perf_counter() - began) * 1000:.0f} ms")
        here, there = measure(texts, renderer, given["requests"])
    finally:
        renderer.close()
    for name, times in (("in this process", here), ("in a worker", there)):
        say(f"{name:<18} p50 {median(times):6.2f} ms   p90 {percentile(times, 90):6.2f} ms")
    return [Aim("rendering a request in a worker, ms", AIM, median(there))]


def measure(
    texts: Sequence[Unrendered], renderer: Renderer, requests: int
) -> tuple[Sequence[float], Sequence[float]]:
    """Milliseconds of each request in this process, and in a worker."""
    here: list[float] = []
    there: list[float] = []
    for _ in range(requests):
        here.append(timed(lambda: [templates.render(each.text, VALUES) for each in texts]))
        there.append(timed(lambda: renderer.render(texts, VALUES, owner=1)))
    return here, there


def timed(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return (perf_counter() - began) * 1000


BENCH = Bench("templates", "rendering the templates of a request in a worker process", add_arguments, run)
