"""The index behind search: made by a migration, looked after at every migrate.

SQLite: an FTS5 table without a copy of the texts, kept by triggers. A later migration that remakes the
table of turns drops its triggers without a word, so they are looked for after each migrate.
PostgreSQL: an index over an expression, kept by the server.
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
REBUILD = "INSERT INTO sessions_app_turn_words(sessions_app_turn_words) VALUES ('rebuild')"

# A tsvector holds a megabyte, or the insert of the turn would fail; and a path or an address is many words.
INDEX = """
CREATE INDEX IF NOT EXISTS turn_words ON sessions_app_turn USING gin (
    to_tsvector('simple', translate(left(text, 200000), './\\:@-_<>&=%?#~+,', '                 '))
)
"""


def prepare(connection: BaseDatabaseWrapper) -> None:
    """Makes what is missing; does nothing when all is there."""
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute(INDEX)
        elif missing := TRIGGERS.keys() - _triggers(cursor):
            cursor.execute(TABLE)
            for name in missing:
                cursor.execute(f"CREATE TRIGGER {name} {TRIGGERS[name]}")
            cursor.execute(REBUILD)


def remove(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("DROP INDEX IF EXISTS turn_words")
            return
        for name in TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute("DROP TABLE IF EXISTS sessions_app_turn_words")


def look_after(using: str, **_: Any) -> None:
    """Signal handler: a table that was remade has lost its triggers."""
    from django.db import connections

    connection = connections[using]
    if "sessions_app_turn_words" in connection.introspection.table_names():
        prepare(connection)


def _triggers(cursor: Any) -> set[str]:
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    return {name for (name,) in cursor.fetchall()}
