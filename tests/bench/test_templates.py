"""`bench templates`, short."""

from sessions_app.prompt.templates import render
from tests.bench.templates import BENCH, TEXTS, VALUES, timed


def test_its_texts_are_rendered_in_full() -> None:
    for text in TEXTS:
        assert render(text, VALUES).status in ("rendered", "plain")
        assert render(text, VALUES).undefined == ()


def test_both_ways_are_measured_side_by_side() -> None:
    lines: list[str] = []
    (aim,) = BENCH.run({"requests": 3}, lines.append)
    assert [line.split()[0] for line in lines] == ["the", "in", "in"]
    assert aim.value and aim.limit == 2.0


def test_a_time_is_in_milliseconds() -> None:
    assert 0 <= timed(lambda: None) < 1_000
