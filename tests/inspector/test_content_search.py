import json

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector import content_search
from sessions_app.models import Exchange, Session
from tests.capture.answers import says
from tests.capture.conversations import body_of, user
from tests.capture.program import Program
from tests.factories import answered, make_history, play_flight


def found(session: Session, words: str) -> list[int]:
    return sorted(content_search.search(session, words).by_exchange)


def test_a_message_is_in_its_request_and_in_all_that_follow(session: Session) -> None:
    answered(session, "Where is the Owl?", "Away.")
    make_history(session, 2)
    assert found(session, "the owl") == [1, 2, 3]


def test_an_answer_is_found_in_its_own_exchange(session: Session) -> None:
    answered(session, "Hello", "A sparrow came.")
    matches = content_search.search(session, "SPARROW").by_exchange
    assert list(matches) == [1]
    assert (matches[1].place, matches[1].position) == ("answer", None)


@pytest.mark.parametrize("words", ['say "hi"', "back\\slash", "é"])
def test_what_json_escapes_is_found_in_turns_and_in_the_static_layer(session: Session, words: str) -> None:
    answered(session, f"Please {words} now", "Yes.")
    session.background = f"Never {words}."
    session.save()
    answered(session, "Again", "Yes.")
    places = {
        match.place.partition(":")[0] for match in content_search.search(session, words).by_exchange.values()
    }
    assert found(session, words) == [1, 2]
    assert "turn" in places


@pytest.mark.parametrize("words", ["Größe", "größe", "GRÖSSE 😀", "wie 😀 <b>", "😀 <b>"])
@pytest.mark.parametrize("escaped", ["<>&", ""])
def test_what_a_program_writes_by_numbers_is_found_and_shown(
    program: Program, words: str, escaped: str
) -> None:
    """As Python's json writes what is not ASCII, and Go's what HTML reads."""
    said = words if words.startswith("GR") else "Größe wie 😀 <b>"
    body = json.dumps(json.loads(body_of([user(said)])))
    for one in escaped:
        body = body.replace(one, f"\\u{ord(one):04x}")
    row = program.ask(body.encode(), says("Yes.", 9), model="gemini-3-flash-preview")
    assert row.exchange is not None
    match = content_search.search(row.exchange.session, words).by_exchange[1]
    assert match.place.startswith("turn:") and match.text.lower() == words.lower()


def test_an_answer_is_found_in_either_case_of_any_letter(session: Session) -> None:
    answered(session, "Hello", "Die Größe.")
    assert found(session, "GRÖ") == [1] and found(session, "gröSSe") == []


def test_a_match_tells_what_is_around_it_and_where_it_stands(session: Session) -> None:
    _, second = play_flight(session)
    match = content_search.search(session, "delayed").by_exchange[2]
    assert (match.before, match.text, match.after) == ("", "delayed", "")
    assert match.position == len(second.sent_items()) - 1


def test_the_list_shows_the_match_and_leads_to_the_item(client: Client, session: Session) -> None:
    exchange = answered(session, "Where is the <owl>?", "Away.")
    address = reverse("exchanges", args=[session.public])
    page = client.get(address, {"q": "<owl>"}).content.decode()
    assert "<mark>&lt;owl&gt;</mark>" in page
    assert f'{exchange.get_absolute_url()}#item-{len(exchange.sent_items()) - 1}"' in page
    assert "No exchange passes" in client.get(address, {"q": "unicorn"}).content.decode()


def test_what_is_not_looked_through_is_said(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_history(session, 3)
    monkeypatch.setattr("sessions_app.inspector.content_search.MAX_BYTES", 10)
    page = client.get(reverse("exchanges", args=[session.public]), {"q": "question"}).content.decode()
    assert "holds more than one search looks through" in page


def test_another_session_is_not_searched(session: Session) -> None:
    other = Session.objects.create(owner=session.owner, model=session.model)
    answered(other, "Where is the owl?", "Away.")
    assert found(session, "owl") == []


def test_a_match_is_on_one_line(session: Session) -> None:
    answered(session, "first\nowl\nlast", "Hi")
    match = content_search.search(session, "owl").by_exchange[1]
    assert "\n" not in match.before + match.after and "first owl last" in (
        match.before + match.text + match.after
    )


def test_an_exchange_without_manifest_is_no_trouble(session: Session) -> None:
    answered(session, "owl", "Hi")
    Exchange.objects.update(manifest={})
    assert found(session, "owl") == []
