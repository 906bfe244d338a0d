"""Panels that are made from the session itself."""

import pytest

from sessions_app.models import HistoryChunk, Session
from sessions_app.models.source import Blob
from sessions_app.workspace import Workspace
from tests.factories import make_history, make_session
from tests.panels.reading import value

pytestmark = pytest.mark.django_db


def test_the_tools_panel_says_which_are_on_and_off(session: Session, workspace: Workspace) -> None:
    assert value(session, workspace, "tools") == {"on": ["calculate"], "off": ["write_note"]}


def test_statistics_are_the_sums_of_the_session(session: Session, workspace: Workspace) -> None:
    make_history(session, 2)
    make_history(make_session(session.owner), 1)
    assert value(session, workspace, "statistics") == {
        "requests": 2,
        "prompt_tokens": 2408,
        "cached_tokens": 2048,
        "output_tokens": 192,
        "thought_tokens": 80,
    }


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
