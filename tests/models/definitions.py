"""What a database says of its own tables, to be compared with what another one says."""

from typing import Any

from django.db import connection

Definition = tuple[Any, ...]

IN_POSTGRESQL = (
    """SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity,
              character_maximum_length::text, numeric_precision::text, numeric_scale::text
       FROM information_schema.columns WHERE table_schema = 'public'""",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace""",
    "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
)


def definitions() -> set[Definition]:
    """Those of the default database.

    The order of columns is left out, and so are names that PostgreSQL or Django made of that of a table: it
    may have been another one by then.
    """
    if connection.vendor == "postgresql":
        return {unnamed(row) for query in IN_POSTGRESQL for row in rows(query)}
    found: set[Definition] = set()
    for kind, name, sql in rows("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
        is_plain = kind == "table" and sql.startswith("CREATE TABLE")
        found |= {(name, part) for part in parts(sql)} if is_plain else {(name, " ".join(sql.split()))}
    return found


def unnamed(row: Definition) -> Definition:
    table, name, *figures = row
    if not name.startswith("sessions_app_"):
        return row
    return (table, None, *(figure and figure.replace(name, "") for figure in figures))


def rows(query: str) -> list[Definition]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def parts(sql: str) -> list[str]:
    """The columns and constraints of a CREATE TABLE: what commas divide that no bracket or quote encloses."""
    found, depth, quote = [""], 0, ""
    for sign in sql[sql.index("(") + 1 : sql.rindex(")")]:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        depth += 0 if quote else (sign == "(") - (sign == ")")
        if sign == "," and not depth and not quote:
            found.append("")
        else:
            found[-1] += sign
    return [part.strip() for part in found]
