"""Which programs are due, and what is kept of them."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from sessions_app.context.programs import Printed
from sessions_app.context.readings import due_readings, keep_reading, wants_programs
from sessions_app.models import AllowedCommand, Reading, Session, SessionSettings

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def keys(session: Session, now: datetime = NOW) -> list[str]:
    return [due.key for due in due_readings(session, now)]


def switch_on(session: Session, *kinds: str) -> None:
    session.settings = {"panels": dict.fromkeys(kinds, True)}
    session.save()


def keep(session: Session, text: str = "## main", now: datetime = NOW) -> None:
    (due,) = due_readings(session, now)
    keep_reading(due, Printed(text), now)


def test_an_ordinary_session_wants_no_program() -> None:
    assert not wants_programs(SessionSettings()) and wants_programs(SessionSettings(panels={"git_log": True}))


def test_each_panel_that_is_on_has_its_reading(session: Session) -> None:
    switch_on(session, "git_status", "github", "todos")
    assert keys(session) == ["git_status", "github"]


def test_git_is_due_every_two_minutes(session: Session) -> None:
    switch_on(session, "git_status")
    keep(session)
    assert keys(session, NOW + timedelta(seconds=119)) == []
    assert keys(session, NOW + timedelta(seconds=120)) == ["git_status"]


def test_a_command_is_due_as_its_row_says(session: Session) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"], every=5)
    AllowedCommand.objects.create(name="off", argv=["df"], enabled=False)
    switch_on(session, "console")
    keep(session)
    assert keys(session, NOW + timedelta(seconds=4)) == []
    assert keys(session, NOW + timedelta(seconds=5)) == ["console:disk"]


def test_what_is_due_costs_two_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    AllowedCommand.objects.create(name="disk", argv=["df"])
    switch_on(session, "console", "git_status", "git_log")
    with django_assert_num_queries(2):
        assert len(keys(session)) == 3


def test_a_command_runs_in_the_persons_folder(session: Session, workspace: object) -> None:
    AllowedCommand.objects.create(name="where", argv=["pwd"])
    switch_on(session, "console")
    (due,) = due_readings(session, NOW)
    assert due.take().text.endswith(f"/{session.owner_id}")


@pytest.mark.parametrize("argv", ["rm -rf .", [], [""], ["ls", 3], {"a": 1}, 0])
def test_a_row_that_is_no_list_of_words_runs_nothing(session: Session, argv: object) -> None:
    AllowedCommand.objects.create(name="odd", argv=argv)
    switch_on(session, "console")
    (due,) = due_readings(session, NOW)
    assert due.take() == Printed("The command “odd” has no list of words to run.", failed=True)


def test_github_is_read_for_administrators_only(session: Session) -> None:
    switch_on(session, "github")
    (due,) = due_readings(session, NOW)
    assert "for administrators" in due.take().text
    session.owner.is_staff = True
    (due,) = due_readings(session, NOW)
    assert "for administrators" not in due.take().text


def test_a_reading_is_replaced_by_the_next(session: Session) -> None:
    switch_on(session, "git_status")
    keep(session)
    keep(session, "## other", NOW + timedelta(minutes=3))
    assert [reading.text for reading in Reading.objects.all()] == ["## other"]


def test_a_reading_of_a_session_that_was_erased_is_dropped(session: Session) -> None:
    switch_on(session, "git_status")
    (due,) = due_readings(session, NOW)
    session.erase()
    keep_reading(due, Printed("## main"), NOW)
    assert not Reading.objects.exists()
