"""Panels that are made from the session itself."""

from datetime import date
from decimal import Decimal

import pytest

from sessions_app.models import Booking, HistoryChunk, Session
from sessions_app.models.blob import Blob
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import MoneySource
from sessions_app.workspace import Workspace
from tests.factories import make_history, make_session
from tests.panels.reading import value

pytestmark = pytest.mark.django_db


def test_the_tools_panel_says_which_are_on_and_off(session: Session, workspace: Workspace) -> None:
    assert value(session, workspace, "tools") == {"on": ["calculate"], "off": ["write_note"]}


def test_statistics_are_the_sums_of_the_session(session: Session, workspace: Workspace) -> None:
    make_history(session, 2)
    make_history(make_session(session.owner), 1)
    told = value(session, workspace, "statistics")
    assert isinstance(told, dict)
    gauge = told.pop("last_request")
    assert gauge["layer_tokens"].keys() == {"static", "dynamic", "buffered", "trigger"}
    assert (gauge["cached_percent"], gauge["window_left"]) == (85, 1_048_576 - 1_204)
    assert told == {
        "requests": 2,
        "prompt_tokens": 2408,
        "cached_tokens": 2048,
        "output_tokens": 192,
        "thought_tokens": 80,
    }


def test_statistics_tell_all_that_the_session_caused_and_what_has_no_price(
    session: Session, workspace: Workspace
) -> None:
    make_history(session, 1)
    for cause, usd in (
        (SpendingCause.ANSWER, "0.5"),
        (SpendingCause.CACHE_MADE, "0.25"),
        (SpendingCause.TITLE, None),
    ):
        book(session, cause, MoneySource.PROVIDER, usd)
    book(session, SpendingCause.ANSWER, MoneySource.EMULATOR, "0.125")
    told = value(session, workspace, "statistics")
    assert isinstance(told, dict)
    assert told.items() >= {"usd": "0.750000", "usd_emulated": "0.125000", "unpriced": 1}.items()


def book(session: Session, cause: SpendingCause, source: MoneySource, usd: str | None) -> None:
    amount = None if usd is None else Decimal(usd)
    day = date(2026, 11, 21)
    Booking.objects.book(Booking.of(session, cause, source, None, model="m", day=day, usd=amount))


def test_before_the_first_answer_there_are_no_statistics(session: Session, workspace: Workspace) -> None:
    assert value(session, workspace, "statistics") is None


def test_the_history_panel_names_what_was_put_away_on_this_branch(
    session: Session, workspace: Workspace
) -> None:
    make_history(session, 2)
    other = make_session(session.owner)
    make_history(other, 1)
    for owner in (session, other):
        put_away(owner)
    assert value(session, workspace, "history") == [{"name": "Chat 09:00–09:10", "messages": 2, "tokens": 30}]


def put_away(session: Session) -> None:
    (content,) = Blob.objects.store(session.owner_id, [b"old"]).values()
    HistoryChunk.objects.create(
        session=session,
        last_turn=session.turns.order_by("depth")[1],
        name="Chat 09:00–09:10",
        content_id=content,
        tokens=30,
        messages=2,
    )
