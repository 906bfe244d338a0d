"""`bench markup`, short."""

from sessions_app.markup import render
from tests.bench.markup import BENCH, CHARACTERS, KINDS, block, measure, stream


def test_every_block_is_one_block_that_is_formatted() -> None:
    for kind in KINDS:
        text = block(kind, CHARACTERS)
        assert len(text) >= CHARACTERS and "unformatted" not in render(text)
        assert "\n\n" not in text


def test_both_ways_are_measured_for_each_kind() -> None:
    lines: list[str] = []
    aims = BENCH.run({"characters": 2_000, "rounds": 1}, lines.append)
    assert [line.split()[0] for line in lines] == ["block", *KINDS]
    assert [aim.limit for aim in aims] == [2.0, 2.0] and all(aim.value for aim in aims)


def test_showing_the_open_block_is_what_is_counted() -> None:
    text = block("list", 3_000)
    assert stream(text, is_shown=True) > stream(text, is_shown=False)
    plain, shown = measure(text, 1)
    assert plain[1] < shown[1] and plain[0] > 0
