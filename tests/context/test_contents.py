"""What the panels say that are off at first: facts of the session and of the installation."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from sessions_app.context.panels import ReadPanel, read_panels
from sessions_app.models import AllowedCommand, HistoryChunk, PromptText, Reading, Session
from sessions_app.models.blob import Blob
from sessions_app.workspace import Workspace
from tests.factories import make_history, make_session

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.fixture
def session(alice: User) -> Session:
    return make_session(alice)


def read(session: Session, workspace: Workspace, key: str) -> ReadPanel:
    tools = {"calculate": True, "write_note": False}
    found = read_panels(session, workspace, NOW, tools=tools, asked=[key])
    return next(one for one in found if one.kind.key == key)


def value(session: Session, workspace: Workspace, key: str) -> object:
    panel = read(session, workspace, key).panel
    return panel.value if panel else None


def text(kind: str, name: str, **fields: str) -> PromptText:
    return PromptText.objects.create(kind=kind, name=name, body=f"Body of {name}.", **fields)


def reading(session: Session, key: str, text: str, *, age: int = 0, failed: bool = False) -> Reading:
    read_at = NOW - timedelta(seconds=age)
    return Reading.objects.create(session=session, key=key, text=text, failed=failed, read_at=read_at)


def test_skills_are_sent_in_full_by_name(session: Session, workspace: Workspace) -> None:
    text("skill", "Sifting", summary="Flour without lumps")
    text("skill", "Kneading")
    assert value(session, workspace, "skills") == [
        {"name": "Kneading", "summary": "", "body": "Body of Kneading."},
        {"name": "Sifting", "summary": "Flour without lumps", "body": "Body of Sifting."},
    ]


@pytest.mark.parametrize(("chosen", "names"), [(["Sifting"], ["Sifting"]), ([], None)])
def test_a_person_chooses_the_skills(
    session: Session, workspace: Workspace, chosen: list[str], names: list[str] | None
) -> None:
    text("skill", "Sifting")
    text("skill", "Kneading")
    session.settings = {"skills": chosen}
    panel = read(session, workspace, "skills").panel
    assert (panel and [one["name"] for one in panel.value]) == names


def test_the_library_names_what_there_is(session: Session, workspace: Workspace) -> None:
    PromptText.objects.all().delete()
    text("skill", "Sifting", summary="Flour without lumps")
    text("role", "Baker")
    text("constraint", "brief")
    assert value(session, workspace, "library") == {
        "roles": ["Baker"],
        "skills": ["Sifting: Flour without lumps"],
    }


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
    (content,) = Blob.objects.keep(session.owner_id, [b"old"]).values()
    HistoryChunk.objects.create(
        session=session,
        last_turn=session.turns.order_by("depth")[1],
        name="Chat 09:00–09:10",
        content_id=content,
        tokens=30,
        messages=2,
    )


def test_a_program_that_was_not_asked_yet_is_not_sent(session: Session, workspace: Workspace) -> None:
    found = read(session, workspace, "git_status")
    assert found.panel is None and found.problem.startswith("Not read yet")


def test_the_last_reading_is_sent_without_a_time_that_would_change_every_minute(
    session: Session, workspace: Workspace
) -> None:
    reading(session, "git_status", "## main", age=200)
    assert value(session, workspace, "git_status") == {"output": "## main"}


def test_an_old_reading_says_how_old_it_is(session: Session, workspace: Workspace) -> None:
    reading(session, "git_log", "a1b2 Begin", age=3_600)
    assert value(session, workspace, "git_log") == {
        "output": "a1b2 Begin",
        "as_of": "2026-11-21T08:00:00+00:00",
    }


def test_a_failed_reading_is_said_to_the_person_and_not_sent(session: Session, workspace: Workspace) -> None:
    reading(session, "github", "The program “gh” is not installed on this machine.", failed=True)
    found = read(session, workspace, "github")
    assert found.panel is None and "not installed" in found.problem


def test_the_console_shows_allowed_commands_only(session: Session, workspace: Workspace) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"])
    AllowedCommand.objects.create(name="off", argv=["df"], enabled=False)
    reading(session, "console:disk", "90 %", failed=True)
    reading(session, "console:off", "secret")
    reading(session, "console:removed", "secret")
    assert value(session, workspace, "console") == [{"command": "disk", "output": "90 %", "failed": True}]
