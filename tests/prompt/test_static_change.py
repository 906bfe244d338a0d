"""A roll-over is told from an edit of the static layer."""

import pytest

from sessions_app.prompt.layers import FrozenHistory, NamedText, StaticSources, render_static
from sessions_app.prompt.static_change import StaticChange, StaticLayer, static_change

FIRST, SECOND, OTHER = (FrozenHistory(key, f"user: {key}\n", 4) for key in ("1", "2", "3"))
RULES = NamedText("Clerk", "Be brief.")


def layer(*chunks: FrozenHistory, purpose: str = "Book.", tools: tuple[str, ...] = ("a",)) -> StaticLayer:
    segments = render_static(
        StaticSources(purpose=purpose, constraints=(RULES,), tools=tools, history=tuple(chunks))
    )
    template = [segment.text for segment in segments if not segment.source.startswith("chunk:")]
    names = tuple(segment.source for segment in segments if segment.source.startswith("chunk:"))
    return StaticLayer(tools, names, "".join(template))


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        (layer(), layer(), StaticChange.SAME),
        (layer(), layer(purpose="Sell."), StaticChange.TEXT),
        (layer(), layer(tools=("a", "b")), StaticChange.TOOLS),
        (layer(), layer(FIRST), StaticChange.ROLLED_OVER),
        (layer(FIRST), layer(FIRST, SECOND, OTHER), StaticChange.ROLLED_OVER),
        (layer(), layer(FIRST, purpose="Sell."), StaticChange.TEXT),
        (layer(FIRST), layer(FIRST, SECOND, purpose="Sell."), StaticChange.TEXT),
        (layer(FIRST), layer(), StaticChange.OTHER_HISTORY),
        (layer(FIRST, SECOND), layer(FIRST, OTHER), StaticChange.OTHER_HISTORY),
    ],
)
def test_what_changed(before: StaticLayer, now: StaticLayer, change: StaticChange) -> None:
    assert static_change(before, now) is change


def test_a_template_that_describes_itself_otherwise_was_changed() -> None:
    before, now = layer(), layer(FIRST)
    reworded = now.text.replace("read it before anything else", "read it first")
    assert static_change(before, StaticLayer(now.tools, now.chunks, reworded)) is StaticChange.TEXT


def test_a_layer_that_is_no_json_is_not_taken_for_a_roll_over() -> None:
    assert static_change(layer(), StaticLayer(("a",), ("chunk:1",), "{")) is StaticChange.TEXT
