"""A database written by an earlier version opens with its content after every later migration.

`data/version_0011.*.sql.gz` were written by the version whose newest migration was 0011. The one that fits
the database under test is loaded beside the test database, migrated, and read through the pages.

To dump a later version, write a script that sets DJANGO_SETTINGS_MODULE=tests.settings and DATABASE_URL,
migrates, and plays sessions through `tests.runs.running.running` until every table has rows. Then
- SQLite: `sqlite3.Connection.iterdump()` without the lines that hold `turn_words` or `writable_schema`, and
  `fulltext.TABLE` as the last statement. The triggers and the words of the index come back with `migrate`.
- PostgreSQL: `pg_dump --inserts --no-owner --no-privileges` without the `\\restrict` lines.
Pack both with `gzip -9n`. They hold no path, host or name of a person.
"""

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.migrations import (
    AddField,
    AlterModelTable,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
)
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field
from django.test import Client
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from sessions_app import migrations
from sessions_app.audit.session_money import audit_money
from sessions_app.inspector.tabs import TABS
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import (
    Exchange,
    McpServer,
    PersonalLimits,
    ProviderFileRemoval,
    RetentionReport,
    RetentionRules,
    Run,
    Session,
    SharedLink,
    Turn,
)
from sessions_app.search import find
from tests.deployment.postgres import Database
from tests.models.definitions import Definition, definitions
from tests.models.migration_cases import CASES

DATA = Path(__file__).parent / "data"
NEWEST = "0011_thought_time"
"""The newest migration of the version that wrote the dumps."""

MAY_CHANGE = {
    "django_migrations": "gets a row for each later migration",
    "django_content_type": "gets a row for each new model",
    "auth_permission": "gets four rows for each new model",
    "sessions_app_price": "gets what is new in the catalogue",
}
"""Tables whose number of rows need not stay, with the reason."""

RENAMED = {"sessions_app_cachelesson": "sessions_app_cacherefusal"}
"""Tables that a later migration renames."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Rows per table of the dump, before and after the later migrations.

    `new` is how the tables are defined where nothing was before, `grown` how they are where the dump was.
    """

    before: dict[str, int]
    after: dict[str, int]
    new: set[Definition]
    grown: set[Definition]


@pytest.fixture(scope="module")
def opened(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opened]:
    """The dump, loaded and migrated, is the default database for the tests of this module."""
    load = loaded_sqlite if connection.vendor == "sqlite" else loaded_postgres
    with django_db_blocker.unblock(), load(tmp_path_factory.mktemp("version")) as name:
        new = definitions()
        with default_database(name):
            before = rows_per_table()
            call_command("migrate", verbosity=0, interactive=False)
            yield Opened(before, rows_per_table(), new, definitions())


@contextmanager
def loaded_sqlite(folder: Path) -> Iterator[str]:
    path = folder / "version.sqlite3"
    database = sqlite3.connect(path)
    database.executescript(dump_of("sqlite"))
    database.close()
    yield str(path)


@contextmanager
def loaded_postgres(_: Path) -> Iterator[str]:
    database = Database()
    database.create()
    try:
        with psycopg.connect(database.url, autocommit=True) as target:
            target.execute(dump_of("postgres").encode())
        yield database.name
    finally:
        database.drop()


def dump_of(vendor: str) -> str:
    return gzip.decompress((DATA / f"version_0011.{vendor}.sql.gz").read_bytes()).decode()


@contextmanager
def default_database(name: str) -> Iterator[None]:
    """Points the default connection at another database of the same server."""
    kept = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    ContentType.objects.clear_cache()
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = kept
        ContentType.objects.clear_cache()


def rows_per_table() -> dict[str, int]:
    with connection.cursor() as cursor:
        counts = {}
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            counts[table] = cursor.fetchone()[0]
    return {table: count for table, count in counts.items() if "turn_words" not in table}


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def refused(client: Client, addresses: list[str]) -> dict[str, int]:
    """The addresses that do not answer 200, with what they answer."""
    answers = {address: client.get(address).status_code for address in addresses}
    return {address: status for address, status in answers.items() if status != 200}


def test_every_migration_since_the_dump_has_its_case() -> None:
    folder = Path(next(iter(migrations.__path__)))
    later = {path.stem for path in folder.glob("0*.py") if path.stem > NEWEST}
    assert later - CASES.keys() == set(), "add these to migration_cases.CASES"
    assert CASES.keys() - later == set(), "no migration has this name"


SQUASHED = "0113"
"""What was in use before the rule of `test_processes_of_the_version_before_work_with_the_new_tables`."""

TAKES_AWAY = (RemoveField, DeleteModel, RenameField, RenameModel, AlterModelTable)


def test_processes_of_the_version_before_work_with_the_new_tables() -> None:
    """DEPLOYMENT.md migrates while they run: what they write has no value for a new column."""
    loaded = MigrationLoader(None).disk_migrations
    later = [one for (app, name), one in loaded.items() if app == "sessions_app" and name[:4] > SQUASHED]
    operations = [operation for one in later for operation in one.operations]
    assert operations and not [one for one in operations if isinstance(one, TAKES_AWAY)]
    added = [one for one in operations if isinstance(one, AddField)]
    strict = [f"{one.model_name}.{one.name}" for one in added if not has_value(one.field)]
    assert strict == [], "give these a db_default, or null=True"


def has_value(field: "Field[Any, Any]") -> bool:
    """Whether a row may be inserted without one."""
    return field.null or field.has_db_default() or field.many_to_many or False


@pytest.mark.usefixtures("opened")
def test_each_migration_did_what_its_case_says() -> None:
    assert Session.objects.exists()
    for check in CASES.values():
        check()


@pytest.mark.usefixtures("opened")
def test_the_audit_finds_no_difference_in_the_money_of_old_rows() -> None:
    for session in Session.objects.all():
        assert list(audit_money(session.pk, str(session), shown_session(session))) == []
    assert list(of_spending()) == []


@pytest.mark.django_db
def test_a_new_database_has_the_tables_of_one_that_took_every_step(opened: Opened) -> None:
    assert opened.new - opened.grown == opened.grown - opened.new == set()


def test_no_table_lost_or_gained_rows(opened: Opened) -> None:
    assert opened.before["sessions_app_exchange"] > 50
    changed = {
        name for name, count in opened.before.items() if opened.after.get(RENAMED.get(name, name)) != count
    }
    assert changed - MAY_CHANGE.keys() == set()


def test_the_dump_has_rows_in_every_table(opened: Opened) -> None:
    empty = {name for name, count in opened.before.items() if not count}
    assert empty == {"django_session"}


@pytest.mark.usefixtures("opened")
def test_every_request_is_rebuilt_byte_for_byte() -> None:
    exchanges = list(Exchange.objects.all())
    assert exchanges and [one.pk for one in exchanges if not one.is_faithful()] == []


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", ["alice", "bob"])
def test_every_session_opens_in_the_chat_and_in_the_inspector(name: str) -> None:
    person = User.objects.get(username=name)
    sessions = list(Session.objects.of(person))
    addresses = [reverse("sessions")]
    for session in sessions:
        addresses += [session.get_absolute_url(), reverse("exchanges", args=[session.public])]
        addresses += [reverse(f"export-{form}", args=[session.public]) for form in ("json", "markdown")]
    blocked = Run.objects.filter(session__in=sessions).exclude(stages=[])
    addresses += [reverse("refused-run", args=[run.session.public, run.public]) for run in blocked]
    assert sessions and refused(signed_in(person), addresses) == {}


@pytest.mark.usefixtures("opened")
def test_every_tab_of_every_exchange_opens() -> None:
    alice = User.objects.get(username="alice")
    exchanges = Exchange.objects.filter(session__in=Session.objects.of(alice)).select_related("session")
    addresses = [f"{one.get_absolute_url()}?tab={tab.id}" for one in exchanges for tab in TABS]
    assert addresses and refused(signed_in(alice), addresses) == {}


@pytest.mark.usefixtures("opened")
def test_every_list_and_form_of_the_admin_opens() -> None:
    addresses = []
    for empty in (PersonalLimits(), RetentionRules(), RetentionReport(), ProviderFileRemoval(), McpServer()):
        empty.save()
    session = Session.objects.all()[0]
    SharedLink.objects.make(session, snapshot=b"{}", has_details=False, files=(), expires_at=None)
    for model in admin.site._registry:
        place = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.first()
        assert row is not None
        addresses += [reverse(f"{place}_changelist"), reverse(f"{place}_change", args=[row.pk])]
    assert refused(signed_in(User.objects.get(username="alice")), addresses) == {}


@pytest.mark.usefixtures("opened")
def test_words_of_old_messages_are_found() -> None:
    alice = User.objects.get(username="alice")
    assert Turn.objects.filter(text__contains="market day").exists()
    assert find(alice, "market day").hits
