"""Everything that can go wrong, as one tree.

    PipewebError
    ├── SettingsError          a setting is missing or wrong; the process does not start
    ├── PromptError            a payload cannot be built or breaks a rule of the wire
    │   └── HistoryInvalid     the history breaks a rule, and the session's policy is not to repair it
    ├── GatewayError           the model's side said no, or could not be reached
    │   ├── BadRequest         400, 404 and the rest of 4xx
    │   │   ├── BadKey         the key is missing, malformed, unknown or not allowed
    │   │   ├── UnknownModel   404 on a model name
    │   │   ├── CacheGone      403 on a cachedContents name: expired, deleted or somebody else's
    │   │   └── CacheTooSmall  the provider's minimum for an explicit cache was not reached
    │   ├── QuotaExceeded      429; `retry_after` says when, if the provider did
    │   ├── ProviderDown       500 and 503
    │   ├── Unreachable        no connection, a reset, a time-out
    │   └── BrokenStream       bytes that are not the protocol
    ├── RunError               a run cannot start or go on
    │   ├── SessionBusy        the session already has an active run
    │   ├── FilesAway          files that a request names are not at the provider (any more)
    │   ├── BudgetSpent        a session's or a person's budget is used up; nothing was sent
    │   └── GuardRail          a run reached a limit that protects a person's money
    ├── ToolError              a tool failed in a way the model should read
    ├── NotKept                what a person wrote in a panel cannot be kept
    ├── NotImportable          a file that is no exported session, or a damaged one
    └── WorkspaceError         a path outside the workspace, or a file that cannot be used

Every error carries a sentence for the person (`str(error)`) and, where there is something
to do, `hint`: what to do about it.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any


class PipewebError(Exception):
    """The root. `hint` tells the reader what to do; empty when there is nothing to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def first_sentence(message: str) -> tuple[str, str]:
    """What a provider says first, and the rest: some of them say a page."""
    first, *rest = re.split(r"(?<=[.!?])\s+", message.strip(), maxsplit=1)
    return first, "".join(rest)


class SettingsError(PipewebError):
    pass


class PromptError(PipewebError):
    pass


class HistoryInvalid(PromptError):
    pass


class GatewayError(PipewebError):
    """An answer of the provider that is not a reply, or no answer at all.

    `code` is the HTTP status (None when there was no HTTP answer), `status` Google's name for
    it (`RESOURCE_EXHAUSTED`), `details` the whole error body, `retry_after` seconds from
    RetryInfo (google/rpc/error_details.proto).
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


class QuotaExceeded(GatewayError):
    pass


class ProviderDown(GatewayError):
    pass


class Unreachable(GatewayError):
    pass


class BrokenStream(GatewayError):
    pass


class RunError(PipewebError):
    pass


class SessionBusy(RunError):
    pass


class FilesAway(RunError):
    """`keys` are the public ids of the attachments."""

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__(
            "Files of this conversation are not at the provider.", hint="Retry uploads them again."
        )
        self.keys = tuple(keys)


class BudgetSpent(RunError):
    pass


class GuardRail(RunError):
    """`rail` names the setting that holds the run: max_rounds, max_tokens, max_usd or max_seconds."""

    def __init__(self, message: str, *, hint: str = "", rail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rail = rail


class ToolError(PipewebError):
    pass


class NotKept(PipewebError):
    pass


class NotImportable(PipewebError):
    pass


class WorkspaceError(PipewebError):
    pass
