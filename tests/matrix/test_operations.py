"""What judges a played session notices a wrong loss, a wrong place, and an operation that did not happen."""

from decimal import Decimal

import pytest

from sessions_app.models import Exchange
from tests.matrix.conftest import Begin
from tests.matrix.operations import OPERATIONS
from tests.matrix.played_session import PlayedSession
from tests.prices import make_price
from tests.runs.scripted_session import LONG, MODEL, SHORT


@pytest.fixture
def edited(begin: Begin) -> PlayedSession:
    """An implicit prefix that was served, and then a text was changed."""
    make_price(MODEL)
    played = begin(LONG, cache_mode="implicit")
    for _ in range(2):
        played.talk()
    played.edit_text()
    played.talk()
    return played


def test_a_wrong_loss_contradicts_the_journal(edited: PlayedSession) -> None:
    newest = edited.newest()
    assert newest.lost_tokens and newest.lost_usd
    assert list(edited.wrong_figures()) == []
    rows = edited.session.exchanges.filter(pk=newest.pk)
    for wrong in ({"lost_tokens": newest.lost_tokens + 1}, {"lost_usd": newest.lost_usd + Decimal("0.01")}):
        kept = rows.values(*wrong).get()
        rows.update(**wrong)
        assert len(list(edited.wrong_figures())) == 1
        rows.update(**kept)


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_a_wrong_place_of_a_break_contradicts_the_journal(begin: Begin, mode: str) -> None:
    played = begin(LONG, cache_mode=mode)
    for _ in range(3):
        played.talk()
        played.change_panel()
    played.edit_text()
    played.talk()
    assert list(played.wrong_figures()) == []
    broken = played.session.exchanges.exclude(break_line={})
    assert {one.break_line["at"]["layer"] for one in broken} == {"static", "dynamic"}
    for one in broken:
        at = one.break_line["at"]
        wrong = [{**at, "item": at["item"] + 1, "char": 0}, {**at, "char": at["char"] + 1}, None]
        for place in wrong:
            line = one.break_line | {"at": place}
            Exchange.objects.filter(pk=one.pk).update(break_line=line if place else {})
            assert len(list(played.wrong_figures())) == 1
        Exchange.objects.filter(pk=one.pk).update(break_line=one.break_line)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_is_left_out_is_noticed(begin: Begin, name: str) -> None:
    played = begin(LONG, cache_mode="explicit")
    for _ in range(3):
        played.talk()
    assert not OPERATIONS[name].happened(played, 2)


@pytest.mark.usefixtures("rolls_early")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_happens_whatever_stands_before_it(begin: Begin, name: str) -> None:
    played = begin(SHORT, cache_mode="implicit")
    played.talk()
    last = played.newest().number
    OPERATIONS[name].play(played)
    played.talk()
    assert OPERATIONS[name].happened(played, last)
