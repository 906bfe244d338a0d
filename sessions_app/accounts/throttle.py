"""How often sign-ins may fail before further ones are refused unread.

What counts are the rows of the audit log, which all processes share: failures of one account from one
address, and all of one address. An account alone is not locked, or anybody could lock its owner out.

Codes of a second factor are counted by account, whatever the address: who tries them knows the password.
"""

from datetime import timedelta
from math import ceil
from threading import Lock

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from sessions_app.accounts.sign_ins import SignInWay
from sessions_app.log_codes import LoggedAction
from sessions_app.models import AuditEntry
from sessions_app.models.audit_entry import AuditEntryQuerySet, address_hash
from sessions_app.wording import sign_ins

WINDOW = timedelta(minutes=5)
ACCOUNT_FAILURES = 5
ADDRESS_FAILURES = 20
THROTTLED = "throttled"

one_attempt = Lock()
"""Held from the look at the log to the row of a failure, so that parallel guesses do not pass the limit.

Each process has its own: a guess for each further process may pass.
"""


def wait_before(request: HttpRequest, username: str) -> timedelta:
    """How long until a password for this name is looked at from this address; zero: now."""
    failed = _failures().filter(address=address_hash(request))
    person = User.objects.filter(username=username).values_list("pk", flat=True).first()
    # Names of nobody count together, so that a refusal does not tell who has an account.
    waits = [_wait(failed, ADDRESS_FAILURES), _wait(failed.filter(person_key=person), ACCOUNT_FAILURES)]
    return max(waits)


def wait_before_code(person: int) -> timedelta:
    """How long until a code of this person is looked at, wherever it comes from."""
    failed = _failures().filter(person_key=person, figures__way=SignInWay.SECOND_FACTOR)
    return _wait(failed, ACCOUNT_FAILURES)


def refusal(wait: timedelta) -> ValidationError:
    """The error of a form that was refused; `wait_in` reads the wait from it."""
    seconds = wait.total_seconds()
    return ValidationError(sign_ins.throttled(seconds), code=THROTTLED, params={"seconds": seconds})


def wait_in(form: BaseForm) -> float:
    """The seconds after which the form may be sent again; 0: it was not refused for that."""
    errors = (error for of_field in form.errors.as_data().values() for error in of_field)
    waits = ((error.params or {})["seconds"] for error in errors if error.code == THROTTLED)
    return max(waits, default=0.0)


def say_wait(answer: HttpResponse, form: BaseForm) -> HttpResponse:
    """429 with Retry-After where the form was refused for too many failures."""
    if seconds := wait_in(form):
        answer.status_code = 429
        answer["Retry-After"] = str(ceil(seconds))
    return answer


def _failures() -> AuditEntryQuerySet:
    """The failures of the window; rows far in the future are of a clock that was wrong once."""
    now = timezone.now()
    return AuditEntry.objects.filter(
        action=LoggedAction.SIGN_IN_FAILED, at__gt=now - WINDOW, at__lt=now + WINDOW
    )


def _wait(failed: AuditEntryQuerySet, limit: int) -> timedelta:
    """Until the oldest of the last `limit` failures leaves the window."""
    last = failed.order_by("-at").values_list("at", flat=True)[limit - 1 : limit].first()
    return timedelta() if last is None else max(timedelta(), last + WINDOW - timezone.now())
