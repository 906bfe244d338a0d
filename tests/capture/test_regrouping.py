"""Sessions joined and split by hand: what moves with the requests, what is refused, what is remembered."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from sessions_app.capture import regrouping
from sessions_app.capture.recording import Recording
from sessions_app.capture.regrouping import join, split
from sessions_app.error_codes import RegroupProblem
from sessions_app.errors import NotRegrouped
from sessions_app.models import Booking, CaptureAddress, CapturedRequest, Session, Turn
from sessions_app.models.booking import sum_of
from sessions_app.models.payload_purge import purge_payloads
from tests.beside import beside
from tests.capture.answers import Asking, audited, calls, says
from tests.capture.conversations import body_of, call, model, result, user
from tests.factories import make_session

pytestmark = pytest.mark.django_db

BREAD, OVEN = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")
BOAT, SAILS = user("Which knot holds a sail that is wet?"), user("How do I undo it again afterwards?")
DOUBLE, LONGER, BOWLINE = model("Double all of it."), model("Twenty minutes longer."), model("A bowline.")


@pytest.fixture
def address(alice: User) -> CaptureAddress:
    return CaptureAddress.issue(alice.pk, "Laptop")[0]


@pytest.fixture
def program(address: CaptureAddress) -> Asking:
    return Asking(address)


@pytest.fixture
def baking(program: Asking) -> Session:
    """Two messages."""
    program.exchange(body_of([BREAD]), says("Double all of it."))
    return program.exchange(
        body_of([BREAD, DOUBLE, OVEN]), says("Twenty minutes longer.", 9_100, 8_900)
    ).session


@pytest.fixture
def sailing(program: Asking, baking: Session) -> Session:
    """One message, after those about bread."""
    return program.exchange(body_of([BOAT]), says("A bowline.")).session


def newest(session: Session) -> str:
    """What the page of the session ends with."""
    return Session.objects.filter(pk=session.pk).values_list("head__text", flat=True)[0] or ""


def numbers(session: Session) -> list[int]:
    return list(session.exchanges.order_by("started_at", "pk").values_list("number", flat=True))


def placed(session: Session) -> list[str]:
    rows = CapturedRequest.objects.filter(exchange__session=session).order_by("exchange__number")
    return [row.relation for row in rows]


def test_joined_sessions_are_one_in_the_order_of_time(baking: Session, sailing: Session) -> None:
    join(baking, sailing)
    assert list(Session.objects.captured()) == [baking]
    assert numbers(baking) == [1, 2, 3] and placed(baking) == ["opens", "continues", "joined"]
    assert not audited()


def test_a_session_takes_in_one_that_began_before_it(baking: Session, sailing: Session) -> None:
    join(sailing, baking)
    assert numbers(sailing) == [1, 2, 3] and list(Session.objects.captured()) == [sailing]
    assert not audited()


def test_the_money_moves_with_the_requests(baking: Session, sailing: Session) -> None:
    spent = sum_of(Booking.objects.all())
    join(baking, sailing)
    baking.refresh_from_db()
    assert baking.spent_usd == spent > 0
    apart = split(baking, 3)
    baking.refresh_from_db()
    assert apart.spent_usd > 0 and baking.spent_usd + apart.spent_usd == spent


def test_the_page_ends_with_the_answer_that_came_last(baking: Session, sailing: Session) -> None:
    join(baking, sailing)
    assert newest(baking) == "A bowline."
    split(baking, 2)
    assert newest(baking) == "Double all of it."


def test_split_requests_are_a_session_of_their_own(baking: Session) -> None:
    apart = split(baking, 2)
    assert numbers(baking) == [1] and numbers(apart) == [1]
    assert placed(apart) == ["opens"]
    assert [turn.text for turn in Turn.objects.filter(session=apart).order_by("depth")] == [
        "How do I scale the loaf to two kilograms?",
        "Double all of it.",
        "And how long does it bake then?",
        "Twenty minutes longer.",
    ]
    assert not audited()


def test_nothing_of_a_moved_request_stays_behind(baking: Session) -> None:
    split(baking, 2)
    texts = set(Turn.objects.filter(session=baking).values_list("text", flat=True))
    assert texts == {"How do I scale the loaf to two kilograms?", "Double all of it."}
    assert baking.runs.count() == 1


def test_split_parts_can_be_joined_again(baking: Session) -> None:
    apart = split(baking, 2)
    join(baking, apart)
    assert numbers(baking) == [1, 2] and not audited()


def test_what_was_joined_again_can_be_split_again(baking: Session) -> None:
    join(baking, split(baking, 2))
    assert split(baking, 2) != baking and numbers(baking) == [1] and not audited()


@pytest.mark.parametrize("is_new", [False, True], ids=["the same process", "a new process"])
def test_the_next_request_goes_where_a_person_put_its_lane(
    program: Asking, baking: Session, sailing: Session, is_new: bool
) -> None:
    join(baking, sailing)
    program.recording = Recording() if is_new else program.recording
    after = program.exchange(body_of([BOAT, BOWLINE, SAILS]), says("Push the loop."))
    assert after.session == baking and after.number == 4
    apart = split(baking, 3)
    later = program.exchange(body_of([BOAT, BOWLINE, SAILS, model("Push the loop."), BREAD]), says("So."))
    assert later.session == apart and not audited()


def test_the_other_part_of_a_split_session_goes_on_as_well(program: Asking, baking: Session) -> None:
    split(baking, 2)
    branch = program.exchange(body_of([BREAD, DOUBLE, SAILS]), says("With a marlinspike."))
    assert branch.session == baking and not audited()


def test_a_round_of_tools_moves_as_one_run(program: Asking, sailing: Session) -> None:
    asked, looked = user("Look whether the oven is hot enough."), call("look", where="into the oven")
    program.exchange(body_of([asked]), calls("look", where="into the oven"))
    last = program.exchange(body_of([asked, looked, result("look", degrees=230)]), says("It is hot."))
    assert last.run.exchanges.count() == 2 and last.step == 2
    join(sailing, last.session)
    last.refresh_from_db()
    assert last.session == sailing and last.run.exchanges.count() == 2 and last.step == 2
    assert last.run.session == sailing and not audited()


def test_a_failed_request_and_its_repetition_stay_together(program: Asking, sailing: Session) -> None:
    failed = program.exchange(body_of([OVEN]), b'{"error":{"code":503,"message":"Busy."}}', 503)
    again = program.exchange(body_of([OVEN]), says("Longer."))
    assert again.resend_of == failed
    join(sailing, again.session)
    again.refresh_from_db()
    assert again.resend_of == failed and again.session == sailing and not audited()


def test_events_of_caches_move_with_the_request(
    program: Asking, baking: Session, sailing: Session, address: CaptureAddress
) -> None:
    exchange = sailing.exchanges.get()
    join(baking, sailing)
    exchange.refresh_from_db()
    assert exchange.session == baking


@pytest.fixture
def elsewhere(alice: User) -> Session:
    other = Asking(CaptureAddress.issue(alice.pk, "Desk")[0])
    return other.exchange(body_of([SAILS]), says("So.")).session


def refusal(steps: Iterator[object]) -> NotRegrouped:
    with pytest.raises(NotRegrouped) as caught:
        next(steps)
    return caught.value


def test_what_cannot_be_joined_is_refused(
    program: Asking, baking: Session, elsewhere: Session, alice: User
) -> None:
    chat = make_session(alice)
    cases = {
        RegroupProblem.SAME_SESSION: (baking, baking),
        RegroupProblem.OTHER_ADDRESS: (baking, elsewhere),
        RegroupProblem.NOT_CAPTURED: (baking, chat),
    }
    for problem, (one, other) in cases.items():
        with pytest.raises(NotRegrouped) as caught:
            join(one, other)
        assert caught.value.reason is problem


def test_a_request_under_way_is_not_moved(program: Asking, baking: Session) -> None:
    program.recording([program.begun(body_of([BREAD, DOUBLE, OVEN, LONGER, SAILS]))])
    with pytest.raises(NotRegrouped) as caught:
        split(baking, 2)
    assert caught.value.reason is RegroupProblem.UNDER_WAY


def test_a_request_without_its_payload_is_not_moved(baking: Session, sailing: Session) -> None:
    purge_payloads(baking.pk)
    for move in (lambda: split(baking, 2), lambda: join(sailing, baking)):
        with pytest.raises(NotRegrouped) as caught:
            move()
        assert caught.value.reason is RegroupProblem.PURGED
    connection.check_constraints()


def test_what_is_moved_leaves_requests_without_payloads_as_they_are(program: Asking, baking: Session) -> None:
    """Also a text that was never answered."""
    program.exchange(body_of([BREAD, DOUBLE, OVEN, LONGER, OVEN]), b"{}", status=503)
    purge_payloads(baking.pk)
    old = baking.exchanges.order_by("pk").values("pk", "step", "verdict_figures", "ledger")[:3]
    kept, turns = list(old), set(baking.turns.values_list("pk", flat=True))
    join(baking, program.exchange(body_of([BOAT]), says("A bowline.")).session)
    assert list(old.all()) == kept and numbers(baking) == [1, 2, 3, 4]
    apart = split(baking, 4)
    assert list(old.all()) == kept and numbers(apart) == [1]
    assert turns <= set(baking.turns.values_list("pk", flat=True)) and not audited()
    connection.check_constraints()


def test_too_many_requests_are_not_moved_at_once(
    baking: Session, sailing: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regrouping, "MOST", 1)
    with pytest.raises(NotRegrouped) as caught:
        join(sailing, baking)
    assert caught.value.reason is RegroupProblem.TOO_MANY


@pytest.mark.parametrize("number", [1, 9])
def test_a_split_leaves_something_before_it(baking: Session, number: int) -> None:
    with pytest.raises(NotRegrouped) as caught:
        split(baking, number)
    assert caught.value.reason is RegroupProblem.NOTHING_BEFORE


def test_nobody_joins_what_belongs_to_another_person(
    client: Client, baking: Session, sailing: Session, bob: User
) -> None:
    theirs = Asking(CaptureAddress.issue(bob.pk, "Theirs")[0]).exchange(body_of([BOAT]), says("No.")).session
    for one, other in ((baking, theirs), (theirs, baking)):
        response = client.post(reverse("regroup", args=[one.public]), {"other": str(other.public)})
        assert response.status_code == (404 if one == theirs else 200)
    assert Session.objects.captured().count() == 3
    assert client.get(reverse("regroup", args=[theirs.public])).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_that_join_the_same_sessions_at_once_move_their_money_once(
    program: Asking, baking: Session, sailing: Session
) -> None:
    with beside() as begin:
        with transaction.atomic():
            join(baking, sailing)
            second = begin(lambda: join(baking, sailing))
        assert second.exception(60) is not None
    assert isinstance(second.exception(), NotRegrouped)
    assert numbers(baking) == [1, 2, 3] and list(Session.objects.captured()) == [baking]
    assert not audited()


@pytest.mark.django_db(transaction=True)
def test_a_request_that_arrives_while_its_session_is_joined_goes_with_it(
    program: Asking, baking: Session, sailing: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    move, arrived = regrouping._move, list[Any]()
    with beside() as begin:

        def move_while_it_arrives(*args: Any) -> None:
            asked = body_of([BOAT, BOWLINE, SAILS])
            arrived.append(begin(lambda: program.exchange(asked, says("Pull its end."))))
            move(*args)

        monkeypatch.setattr(regrouping, "_move", move_while_it_arrives)
        join(baking, sailing)
        assert arrived[0].result(60).session == baking
    assert numbers(baking) == [1, 2, 3, 4] and not audited()
