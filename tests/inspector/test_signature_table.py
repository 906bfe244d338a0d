"""One table of all signatures of a session: where from, where back, what became of them."""

import base64
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions_app.inspector import signature_table as module
from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_table import STATES, SignatureFilter, SignatureTable, signature_table
from sessions_app.inspector.signature_trace import SignatureState
from sessions_app.models import Exchange, Session, Turn
from tests.factories import finish, make_exchange, make_history, make_run, play_flight
from tests.inspector.test_signatures import SIGNATURE, rewrite, signed_reply


def table(session: Session, **params: str) -> SignatureTable:
    return signature_table(session, params)


def states(found: SignatureTable) -> list[SignatureState]:
    return [row.trace.state for row in found.rows]


def test_every_state_has_a_filter() -> None:
    filtered = {state for group in STATES.values() for state in group}
    assert STATES.keys() == set(SignatureFilter)
    assert filtered == set(SignatureState)


def test_the_newest_is_first_with_where_it_came_from_and_went(session: Session) -> None:
    exchanges = make_history(session, 3)
    rows = table(session).rows
    received = [row.trace.received.exchange for row in rows if row.trace.received]
    assert received == [3, 2, 1]
    assert [one.exchange for one in rows[2].trace.returned] == [2, 3]
    turn = exchanges[0].turns.get()
    assert rows[2].turn == f"Turn {turn.number}"
    assert states(table(session)) == [SignatureState.NOT_DUE, SignatureState.EQUAL, SignatureState.EQUAL]


def test_each_row_says_what_the_tab_of_its_exchange_says(session: Session) -> None:
    play_flight(session)
    make_history(session, 3)
    told = {row.trace.sha256: row.trace for row in table(session).rows}
    for exchange in Exchange.objects.all():
        for trace in received_traces(exchange):
            assert told[trace.sha256] == trace
    assert len(told) == 4


def lost(session: Session) -> None:
    """The signature of the next reply is not among what is sent back."""
    first = signed_reply(session)
    turn, kept = first.turns.get(), first.turns.get().content_id
    rewrite(turn, {f',"thoughtSignature":"{base64.b64encode(SIGNATURE).decode()}"': ""})
    finish(make_exchange(make_run(session)).run)
    Turn.objects.filter(pk=turn.pk).update(content_id=kept)


@pytest.fixture
def varied(session: Session) -> Session:
    """One signature lost, one of another route, one withheld with its turn; then three that came back."""
    lost(session)
    make_history(session, 1)
    first = make_history(session, 1)[0]
    first.turns.update(exchange=None)
    make_history(session, 2)
    return session


def test_a_filter_shows_its_states_and_no_other(varied: Session) -> None:
    everything = states(table(varied))
    for one in SignatureFilter:
        found = states(table(varied, state=one.value))
        assert sorted(found) == sorted(state for state in everything if state in STATES[one])
    assert SignatureState.LOST in everything and SignatureState.WITHHELD in everything


def test_a_signature_of_another_route_is_foreign(session: Session) -> None:
    signed_reply(session)
    make_exchange(make_run(session), route="route-b")
    (row,) = table(session, state="foreign").rows
    assert row.trace.state is SignatureState.FOREIGN


def test_a_turn_from_elsewhere_is_in_the_table_without_an_exchange(session: Session) -> None:
    first = signed_reply(session)
    first.turns.update(exchange=None, route="route-a")
    first.chunks.all().delete()
    finish(make_exchange(make_run(session)).run)
    (row,) = table(session, state="foreign").rows
    assert (row.trace.received, row.trace.state) == (None, SignatureState.UNTRACED)
    assert [one.exchange for one in row.trace.returned] == [2]


def test_a_beginning_of_a_hash_finds_its_signature(session: Session) -> None:
    make_history(session, 3)
    wanted = table(session).rows[1].trace.sha256
    assert [row.trace.sha256 for row in table(session, sha256=wanted[:10].upper()).rows] == [wanted]


def test_the_table_has_pages_that_keep_the_filter(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE_SIZE", 2)
    make_history(session, 6)
    address = reverse("session-signatures", args=[session.public])
    page = client.get(address, {"state": "returned", "page": "2"}).content.decode()
    assert "Page 2 of 3" in page and "?state=returned&amp;page=3" in page
    assert page.count("data-copy-text=") == 2


def queries_of(session: Session, **params: str) -> int:
    with CaptureQueriesContext(connection) as context:
        table(session, **params)
    return len(context)


@pytest.mark.parametrize("params", [{}, {"state": "returned"}, {"state": "lost"}])
def test_the_queries_do_not_grow_with_the_session(session: Session, params: dict[str, str]) -> None:
    make_history(session, 3)
    few = queries_of(session, **params)
    make_history(session, 60)
    assert queries_of(session, **params) == few <= 9


def test_the_pages_of_a_session_link_to_it(client: Client, session: Session) -> None:
    exchange = make_history(session, 1)[0]
    address = reverse("session-signatures", args=[session.public])
    for page in (
        reverse("exchanges", args=[session.public]),
        f"{exchange.get_absolute_url()}?tab=signatures",
    ):
        assert address in client.get(page).content.decode()
    assert client.get(address).status_code == 200


def test_another_persons_table_does_not_exist(stranger: Client, session: Session) -> None:
    assert stranger.get(reverse("session-signatures", args=[session.public])).status_code == 404


def test_a_session_without_signatures_says_so(client: Client, session: Session) -> None:
    page: Any = client.get(reverse("session-signatures", args=[session.public]))
    assert "None." in page.content.decode()
