"""`bench inspector`, short."""

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Exchange
from tests.bench.conversations import add_exchanges, new_session
from tests.bench.inspector import PageTimes, aims, read


@pytest.mark.slow
def test_every_page_of_a_built_session_is_measured() -> None:
    pages = read(30, 1)
    assert {"list, 30", "layers, last", "wire, 1 MB"} <= {page.name for page in pages}
    assert all(page.ms > 0 and page.queries > 0 for page in pages[1:])


def test_a_built_session_is_what_a_run_would_have_stored(alice: User) -> None:
    session = new_session(alice, cache_policy="seed")
    add_exchanges(session, 30)
    exchanges = list(Exchange.objects.filter(session=session))
    assert [one.number for one in exchanges] == list(range(1, 31))
    assert all(one.is_faithful() for one in exchanges)
    assert {one.outcome for one in exchanges} == {"complete"}
    assert session.turns.count() == 60


def test_the_aims_are_of_the_slowest_pages() -> None:
    pages = [
        PageTimes("bare page", 1, 1, 0, 9),
        PageTimes("list, 200", 30, 30, 8, 9),
        PageTimes("list, 1000", 40, 40, 8, 9),
        PageTimes("search, 1000", 90, 90, 8, 9),
        PageTimes("wire, 1 MB", 300, 300, 8, 9),
    ]
    assert [(aim.value, aim.verdict) for aim in aims(pages)] == [
        (40, "met"),
        (90, "met"),
        (300, "NOT MET"),
        (0, "met"),
    ]
