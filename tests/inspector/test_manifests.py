"""The keys found by their shape are those of the parsed manifest, whatever was said."""

import pytest

from sessions_app.inspector.manifest_sources import manifest_sources
from sessions_app.models import Exchange, Session
from tests.factories import answered, make_exchange, make_run, play_flight


@pytest.fixture
def exchanges(session: Session) -> list[Exchange]:
    session.background = 'A list: [12, "static", null, 3, 4] and \\ and "quotes"'
    session.save()
    play_flight(session)
    answered(session, '[7, "buffered", null, 1, 2]', '[8, "x')
    make_exchange(make_run(session), cache_name="cachedContents/abc")
    return list(Exchange.objects.order_by("number"))


def test_the_sources_are_those_of_the_manifest(exchanges: list[Exchange]) -> None:
    told = [(one.number, list(one.sources)) for one in manifest_sources(Exchange.objects.all())]
    assert told == [
        (one.number, [entry.source for entry in one.stored_manifest.entries]) for one in exchanges
    ]
