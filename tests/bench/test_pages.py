"""`bench pages`, short."""

import pytest

from tests.bench.inspector import PageTimes
from tests.bench.pages import BARE_MS, aims, read


@pytest.mark.slow
def test_every_page_is_measured_and_the_first_reads_nothing() -> None:
    pages = read(3, 2, 1)
    assert [page.name for page in pages] == ["bare", "list", "chat", "inspector", "exchange"]
    assert pages[0].queries == 0 and all(page.queries and page.cpu > 0 for page in pages[1:])


def test_the_aims_are_multiples_of_the_bare_page() -> None:
    bare = 3 * BARE_MS
    pages = [
        PageTimes("bare", bare, bare, 0, 2_000),
        PageTimes("list", 1, 3 * 11.9, 8, 40_001),
        PageTimes("chat", 1, 3 * 19.9, 8, 1),
        PageTimes("exchange", 1, 3 * 10.5, 8, 1),
    ]
    assert [aim.verdict for aim in aims(pages)] == ["met", "met", "NOT MET", "NOT MET"]
