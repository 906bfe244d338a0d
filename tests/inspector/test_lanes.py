"""Where requests of a captured session stand among its agents."""

import pytest
from django.contrib.auth.models import User

from sessions_app.inspector.lanes import lanes_of
from sessions_app.models import CaptureAddress, CapturedRequest, Session
from tests.capture.answers import Asking, calls, says
from tests.capture.conversations import body_of, model, user
from tests.factories import make_session

pytestmark = pytest.mark.django_db

BREAD, OVEN = user("How do I scale the loaf to two kilograms?"), user("And how long does it bake then?")


@pytest.fixture
def program(alice: User) -> Asking:
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


def shown(session: Session) -> dict[int, tuple[bool, int, bool]]:
    """By number: whether it has a label, its depth, whether a relation is told."""
    lanes = lanes_of(session, session.exchanges.all())
    return {number: (bool(one.label), one.depth, bool(one.relation)) for number, one in lanes.items()}


def test_a_chat_has_no_lanes(alice: User) -> None:
    session = make_session(alice)
    assert lanes_of(session, session.exchanges.all()) == {}


def test_the_main_lane_has_no_label_and_what_only_goes_on_no_relation(program: Asking) -> None:
    program.exchange(body_of([BREAD]), says("Double it."))
    last = program.exchange(body_of([BREAD, model("Double it."), OVEN]), says("Longer."))
    assert shown(last.session) == {1: (False, 0, True), 2: (False, 0, False)}


def test_lanes_beside_it_are_numbered_by_their_kind(program: Asking) -> None:
    program.exchange(body_of([BREAD], system="Route.", tools=None), says("flash"))
    asked = program.exchange(
        body_of([BREAD]), calls("ask", one="Find the oven here.", two="Find the flour too.")
    )
    for text in ("Find the oven here.", "Find the flour too."):
        program.exchange(body_of([user(text)], system=f"Expert for: {text}"), says("Found it in the cellar."))
    lanes = lanes_of(asked.session, asked.session.exchanges.all())
    assert [lanes[number].depth for number in sorted(lanes)] == [1, 0, 2, 3]
    labels = [lanes[number].label for number in sorted(lanes)]
    assert labels[1] == "" and len(set(labels)) == 4 and "1" in labels[2] and "2" in labels[3]


def test_a_guess_is_called_one(program: Asking) -> None:
    last = program.exchange(body_of([BREAD]), says("Double it."))
    before = lanes_of(last.session, [last])[1].relation
    CapturedRequest.objects.update(is_guess=True)
    assert lanes_of(last.session, [last])[1].relation not in {before, ""}
