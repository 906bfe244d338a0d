"""Sentences of the audit log, and of sign-ins that are refused."""

from collections.abc import Iterator

from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.wording import audit_log, sign_ins


def audit_log_sentences() -> Iterator[str]:
    yield from map(audit_log.title, LoggedAction)
    yield from (audit_log.refusal(reason, {"shortest": 10}) for reason in RefusedReading)
    yield from (audit_log.actor("", key, "erased") for key in (None, 3))
    yield audit_log.actor("", None, LoggedAction.SIGN_IN_FAILED)
    changes = {"is_staff": [False, True], "groups": [[], ["team"]], "sockets": [None, 3]}
    for name in audit_log.DETAILS:
        yield audit_log.details({name: changes if name == "changes" else 3})
    yield from map(sign_ins.throttled, (0.5, 299.0))
