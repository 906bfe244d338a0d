"""An answer that a program asks for in several requests, by its continuation token, is one answer."""

import orjson
import pytest
from django.contrib.auth.models import User
from django.test import Client

from sessions_app.capture.placements import Relation
from sessions_app.capture.recording import Recording
from sessions_app.capture.regrouping import split
from sessions_app.models import Booking, CaptureAddress, CapturedRequest, Exchange, Run, Session, Turn
from tests.capture.answers import MODEL, Asking, audited, counted, event, says
from tests.capture.conversations import body_of, model, user
from tests.factories import chunk
from tests.prices import make_price

pytestmark = pytest.mark.django_db

FIRST, SECOND = user("Tell me all about large loaves."), user("And how long do they bake?")
TOKEN, AS_SENT = "ab+/cd==", "ab-_cd"
"""Answers have the standard alphabet, requests the URL-safe one."""


def paused(text: str, token: str = TOKEN) -> bytes:
    said = orjson.loads(chunk({"text": text}, finish="CONTINUATION", usage=counted(9_000)))
    said["candidates"][0]["continuationToken"] = token
    return event(orjson.dumps(said))


@pytest.fixture(params=[False, True], ids=["one process", "another process"])
def program(alice: User, request: pytest.FixtureRequest) -> Asking:
    """`another process`: nothing is remembered from one request to the next."""
    make_price(MODEL)
    asking = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    if request.param:
        plain = asking.exchange

        def forgetful(*args: object, **fields: object) -> Exchange:
            asking.recording = Recording()
            return plain(*args, **fields)  # type: ignore[arg-type]

        asking.exchange = forgetful  # type: ignore[method-assign]
    return asking


def relations() -> list[str]:
    return list(CapturedRequest.objects.order_by("pk").values_list("relation", flat=True))


def test_the_rest_of_an_answer_is_a_hop(program: Asking, client: Client) -> None:
    first = program.exchange(body_of([FIRST]), paused("They are the double "))
    second = program.exchange(body_of([FIRST], continuationToken=AS_SENT), says("of small ones."))
    third = program.exchange(
        body_of([FIRST, model("They are the double of small ones."), SECOND]), says("Long.")
    )
    assert relations() == [Relation.OPENS, Relation.HOP, Relation.CONTINUES]
    assert (second.continues_id, second.resend_of_id, second.previous_id) == (first.pk, None, first.pk)
    assert (first.outcome, second.outcome) == ("continues", "complete")
    assert (second.verdict, second.run_id, second.step) == ("continued", first.run_id, 2)
    assert third.run_id != first.run_id and third.continues_id is None
    assert set(Booking.objects.values_list("cause", flat=True)) == {"answer"} and not audited()
    turn = Turn.objects.get(exchange=second)
    assert turn.text == "They are the double of small ones." and not turn.cut
    assert not Turn.objects.filter(exchange=first).exists() and Turn.objects.count() == 4
    page = client.get(first.session.get_absolute_url()).content.decode()
    assert "They are the double of small ones." in page


def test_another_process_may_have_received_the_beginning(program: Asking) -> None:
    begun, other, mine = program.begun(body_of([FIRST])), Recording(), program.recording
    other([begun])
    mine([program.begun(body_of([SECOND], system="Another agent."))])
    other([program.ended(begun, paused("They are the double "))])
    rest = program.begun(body_of([FIRST], continuationToken=AS_SENT))
    mine([rest])
    mine([program.ended(rest, says("of small ones."))])
    assert relations() == [Relation.OPENS, Relation.OPENS, Relation.HOP]
    assert Turn.objects.filter(exchange__isnull=False).get().text == "They are the double of small ones."


def test_until_then_the_beginning_is_what_came(program: Asking) -> None:
    first = program.exchange(body_of([FIRST]), paused("They are the double "))
    begun = Turn.objects.get(exchange=first)
    assert begun.cut
    failed = program.exchange(body_of([FIRST], continuationToken=AS_SENT), b"{}", 503)
    assert not failed.turns.exists() and Session.objects.get().head == begun
    again = program.exchange(body_of([FIRST], continuationToken=AS_SENT), says("of small ones."))
    assert relations() == [Relation.OPENS, Relation.HOP, Relation.RETRY]
    assert (again.resend_of_id, again.continues_id) == (failed.pk, first.pk)
    assert Turn.objects.get(exchange=again).text == "They are the double of small ones." and not audited()


def test_an_answer_may_take_many_hops(program: Asking) -> None:
    tokens = ["", "aa", "bb"]
    for at, token in enumerate(tokens):
        body = body_of([FIRST], **({"continuationToken": token} if token else {}))
        program.exchange(body, paused(f"{at} ", tokens[at + 1]) if at < 2 else says("end."))
    last = Exchange.objects.latest("number")
    assert Turn.objects.filter(exchange__isnull=False).get().text == "0 1 end."
    assert last.run.status == Run.Status.COMPLETED and not audited()


@pytest.mark.parametrize("fields", [{}, {"continuationToken": "other"}])
def test_another_token_or_none_is_no_hop(program: Asking, fields: dict[str, str]) -> None:
    program.exchange(body_of([FIRST]), paused("They are the double "))
    found = program.exchange(body_of([FIRST], **fields), says("of small ones."))
    assert found.continues_id is None and Turn.objects.get(exchange=found).text == "of small ones."
    assert not audited()


def test_a_hop_that_is_split_off_goes_on_with_nothing(program: Asking) -> None:
    program.exchange(body_of([FIRST]), paused("They are the double "))
    second = program.exchange(body_of([FIRST], continuationToken=AS_SENT), says("of small ones."))
    split(second.session, 2)
    second.refresh_from_db()
    assert second.continues_id is None and not audited()
