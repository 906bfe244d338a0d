"""What was relayed becomes rows, with the session that it belongs to."""

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone

from sessions_app.capture import recording
from sessions_app.capture.listing import listed
from sessions_app.capture.recording import Recording, count_missed
from sessions_app.capture.regrouping import join
from sessions_app.models import Blob, CaptureAddress, CapturedRequest, PersonalLimits, Session
from sessions_app.models.captured_request import RETENTION
from sessions_app.models.session_queries import CAPTURED_LIFETIME
from sessions_app.runs.person_erasure import erase_person
from sessions_app.runs.run_poller import erase_left_behind
from tests.capture.answers import MODEL, Asking, audited, says
from tests.capture.conversations import body_of, model, user
from tests.capture.program import Program
from tests.factories import call_chunk, text_chunk
from tests.prices import make_price

pytestmark = pytest.mark.django_db

FIRST, SECOND = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")


@pytest.fixture
def address(alice: User) -> CaptureAddress:
    return CaptureAddress.issue(alice.pk, "Laptop")[0]


@pytest.fixture
def program(address: CaptureAddress) -> Program:
    return Program(address)


def test_a_row_is_there_before_the_answer(program: Program) -> None:
    begun = program.begun(body_of([FIRST]))
    program.recording([begun])
    row = CapturedRequest.objects.get()
    assert row.is_open and row.session == str(begun.key) and row.relation == "opens"
    program.recording([program.ended(begun, b"not JSON")])
    row.refresh_from_db()
    assert not row.is_open and row.status == 200 and row.total_ms == 12.5


def test_both_bodies_are_kept_as_they_travelled(program: Program) -> None:
    body, answer = body_of([FIRST]).replace(b":", b" : "), b"data: " + text_chunk("Double it.") + b"\n\n"
    row = program.ask(body, answer)
    assert row.sent_body() == body and row.received_body() == answer
    assert row.exchange and row.exchange.is_faithful() and row.response_body is None


def test_an_answer_tells_its_tokens_and_its_calls(program: Program) -> None:
    usage = {"promptTokenCount": 90, "cachedContentTokenCount": 60, "candidatesTokenCount": 5}
    counted = {**usage, "thoughtsTokenCount": 2, "totalTokenCount": 97}
    call = call_chunk("look", {"where": "into the oven"}, finish="STOP", usage=counted)
    row = program.ask(body_of([FIRST]), b"data: " + call + b"\n\n")
    assert (row.prompt_tokens, row.cached_tokens, row.output_tokens) == (90, 60, 7)
    assert row.calls == [["into the oven"]] and row.finish_reason == "STOP"


def test_an_answer_without_counts_has_none(program: Program) -> None:
    row = program.ask(body_of([FIRST]), text_chunk("Double it."))
    assert row.prompt_tokens is None


def test_requests_of_one_conversation_are_one_session(program: Program) -> None:
    first = program.ask(body_of([FIRST]))
    second = program.ask(body_of([FIRST, model("Double it."), SECOND]))
    assert second.session == first.session and second.before == str(first.public)
    assert (second.relation, second.shared) == ("continues", 1)


def test_a_failure_and_its_retry_are_told(program: Program) -> None:
    program.ask(body_of([FIRST]), status=503)
    assert program.ask(body_of([FIRST])).relation == "retry"


def test_a_side_request_that_came_first_is_taken_in(program: Program) -> None:
    router = program.ask(body_of([FIRST], system="Route.", tools=None))
    agent = program.ask(body_of([FIRST]))
    router.refresh_from_db()
    assert router.session == agent.session and router.relation == "side_call" and router.role == "side"


def test_a_conversation_goes_on_after_the_server_was_started_anew(program: Program) -> None:
    first = program.ask(body_of([FIRST]))
    program.recording = Recording()
    again = program.ask(body_of([FIRST, model("Double it."), SECOND]))
    assert again.session == first.session
    assert program.ask(body_of([FIRST])).relation == "opens"


def test_addresses_do_not_mix(program: Program, alice: User) -> None:
    program.ask(body_of([FIRST]))
    program.address = CaptureAddress.issue(alice.pk, "Another")[0]
    assert program.ask(body_of([FIRST, model("Double it."), SECOND])).relation == "opens"


def test_what_asks_no_model_is_listed_without_a_session(program: Program) -> None:
    row = program.ask(b"", asks_model=False, method="GET", path="/v1beta/models")
    assert row.session == "" and row.response_body is None


def test_the_same_records_written_again_are_the_same_rows(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [program.begun(body_of([FIRST])), program.begun(body_of([FIRST, model("So."), SECOND]))]

    def fail(*_: object) -> None:
        raise DatabaseError("away")

    with monkeypatch.context() as patch:
        patch.setattr(recording, "begin_exchange", fail)
        with pytest.raises(DatabaseError):
            program.recording(records)
    program.recording(records)
    program.recording(records)
    rows = CapturedRequest.objects.order_by("pk")
    assert [row.relation for row in rows] == ["opens", "continues"]


def test_a_person_without_room_has_the_request_counted(program: Program, address: CaptureAddress) -> None:
    PersonalLimits.objects.create(user_id=address.owner_id, storage_mb=0)
    program.recording([program.begun(body_of([FIRST]))])
    address.refresh_from_db()
    assert address.missed == 1 and not CapturedRequest.objects.exists()


def test_what_was_missed_is_added_up(address: CaptureAddress) -> None:
    count_missed({address.pk: 2})
    count_missed({address.pk: 3})
    address.refresh_from_db()
    assert address.missed == 5 and address.missed_at is not None


def test_what_no_column_can_hold_is_stored_as_it_can_be(program: Program) -> None:
    row = program.ask(b"{}", client="a\0b\ud800", path="/v1beta/" + "x" * 900, model="m" * 900, name="n" * 90)
    assert row.client == "ab\ufffd" and len(row.path) == 300


def test_what_belongs_to_no_session_is_erased_with_its_bodies_after_its_time(program: Program) -> None:
    old, new = (program.ask(body, b"answer", asks_model=False) for body in (b"old body", b"new body"))
    CapturedRequest.objects.filter(pk=old.pk).update(received_at=timezone.now() - RETENTION)
    assert CapturedRequest.objects.expired().erase() == 1
    assert list(CapturedRequest.objects.all()) == [new]
    assert {blob.bytes for blob in Blob.objects.all()} == {b"new body", b"answer"}


def test_a_session_is_erased_as_a_whole_some_time_after_its_last_request(program: Program) -> None:
    program.ask(body_of([FIRST]), b"answer")
    erase_left_behind()
    assert CapturedRequest.objects.count() == 1
    Session.objects.update(updated_at=timezone.now() - CAPTURED_LIFETIME)
    erase_left_behind()
    assert not CapturedRequest.objects.exists() and not Blob.objects.exists()


@pytest.mark.parametrize("name", ["", "nightly"])
def test_what_is_asked_after_a_session_was_deleted_is_in_another(alice: User, name: str) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    make_price(MODEL)
    talk = [body_of([FIRST, *[model("So."), FIRST] * turn]) for turn in range(4)]
    old = program.exchange(talk[0], says("So."), name=name).session
    old.soft_delete()
    new = [program.exchange(body, says("So."), name=name) for body in talk[1:3]]
    (session,) = {one.session for one in new}
    assert session != old and [one.number for one in new] == [1, 2]
    assert old.public not in {one.session.public for one in listed(alice) if one.session}
    Session.objects.update(deleted_at=None)
    assert program.exchange(talk[3], says("So."), name=name).session == session
    join(old, session)
    assert [one.number for one in old.exchanges.all()] == [1, 2, 3, 4] and not audited()


def test_a_person_is_erased_with_all_that_was_captured(program: Program, alice: User) -> None:
    program.ask(body_of([FIRST]), b"answer")
    erase_person(alice, by=None)
    assert not CapturedRequest.objects.exists() and not CaptureAddress.objects.exists()
    assert not Blob.objects.exists()
