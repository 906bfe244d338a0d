"""The exceptions of Pipeweb.

    PipewebError
    ├── SettingsError          a setting is missing or wrong; the process does not start
    ├── RequestRefused         a rule of ours forbids the request: a code with figures (`wording.refusals`)
    ├── PromptError            a payload cannot be built or would be invalid
    │   └── HistoryInvalid     the history breaks a rule, and the session's policy is not to repair it
    ├── GatewayError           the provider rejected the request or could not be reached
    │   ├── BadRequest         400, 404 and the rest of 4xx
    │   │   ├── BadKey         the key is missing, malformed, unknown or not allowed
    │   │   ├── UnknownModel   404 on a model name
    │   │   ├── CacheGone      403 on a cachedContents name: expired, deleted or somebody else's
    │   │   ├── CacheTooSmall  the provider's minimum for an explicit cache was not reached
    │   │   ├── SignatureRefused  400 on a thought signature: altered, unreadable or another key's
    │   │   └── SignatureMissing  400 on a function call without a thought signature
    │   ├── QuotaExceeded      429; `retry_after` says when, if the provider did
    │   ├── ProviderDown       500 and 503
    │   ├── Unreachable        no connection, a reset, a time-out
    │   ├── Redirected         the provider's address sends requests elsewhere
    │   ├── BrokenStream       bytes that are not the protocol
    │   └── AnswerRefused      an answer beyond our bounds: too large, nested too deeply, compressed
    ├── RunError               a run cannot start or continue
    │   ├── SessionBusy        the session already has an active run
    │   ├── RunEnded           another process has ended the run; nothing was stored
    │   ├── NoAnswer           the reply of the model is no answer
    │   ├── FilesNotUploaded   files that a request names are not at the provider (any more)
    │   ├── BudgetSpent        a session's or a person's budget is used up; nothing was sent
    │   ├── LimitReached       a run reached a limit that protects a person's money
    │   └── OverLimit          a person has reached a limit of theirs; nothing was done
    ├── ToolError              a tool failed in a way the model should read
    ├── StorageFull            the disk of the data or of the database is full; nothing was saved
    ├── NotKept                what a person wrote in a panel cannot be kept
    ├── RowGone                an action names a row that the session does not have (any more)
    ├── NotImportable          a file that is no exported session, or a damaged one: a code with figures
    ├── NotShareable           a conversation that cannot be shared as it is: a code with figures
    ├── DocumentRefused        a document or web page that does not become text: a code with figures
    ├── ReportUnreadable       a file that is no report of `manage.py conform`
    ├── BodyRefused            the body of a request is not read: a code (`wording.uploads`)
    ├── RelayRefused           a request of another program is not relayed: a code (`wording.capture`)
    ├── NotRegrouped           captured sessions that cannot be joined or split so: a code with figures
    └── WorkspaceError         a path outside the workspace, or a file that cannot be used

`str(error)` is a sentence for the person. PromptError, BudgetSpent, LimitReached, OverLimit and
AnswerRefused are also RequestRefused, which has a code and figures instead, since they are stored.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Generic, TypeVar

from sessions_app import error_codes as codes

Reason = TypeVar("Reason", bound=StrEnum)


class PipewebError(Exception):
    """The base class. `hint` is advice for the person, or empty."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


EXCERPT_LIMIT = 240
"""Characters of a provider's message in a line of a page."""


def excerpt(message: str, limit: int = EXCERPT_LIMIT) -> str:
    """The message, or its beginning up to a space and an ellipsis, together at most `limit` characters.

    Never up to the end of a sentence: nothing tells that from an abbreviation or the number of a list.
    """
    text = message.strip()
    if len(text) <= limit:
        return text
    words = text[:limit].rsplit(maxsplit=1)
    return (words[0] if len(words) > 1 else text[: limit - 1]) + "…"


class SettingsError(PipewebError):
    pass


class CodedError(PipewebError, Generic[Reason]):
    """`reason` is the rule or problem, `figures` are JSON values of its sentence; `str` is for logs."""

    def __init__(self, reason: Reason, **figures: Any) -> None:
        super().__init__(f"{reason} {figures}" if figures else str(reason))
        self.reason = reason
        self.figures = figures


class RequestRefused(CodedError[codes.RefusalCode]):
    """Its sentence is in `wording.refusals`."""


class PromptError(RequestRefused):
    pass


class HistoryInvalid(PromptError):
    pass


class GatewayError(PipewebError):
    """An error response of the provider, or none at all.

    `code` is the HTTP status (None without a response), `status` Google's name of it (`RESOURCE_EXHAUSTED`),
    `details` the error body, `retry_after` seconds until the provider takes requests again, if it said so.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: int | None = None,
        status: str = "",
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.status = status
        self.details = dict(details or {})
        self.retry_after = retry_after


class BadRequest(GatewayError):
    pass


class BadKey(BadRequest):
    pass


class UnknownModel(BadRequest):
    pass


class CacheGone(BadRequest):
    pass


class CacheTooSmall(BadRequest):
    pass


class SignatureRefused(BadRequest):
    pass


class SignatureMissing(BadRequest):
    pass


class QuotaExceeded(GatewayError):
    pass


class ProviderDown(GatewayError):
    pass


class Unreachable(GatewayError):
    pass


class Redirected(GatewayError):
    """The provider redirects; redirects are not followed."""


class BrokenStream(GatewayError):
    pass


class AnswerRefused(RequestRefused, GatewayError):
    pass


class RunError(PipewebError):
    pass


class NoAnswer(RunError):
    """The reply is no answer; `reason` is its `prompt.outcomes.Outcome`, `figures` are for its sentence."""

    def __init__(self, reason: str, **figures: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.figures = figures


class SessionBusy(RunError):
    pass


class RunEnded(RunError):
    def __init__(self) -> None:
        super().__init__("This run was ended by another process.")


class FilesNotUploaded(RunError):
    """`keys` are the public ids of the attachments."""

    def __init__(self, keys: Collection[str]) -> None:
        sentence = "Files of this conversation are not at the provider."
        super().__init__(sentence, hint="They are uploaded again when you ask again.")
        self.keys = tuple(keys)


class BudgetSpent(RequestRefused, RunError):
    pass


class LimitReached(RequestRefused, RunError):
    """`reason` is the name of the setting. Stored as kind "GuardRail" before 2026-11."""


class OverLimit(RequestRefused, RunError):
    """A limit of `context.personal_limits` is reached."""

    def __init__(
        self, reason: codes.RefusalCode, *, used: int, limit: int, seconds: int | None = None
    ) -> None:
        super().__init__(reason, used=used, limit=limit, seconds=seconds)
        self.seconds = seconds


class ToolError(PipewebError):
    pass


class StorageFull(PipewebError):
    def __init__(
        self,
        message: str = "The server’s disk is full. Nothing was saved.",
        *,
        hint: str = "Try again when whoever runs the server has made room.",
    ) -> None:
        super().__init__(message, hint=hint)


class NotKept(PipewebError):
    pass


class RowGone(PipewebError):
    pass


class PriceUsed(PipewebError):
    """A price that something was charged at is not changed."""

    def __init__(self, price: str) -> None:
        super().__init__(
            f"Answers were charged at the price {price}: it stays as it is.",
            hint="A correction is a new row with a later day, past days too; what was booked stays as it was "
            "booked. Its own first day keeps this price: a day has one, and answers were charged at it.",
        )


class NotImportable(CodedError[codes.ImportProblem]):
    """Its sentence is in `wording.imports`."""


class NotShareable(CodedError[codes.ShareProblem]):
    """Its sentence is in `wording.sharing`."""


class DocumentRefused(CodedError[codes.DocumentProblem]):
    """Its sentence is in `wording.documents`."""


class ReportUnreadable(PipewebError):
    pass


class BodyRefused(PipewebError):
    """`status` is the HTTP status of the response."""

    def __init__(self, status: int, reason: codes.BodyRefusal, limit: int = 0) -> None:
        super().__init__(reason.value)
        self.status = status
        self.reason = reason
        self.limit = limit


class RelayRefused(PipewebError):
    """`limit` is in bytes, 0 where the fault is none of size."""

    def __init__(self, fault: codes.CaptureFault, *, limit: int = 0) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.limit = limit


class NotRegrouped(CodedError[codes.RegroupProblem]):
    """Its sentence is in `wording.capture`."""


class WorkspaceError(PipewebError):
    pass
