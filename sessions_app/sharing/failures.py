"""Why a run failed, as a code for everybody who has the link."""

from collections.abc import Mapping
from typing import Any

from sessions_app import errors
from sessions_app.error_codes import SharedFailure
from sessions_app.prompt.outcomes import Outcome

_CAUSES = (
    (errors.AnswerRefused, SharedFailure.UNREADABLE),
    (errors.BrokenStream, SharedFailure.UNREADABLE),
    (errors.QuotaExceeded, SharedFailure.QUOTA),
    (errors.ProviderDown, SharedFailure.PROVIDER_DOWN),
    (errors.Unreachable, SharedFailure.NOT_REACHED),
    (errors.Redirected, SharedFailure.NOT_REACHED),
    (errors.GatewayError, SharedFailure.REFUSED),
    (errors.PromptError, SharedFailure.NOT_SENT),
    (errors.HistoryGone, SharedFailure.NOT_SENT),
    (errors.FilesNotUploaded, SharedFailure.NOT_SENT),
    (errors.RequestRefused, SharedFailure.LIMIT),
    (errors.PipewebError, SharedFailure.BROKEN),
)
"""The first class that an error is of."""


def failure_code(error: Mapping[str, Any]) -> SharedFailure | Outcome | None:
    """The code of `Run.error`; None for an error that this version does not know."""
    kind = str(error.get("kind"))
    if kind == errors.NoAnswer.__name__:
        reason = str(error.get("reason"))
        # Its value is that of a failed run, of which earlier snapshots say no more.
        return SharedFailure.IN_ANSWER if reason == Outcome.FAILED else _outcome(reason)
    known = getattr(errors, kind, None)
    if not isinstance(known, type):
        return None
    return next((code for of, code in _CAUSES if issubclass(known, of)), None)


def _outcome(reason: str) -> Outcome | None:
    return next((outcome for outcome in Outcome if outcome == reason), None)
