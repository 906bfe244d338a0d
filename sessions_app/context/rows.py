"""Everything that panels are made of and that stands in rows, read in one query.

A request reads up to a dozen tables for its panels; a query each would cost more than the rest of
the request. The SQL is the same on SQLite and PostgreSQL.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connections
from django.utils.dateparse import parse_datetime

from sessions_app.models import Session

LOG_LINES = 100
"""Newest lines of the log that are sent."""

SEEN_NOTIFICATIONS = 10

STATES = "panel_states"


class Row(NamedTuple):
    """One row of any kind; what the columns mean is written beside each arm of the query."""

    kind: str
    number: int
    text: str
    extra: str
    more: str
    flag: bool
    stamp: datetime
    a: int
    b: int
    c: int


READING = """
        SELECT key, id, key, text, '', failed, read_at, 0, 0, 0
        FROM sessions_app_reading WHERE session_id = %(session)s AND key = 'KEY'"""
"""key, text · failed, read"""

ARMS: Mapping[str, str] = {
    # page, key, sha256 · since, tokens
    STATES: """
        SELECT 'panel_states', page, key, sha256, '', FALSE, changed_at, tokens, 0, 0
        FROM sessions_app_panelstate WHERE session_id = %(session)s""",
    # id, path · pinned, added, turns to live (0: for ever), born, page
    "file_references": """
        SELECT 'file_references', id, path, '', '', pinned, added_at, coalesce(ttl, 0), born, page
        FROM sessions_app_reference WHERE session_id = %(session)s AND enabled""",
    "artifacts": """
        SELECT 'artifacts', id, path, '', '', FALSE, changed_at, 0, 0, 0
        FROM sessions_app_artifact WHERE session_id = %(session)s""",
    "todos": """
        SELECT 'todos', position, title, '', '', done, changed_at, 0, 0, 0
        FROM sessions_app_todo WHERE session_id = %(session)s""",
    # name, kind, summary
    "library": """
        SELECT 'library', id, name, kind, summary, FALSE, updated_at, 0, 0, 0
        FROM sessions_app_prompttext WHERE kind IN ('role', 'skill', 'command')""",
    "memories": """
        SELECT 'memories', id, text, importance, '', FALSE, changed_at, 0, 0, 0
        FROM sessions_app_memory WHERE owner_id = %(owner)s""",
    # A message is the trigger or stands in the history: named here too, it would change this panel, and
    # with it the prefix of everything behind, every turn.
    "notifications": """
        SELECT 'notifications', number, text, kind, '', FALSE, created_at, 0, 0, 0
        FROM sessions_app_notification
        WHERE session_id = %(session)s AND kind NOT IN ('user_message', 'reload_resume') AND (
            status <> 'seen' OR id IN (
                SELECT id FROM sessions_app_notification
                WHERE session_id = %(session)s AND status = 'seen'
                AND kind NOT IN ('user_message', 'reload_resume')
                ORDER BY number DESC LIMIT %(seen)s))""",
    "logs": """
        SELECT 'logs', id, text, '', '', FALSE, created_at, 0, 0, 0
        FROM sessions_app_logentry WHERE id IN (
            SELECT id FROM sessions_app_logentry
            WHERE session_id = %(session)s ORDER BY id DESC LIMIT %(lines)s)""",
    "scratchpad": """
        SELECT 'scratchpad', position, text, title, '', FALSE, changed_at, 0, 0, 0
        FROM sessions_app_note WHERE session_id = %(session)s""",
    # name, body, summary
    "skills": """
        SELECT 'skills', id, name, body, summary, FALSE, updated_at, 0, 0, 0
        FROM sessions_app_prompttext WHERE kind = 'skill'""",
    **{key: READING.replace("KEY", key) for key in ("git_status", "git_log", "github")},
    # name, text · failed, read, seconds between two readings
    "console": """
        SELECT 'console', reading.id, command.name, reading.text, '', reading.failed, reading.read_at,
            command.every, 0, 0
        FROM sessions_app_reading reading
        JOIN sessions_app_allowedcommand command ON reading.key = 'console:' || command.name
        WHERE reading.session_id = %(session)s AND command.enabled""",
}

Rows = Mapping[str, list[Row]]


def read_rows(session: Session, kinds: Collection[str]) -> Rows:
    """The rows of these kinds, each kind by number; kinds that have no arm cost nothing."""
    arms = [ARMS[kind] for kind in kinds if kind in ARMS]
    found: dict[str, list[Row]] = defaultdict(list)
    if not arms:
        return found
    values = {
        "session": session.pk,
        "owner": session.owner_id,
        "lines": LOG_LINES,
        "seen": SEEN_NOTIFICATIONS,
    }
    with connections[Session.objects.db].cursor() as cursor:
        cursor.execute("\nUNION ALL".join(arms) + "\nORDER BY 1, 2", values)
        for kind, number, text, extra, more, flag, stamp, *figures in cursor.fetchall():
            found[kind].append(Row(kind, number, text, extra, more, bool(flag), _moment(stamp), *figures))
    return found


def _moment(stored: Any) -> datetime:
    """SQLite hands times out as text without a zone; they are UTC."""
    moment = parse_datetime(stored) if isinstance(stored, str) else stored
    assert isinstance(moment, datetime)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
