"""Triggers that keep the rows of the audit log as they were written, on SQLite and PostgreSQL.

A migration creates them. On SQLite a later migration that recreates the table drops them silently, so
`post_migrate` creates them again.

Declared exceptions, and no other: a row may be emptied of what it says of a person, once (`emptied_at`); a
row older than `KEPT_DAYS` may be deleted.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "sessions_app_auditentry"

KEPT_DAYS = 30
"""No row is deleted before, whoever asks: the least that a retention can be set to."""

FIXED = ("id", "at", "action", "kind", "key", "actor_key", "person_key")
"""What stays as it was when a row is emptied."""

REFUSAL = "the audit log is append-only"

_SAME = " AND ".join(f"NEW.{name} IS NOT DISTINCT FROM OLD.{name}" for name in FIXED)
_SAME_ON_SQLITE = _SAME.replace("IS NOT DISTINCT FROM", "IS")
_EMPTY = (
    "OLD.emptied_at IS NULL AND NEW.emptied_at IS NOT NULL "
    "AND NEW.actor IN ('', OLD.actor) AND NEW.address IN ('', OLD.address)"
)

SQLITE = {
    "audit_entry_kept": f"""
        BEFORE UPDATE ON {TABLE}
        WHEN NOT ({_EMPTY} AND NEW.figures = '{{}}' AND {_SAME_ON_SQLITE})
        BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END""",
    "audit_entry_not_deleted": f"""
        BEFORE DELETE ON {TABLE} WHEN OLD.at > datetime('now', '-{KEPT_DAYS} days')
        BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END""",
}

POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION audit_entry_refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' AND OLD.at <= now() - interval '{KEPT_DAYS} days' THEN RETURN OLD; END IF;
    IF TG_OP = 'UPDATE' AND {_EMPTY} AND NEW.figures = '{{}}'::jsonb AND {_SAME} THEN RETURN NEW; END IF;
    RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def prepare(connection: BaseDatabaseWrapper) -> None:
    """Creates the triggers that are missing."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in SQLITE.keys() - _triggers(cursor):
                cursor.execute(f"CREATE TRIGGER {name} {SQLITE[name]}")
            return
        cursor.execute(POSTGRES_FUNCTION)
        cursor.execute(f"DROP TRIGGER IF EXISTS audit_entry_kept ON {TABLE}")
        cursor.execute(
            f"CREATE TRIGGER audit_entry_kept BEFORE UPDATE OR DELETE ON {TABLE} "
            "FOR EACH ROW EXECUTE FUNCTION audit_entry_refused()"
        )


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drops the triggers; the reverse of `prepare`."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            return
        cursor.execute(f"DROP TRIGGER IF EXISTS audit_entry_kept ON {TABLE}")
        cursor.execute("DROP FUNCTION IF EXISTS audit_entry_refused")


def restore_triggers(using: str, **_: Any) -> None:
    """Receiver of `post_migrate`: restores the triggers of a table that was recreated."""
    from django.db import connections

    connection = connections[using]
    if connection.vendor == "sqlite" and TABLE in connection.introspection.table_names():
        prepare(connection)


def _triggers(cursor: Any) -> set[str]:
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    return {name for (name,) in cursor.fetchall()}
