"""The full-text index of `search`: created by a migration, checked after every migrate.

SQLite: an FTS5 table without a copy of the texts, updated by triggers. A later migration that recreates
the table of turns drops the triggers silently, so `post_migrate` creates them again.
PostgreSQL: an index over an expression, updated by the server.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = """
CREATE VIRTUAL TABLE IF NOT EXISTS sessions_app_turn_words USING fts5(
    text, content='sessions_app_turn', content_rowid='id', tokenize='unicode61 remove_diacritics 0'
)
"""
ADD = "INSERT INTO sessions_app_turn_words(rowid, text) VALUES (new.id, new.text);"
DROP = (
    "INSERT INTO sessions_app_turn_words(sessions_app_turn_words, rowid, text) "
    "VALUES ('delete', old.id, old.text);"
)
TRIGGERS = {
    "turn_words_added": f"AFTER INSERT ON sessions_app_turn BEGIN {ADD} END",
    "turn_words_dropped": f"AFTER DELETE ON sessions_app_turn BEGIN {DROP} END",
    "turn_words_changed": f"AFTER UPDATE OF text ON sessions_app_turn BEGIN {DROP} {ADD} END",
}
OPTIMIZE = "INSERT INTO sessions_app_turn_words(sessions_app_turn_words) VALUES ('optimize')"
REBUILD = "INSERT INTO sessions_app_turn_words(sessions_app_turn_words) VALUES ('rebuild')"

# A tsvector of more than a megabyte fails the insert. Separators become spaces, so parts of paths are words.
VECTOR = "to_tsvector('simple', translate(left(text, 200000), './\\:@-_<>&=%?#~+,', '                 '))"
"""What PostgreSQL indexes; a query must repeat the expression exactly to use the index."""

INDEX = f"CREATE INDEX IF NOT EXISTS turn_words ON sessions_app_turn USING gin ({VECTOR})"


def prepare(connection: BaseDatabaseWrapper) -> None:
    """Creates what is missing of the index."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute(INDEX)
        elif missing := TRIGGERS.keys() - _triggers(cursor):
            cursor.execute(TABLE)
            for name in missing:
                cursor.execute(f"CREATE TRIGGER {name} {TRIGGERS[name]}")
            cursor.execute(REBUILD)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drops the index; the reverse of `prepare`."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("DROP INDEX IF EXISTS turn_words")
            return
        for name in TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute("DROP TABLE IF EXISTS sessions_app_turn_words")


def restore_triggers(using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: restores the triggers of a table that was recreated."""
    from django.db import connections

    connection = connections[using]
    if "sessions_app_turn_words" in connection.introspection.table_names():
        prepare(connection)


def forget_deleted(connection: BaseDatabaseWrapper) -> None:
    """Takes the words of deleted turns out of the index at once; SQLite else keeps them until segments merge.

    PostgreSQL removes them with the row, at the latest when its autovacuum runs.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(OPTIMIZE)


def compact(connection: BaseDatabaseWrapper) -> None:
    """Gives back the pages of deleted rows, and with them what was in them. SQLite: others wait meanwhile."""
    forget_deleted(connection)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _triggers(cursor: Any) -> set[str]:
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    return {name for (name,) in cursor.fetchall()}
