"""What a page prints of a session is found by it: hashes and the names of turns."""

import hashlib

import pytest
from django.test import Client

from sessions_app.inspector.content_search import Match, search
from sessions_app.inspector.printed_names import as_hash
from sessions_app.inspector.received_signatures import received_traces
from sessions_app.models import Exchange, Session
from sessions_app.wording.sources import source_title
from tests.factories import answered, make_history, make_session
from tests.inspector.evidence import REFUSAL, add_refusal
from tests.inspector.reading import read_list


def found(session: Session, text: str) -> dict[int, Match]:
    return search(session, text).by_exchange


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("0A1b2c3d", "0a1b2c3d"),
        (" 0a1b2c3d4e… ", "0a1b2c3d4e"),
        ("0a1b2c3", ""),
        ("0a1b2c3g", ""),
        ("f" * 65, ""),
        ("7735ebd9-0000-4000-8000-000000000000", "7735ebd9000040008000000000000000"),
    ],
)
def test_a_hash_is_eight_hexadecimal_digits_or_more(text: str, beginning: str) -> None:
    assert as_hash(text) == beginning


@pytest.mark.parametrize("length", [8, 12, 64])
def test_the_hash_of_a_request_leads_to_its_bytes(session: Session, length: int) -> None:
    make_history(session, 3)
    exchange = Exchange.objects.get(number=2)
    (only,) = found(session, exchange.request_sha256[:length]).items()
    assert (only[0], only[1].address) == (2, "?tab=wire")
    assert only[1].before + only[1].text + only[1].after == exchange.request_sha256


def test_the_hash_of_an_item_leads_to_the_item_in_each_request(session: Session) -> None:
    make_history(session, 3)
    exchange = Exchange.objects.get(number=1)
    item = exchange.sent_items()[-1]
    matches = found(session, item.source.blob.sha256[:12])
    assert sorted(matches) == [1, 2, 3]
    assert matches[1].address == f"#item-{item.position}"


def test_the_hash_of_a_signature_leads_to_where_it_came_and_went(session: Session) -> None:
    first, second, _ = make_history(session, 3)
    (trace,) = received_traces(first)
    matches = found(session, trace.sha256[:12])
    assert sorted(matches) == [1, 2, 3]
    assert matches[1].address == "?tab=signatures"
    names = [item.source.name for item in second.sent_items()]
    assert matches[2].address == f"#item-{names.index(f'turn:{first.turns.get().public}')}"


def test_the_hash_of_a_refused_answer_leads_to_it(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    add_refusal(exchange)
    matches = found(session, hashlib.sha256(REFUSAL).hexdigest()[:12])
    assert [(number, match.address) for number, match in matches.items()] == [(1, "?tab=wire")]


def test_a_turn_is_found_by_its_printed_name_and_by_its_key(session: Session) -> None:
    first, second, third = make_history(session, 3)
    turn = second.turns.get()
    printed = source_title(f"turn:{turn.public}", turn.number)
    for text in (printed, printed.upper(), str(turn.public), str(turn.public)[:8]):
        matches = found(session, text)
        assert sorted(matches) == [2, 3]
        assert matches[2].address == "?tab=response"
        assert matches[3].address.startswith("#item-")
    assert third.number == 3 and first.number == 1


def test_names_and_hashes_of_another_session_are_not_found(session: Session) -> None:
    other = make_session(session.owner)
    exchange = answered(other, "Hello", "Hi")
    answered(session, "Something else", "Hi")
    assert found(session, exchange.request_sha256) == {}
    assert found(session, str(exchange.turns.get().public)) == {}


def test_the_list_marks_what_was_asked_for(client: Client, session: Session) -> None:
    exchange = make_history(session, 2)[0]
    sha256 = exchange.request_sha256
    page = read_list(client, session, q=sha256[:8])
    assert f"<mark>{sha256[:8]}</mark>{sha256[8:]}" in page
    assert f'{exchange.get_absolute_url()}?tab=wire"' in page
