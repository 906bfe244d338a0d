"""Erases a person: rows, bytes, workspace, files and caches at the provider. Sums of money stay."""

import json

import structlog
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q

from sessions_app.accounts.sign_ins import end_sign_ins
from sessions_app.accounts.team_rows import delete_team_rows
from sessions_app.context.mcp_logs import delete_logs_of_person
from sessions_app.fulltext import forget_deleted
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry, Blob, Booking, CacheEntry, CapturedRequest, Session
from sessions_app.models.audit_entry import record
from sessions_app.prompt.caching import EntryReason

log = structlog.get_logger("pipeweb.accounts")

NOBODY = "erased person"


def erase_person(person: User, *, by: int | None) -> None:
    """`by` is who does it; None for a command.

    Each session is a transaction of its own, so that other people hardly wait. The account is closed first:
    an erasure that was cut short can be begun again, and nobody signs in meanwhile.
    """
    pk, name = person.pk, person.get_username()
    User.objects.filter(pk=pk).update(is_active=False)
    end_sign_ins(pk)
    for session in Session.objects.filter(owner=pk).order_by("pk"):
        session.erase()
    CapturedRequest.objects.of(person).erase()
    with transaction.atomic():
        _forget_caches(pk)
        _forget_answers(pk)
        _forget_name(name)
        record(LoggedAction.ERASED, on=person)
        delete_team_rows(connection, pk)
        person.delete()
        AuditEntry.objects.empty_of(pk)
        # What a deleted row left unreferenced.
        Blob.objects.delete_unreferenced(pk)
    forget_deleted(connection)
    delete_logs_of_person(pk)
    log.info("person_erased", person=pk, by=by)


def _forget_caches(pk: int) -> None:
    """Caches of theirs are deleted at the provider; the rows stay, since bookings are about them.

    One that sessions of others name holds the words of those, and one of a program is its own to delete.
    """
    theirs = CacheEntry.objects.filter(owner=pk)
    theirs.ours().filter(sessions=None).mark_for_deletion(EntryReason.SESSION_ERASED)
    theirs.update(said="")


def _forget_answers(pk: int) -> None:
    """Bookings stay, but nothing by which one is known to have paid for a certain answer."""
    Booking.objects.filter(owner=pk).update(answer_key="")


def _forget_name(name: str) -> None:
    """The admin's history keeps names of rows as text, among them those of people."""
    quoted = json.dumps(name)
    rows = LogEntry.objects.filter(Q(object_repr=name) | Q(change_message__contains=quoted))
    rows.update(object_repr=NOBODY, change_message="")
