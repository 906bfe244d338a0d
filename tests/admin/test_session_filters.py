"""Sessions are found by what happened in them."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.models import Exchange, Run, Session
from tests.factories import make_exchange, make_run, make_session

LIST = "/admin/sessions_app/session/"


def listed(client: Client, query: str) -> set[int]:
    return {row.pk for row in client.get(f"{LIST}?{query}").context["cl"].result_list}


def ended(session: Session, status: Run.Status) -> Run:
    run = make_run(session)
    Run.objects.filter(pk=run.pk).update(status=status)
    return run


@pytest.fixture
def exchange_of(alice: User) -> Callable[..., Exchange]:
    def make(**columns: object) -> Exchange:
        exchange = make_exchange(make_run(make_session(alice)))
        Exchange.objects.filter(pk=exchange.pk).update(**columns)
        Run.objects.filter(pk=exchange.run_id).update(status=Run.Status.FAILED)
        return exchange

    return make


def test_the_newest_run_decides(root: Client, alice: User) -> None:
    mended, broken = make_session(alice), make_session(alice)
    ended(mended, Run.Status.FAILED)
    ended(mended, Run.Status.COMPLETED)
    ended(broken, Run.Status.FAILED)
    make_session(alice)
    assert listed(root, "last_run=failed") == {broken.pk}
    assert listed(root, "last_run=completed") == {mended.pk}
    assert listed(root, "last_run=interrupted") == set()


def test_an_exchange_with_the_verdict_is_enough(root: Client, exchange_of: Callable[..., Exchange]) -> None:
    lost = exchange_of(verdict="cache_lost")
    make_exchange(make_run(lost.session))
    exchange_of(verdict="hit")
    assert listed(root, "verdict=cache_lost") == {lost.session_id}


def test_an_exchange_with_the_error_is_enough(root: Client, exchange_of: Callable[..., Exchange]) -> None:
    refused = exchange_of(error={"kind": "QuotaExceeded", "message": "no"})
    exchange_of(error={"kind": "BadRequest"})
    exchange_of()
    assert listed(root, "failed_with=QuotaExceeded") == {refused.session_id}


def test_the_counts_are_of_sessions(root: Client, exchange_of: Callable[..., Exchange]) -> None:
    for _ in range(2):
        exchange = exchange_of(error={"kind": "QuotaExceeded"}, verdict="cache_lost")
        again = make_exchange(make_run(exchange.session))
        Exchange.objects.filter(pk=again.pk).update(error={"kind": "QuotaExceeded"}, verdict="cache_lost")
        Run.objects.filter(pk=again.run_id).update(status=Run.Status.FAILED)
    specs = {spec.title: spec for spec in root.get(LIST).context["cl"].filter_specs}
    rows = Session.objects.all()
    assert specs["last run"].counted(rows) == {"failed": 2}
    assert specs["error"].counted(rows) == {"QuotaExceeded": 2}
    page = root.get(f"{LIST}?_facets=True").content.decode()
    assert "QuotaExceeded (2)" in page and "BadRequest (0)" in page
    assert "(-)" in page, "verdicts are not counted"
