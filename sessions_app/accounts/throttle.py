"""How often sign-ins may fail before further ones are refused unread.

What counts are the rows of the audit log, which all processes share: failures of one account from one
address, and all of one address. An account alone is not locked, or anybody could lock its owner out.
"""

from datetime import timedelta
from threading import Lock

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.models.audit_entry import AuditEntryQuerySet, address_hash

WINDOW = timedelta(minutes=5)
ACCOUNT_FAILURES = 5
ADDRESS_FAILURES = 20

one_attempt = Lock()
"""Held from the look at the log to the row of a failure, so that parallel guesses do not pass the limit.

Each process has its own: a guess for each further process may pass.
"""


def wait_before(request: HttpRequest, username: str) -> timedelta:
    """How long until a password for this name is looked at from this address; zero: now."""
    now = timezone.now()
    failed = AuditEntry.objects.filter(
        action=LoggedAction.SIGN_IN_FAILED, at__gt=now - WINDOW, address=address_hash(request)
    )
    person = User.objects.filter(username=username).values_list("pk", flat=True).first()
    # Names of nobody count together, so that a refusal does not tell who has an account.
    waits = [_wait(failed, ADDRESS_FAILURES), _wait(failed.filter(person_key=person), ACCOUNT_FAILURES)]
    return max(waits)


def _wait(failed: AuditEntryQuerySet, limit: int) -> timedelta:
    """Until the oldest of the last `limit` failures leaves the window."""
    last = failed.order_by("-at").values_list("at", flat=True)[limit - 1 : limit].first()
    return timedelta() if last is None else max(timedelta(), last + WINDOW - timezone.now())
