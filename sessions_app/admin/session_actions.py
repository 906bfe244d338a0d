"""What staff may do with chosen sessions, behind a page that asks."""

from django.db.models import QuerySet

from sessions_app.admin.confirmed import confirmed_action, update_rows
from sessions_app.admin.exports import EXPORT_CONTENT
from sessions_app.models import Session
from sessions_app.models.origin import Origin
from sessions_app.models.payload_purge import purge_payloads
from sessions_app.models.session_queries import LIST_ACTIONS


def archive(sessions: QuerySet[Session]) -> list[int]:
    """Chats that are neither archived nor in the trash nor temporary."""
    listed = sessions.filter(origin=Origin.CHAT, temporary=False, archived_at=None, deleted_at=None)
    return update_rows(listed, **LIST_ACTIONS["archive"])


def restore(sessions: QuerySet[Session]) -> list[int]:
    return update_rows(sessions.exclude(deleted_at=None), **LIST_ACTIONS["restore"])


def purge(sessions: QuerySet[Session]) -> list[int]:
    return [pk for pk in sessions.values_list("pk", flat=True) if purge_payloads(pk)]


ACTIONS = (
    confirmed_action(
        "archive",
        "Archive selected sessions",
        "They leave the lists of their owners, who find them in the archive. Programs' sessions, "
        "temporary ones and those in the trash stay as they are.",
        archive,
        "move",
    ),
    confirmed_action(
        "restore",
        "Restore selected sessions from the trash",
        "Their owners have them again, and their shared links open. Others stay as they are.",
        restore,
        "move",
    ),
    confirmed_action(
        "purge",
        "Purge the payloads of selected sessions",
        "What their requests sent and received is deleted for good; the inspector says so. Their chats, "
        "figures and money stay. Sessions in which something is under way stay as they are.",
        purge,
        "delete",
    ),
    EXPORT_CONTENT,
)
