"""What goes along with a session, for every kind there is: forked, exported and imported, erased."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import BooleanField, DateTimeField, IntegerField
from django.db.models.fields import Field
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.chat.transfer import export_session
from sessions_app.errors import NotImportable
from sessions_app.models import Session
from sessions_app.panels import KINDS
from sessions_app.panels.refresh import STATES, read_panels
from sessions_app.panels.rows import RowSource
from sessions_app.runs.history_edits import fork_session
from sessions_app.runs.person_erasure import erase_person
from sessions_app.workspace import Workspace
from tests import factories
from tests.chat.importing import import_session
from tests.panels import sample_session
from tests.panels.sample_session import NOW


def fields_of(source: RowSource[Any]) -> dict[str, "Field[Any, Any]"]:
    """The columns of a source's model, but its key and what binds it."""
    columns = {field.name: field for field in source.model._meta.concrete_fields if not field.primary_key}
    return {name: field for name, field in columns.items() if name not in {"session", "owner"}}


def names_of(source: RowSource[Any]) -> set[str]:
    return {field.name for field in source.model._meta.concrete_fields} if source.model else set()


SOURCES: dict[str, RowSource[Any]] = {source.key: source for source in (*KINDS, STATES)}
OWNED = {key for key, source in SOURCES.items() if "owner" in names_of(source)}
BOUND = {key for key, source in SOURCES.items() if "session" in names_of(source)} - OWNED
TRAVELLING = {key for key in BOUND if SOURCES[key].is_transferred}


@pytest.fixture
def session(alice: User) -> Session:
    session = factories.make_session(alice)
    factories.make_history(session, 1)
    return session


def fill(source: RowSource[Any], session: Session) -> None:
    """Two rows, in which no field has its default."""
    binding = {"session": session} | ({"owner": session.owner} if source.key in OWNED else {})
    for number in (1, 2):
        row = {name: filling(field, number) for name, field in fields_of(source).items()}
        source.model.objects.create(**binding, **row)


def filling(field: "Field[Any, Any]", number: int) -> Any:
    if isinstance(field, BooleanField):
        return not field.default
    if isinstance(field, IntegerField):
        return number + 1
    if isinstance(field, DateTimeField):
        return NOW - timedelta(minutes=number)
    if field.choices:
        return list(field.choices)[-1][0]
    return f"{field.name} {number} \n“ü”"[: field.max_length]


def facts(source: RowSource[Any], session: Session) -> list[tuple[Any, ...]]:
    rows = source.model.objects.filter(session=session).order_by(source.order)
    return list(rows.values_list(*fields_of(source)))


def test_every_kind_with_rows_of_its_own_is_tried() -> None:
    assert {*BOUND, *OWNED} >= {"todos", "file_references", "artifacts", "logs", "scratchpad", "memories"}
    assert "panel_states" in TRAVELLING


@pytest.mark.parametrize("key", sorted(TRAVELLING))
def test_a_fork_has_all_of_it(session: Session, key: str) -> None:
    source = SOURCES[key]
    fill(source, session)
    before = facts(source, session)
    assert session.head is not None
    copy = fork_session(session.pk, session.head.public)
    assert len(before) == 2 and facts(source, copy) == before == facts(source, session)


@pytest.mark.parametrize("key", sorted(TRAVELLING))
def test_what_is_exported_comes_back(session: Session, bob: User, key: str) -> None:
    source = SOURCES[key]
    fill(source, session)
    copy = import_session(bob, export_session(session))
    assert facts(source, copy) == facts(source, session) != []


def test_a_copy_says_the_same(alice: User, workspace: Workspace) -> None:
    session = sample_session.fill(alice, workspace)
    said = told(session, workspace)
    assert {"todos", "file_references", "artifacts", "logs", "scratchpad"} <= said.keys()
    assert session.head is not None
    assert told(fork_session(session.pk, session.head.public), workspace) == said
    assert told(import_session(alice, export_session(session)), workspace) == said


def told(session: Session, workspace: Workspace) -> dict[str, Any]:
    read = read_panels(session, workspace, NOW)
    return {one.kind.key: [panel.value for panel in one.panels] for one in read if one.kind.key in TRAVELLING}


@pytest.mark.parametrize("key", sorted({*BOUND, *OWNED} - TRAVELLING))
def test_what_stays_behind_is_in_no_copy(session: Session, bob: User, key: str) -> None:
    source = SOURCES[key]
    fill(source, session)
    assert session.head is not None
    for copy in (fork_session(session.pk, session.head.public), import_session(bob, export_session(session))):
        assert facts(source, copy) == []
    assert source.model.objects.count() == 2 and key not in json.loads(export_session(session))["panels"]


@pytest.mark.parametrize("key", sorted({*BOUND, *OWNED}))
def test_erasing_a_session_takes_what_is_its_own(session: Session, key: str) -> None:
    source = SOURCES[key]
    fill(source, session)
    session.erase()
    assert source.model.objects.count() == (2 if key in OWNED else 0)


@pytest.mark.parametrize("key", sorted({*BOUND, *OWNED}))
def test_erasing_a_person_takes_all(session: Session, bob: User, key: str) -> None:
    source = SOURCES[key]
    fill(source, session)
    fill(source, factories.make_session(bob))
    erase_person(session.owner, by=None)
    assert source.model.objects.count() == 2


def test_switches_of_a_session_travel(session: Session, bob: User) -> None:
    session.switch_panel("tree", on=True)
    assert session.head is not None
    for copy in (fork_session(session.pk, session.head.public), import_session(bob, export_session(session))):
        assert copy.options.panels == {"tree": True}


def test_a_forks_panels_keep_their_place(session: Session, workspace: Workspace) -> None:
    """Its dynamic layer begins with the bytes that are cached already."""
    session.todos.create(position=1, title="bake")
    session.panel_states.create(key="todos", sha256="0" * 64, page=1, changed_at=NOW)
    assert session.head is not None
    copy = fork_session(session.pk, session.head.public)
    (state,) = copy.panel_states.all()
    assert (state.key, state.sha256, state.changed_at) == ("todos", "0" * 64, NOW)


def test_a_file_that_the_importer_does_not_have_is_named(
    session: Session, workspace: Workspace, bob: User
) -> None:
    workspace.write_text("plan.md", "June")
    session.references.create(path="plan.md")
    copy = import_session(bob, export_session(session))
    empty = Workspace(workspace.root.parent / "empty")
    empty.root.mkdir()
    (read,) = (one for one in read_panels(copy, empty, NOW) if one.kind.key == "file_references")
    (panel,) = read.panels
    assert panel.key == "file_references/plan.md" and list(panel.value) == ["not_sent"]


def test_copying_costs_the_same_for_any_number_of_rows(
    session: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(1, 40):
        session.todos.create(position=number, title="x")
        session.log_entries.create(text="x")
    assert session.head is not None
    with django_assert_max_num_queries(40):
        fork_session(session.pk, session.head.public)


def changed(session: Session, **panels: Any) -> bytes:
    return json.dumps(json.loads(export_session(session)) | {"panels": panels}).encode()


def test_a_file_without_panels_is_imported(session: Session, bob: User) -> None:
    old = json.loads(export_session(session))
    del old["panels"]
    assert import_session(bob, json.dumps(old).encode()).turns.count() == session.turns.count()


@pytest.mark.parametrize(
    "rows",
    [
        [{"title": "no position"}],
        [{"position": -1, "title": "x"}],
        [{"position": 1, "title": "x" * 301}],
        [{"position": 1, "title": "x"}, {"position": 1, "title": "twice"}],
    ],
)
def test_rows_that_cannot_be_kept_are_refused(session: Session, bob: User, rows: list[Any]) -> None:
    with pytest.raises(NotImportable, match=r"panels\.todos"):
        import_session(bob, changed(session, todos=rows))
    assert not Session.objects.filter(owner=bob).exists()


def test_a_row_with_a_nul_is_refused(session: Session, bob: User) -> None:
    with pytest.raises(NotImportable, match=r"panels\.todos\.0"):
        import_session(bob, changed(session, todos=[{"position": 1, "title": "a\0b", "id": 7}]))


def test_rows_of_an_unknown_kind_are_passed_over_and_named(session: Session, client: Client) -> None:
    body = changed(session, no_such_kind=[{"term": "x"}], todos=[{"position": 1, "title": "bake"}])
    upload = SimpleUploadedFile("talk.json", body)
    answer = client.post(reverse("import"), {"file": upload}, follow=True)
    (notice,) = get_messages(answer.wsgi_request)
    assert "no_such_kind" in str(notice) and "todos" not in str(notice)
    assert Session.objects.latest("pk").todos.get().title == "bake"
