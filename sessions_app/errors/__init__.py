"""The exceptions of Pipeweb.

    PipewebError
    ├── SettingsError          a setting is missing or wrong; the process does not start
    ├── BackupError            a backup cannot be made or restored; nothing was changed
    ├── CodedError             the base of those with a code and figures in place of a sentence
    ├── RequestRefused         a rule of ours forbids the request: a code with figures (`wording.refusals`)
    ├── PromptError            a payload cannot be built or would be invalid
    │   └── HistoryInvalid     the history breaks a rule, and the session's policy is not to repair it
    ├── GatewayError           the provider rejected the request or could not be reached
    │   ├── BadRequest         400, 404 and the rest of 4xx
    │   │   ├── BadKey         the key is missing, malformed, unknown or not allowed
    │   │   ├── UnknownModel   404 on a model name
    │   │   ├── CacheGone      403 on a cachedContents name: expired, deleted or somebody else's
    │   │   │   └── CacheOfOtherModel  it serves another model, and may live
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
    │   ├── RunWaits           not a failure: it is parked until a person has answered
    │   ├── RunEnded           another process has ended the run; nothing was stored
    │   ├── NoAnswer           the reply of the model is no answer
    │   ├── FilesNotUploaded   files that a request names are not at the provider (any more)
    │   ├── HistoryGone        the session was erased while its history was read; nothing was sent
    │   ├── BudgetSpent        the budget of a session, a person or all people is used up; nothing was sent
    │   │   └── BudgetHeld     requests under way have reserved its rest
    │   ├── LimitReached       a run reached a limit that protects a person's money
    │   └── OverLimit          a person has reached a limit of theirs; nothing was done
    ├── ToolError              a tool failed in a way the model should read
    ├── McpServerFailed        an MCP server cannot be used: a code with figures (`wording.mcp`)
    ├── KeyNotChanged          the API key's file cannot be replaced or removed: a code (`wording.api_key`)
    ├── StorageRefuses         the storage takes nothing for now; nothing was saved
    │   ├── StorageFull        the disk of the data or of the database is full
    │   └── StorageReadOnly    the database or a disk can be read only
    ├── NotKept                what a person wrote in a panel cannot be kept
    ├── RowGone                an action names a row that the session does not have (any more)
    ├── PriceUsed              a price that something was charged at is to be changed
    ├── HarRefused             an HTTP archive that is not imported: a code with figures (`wording.har`)
    ├── NotImportable          a file that is no exported session, or a damaged one: a code with figures
    ├── NotShareable           a conversation that cannot be shared as it is: a code with figures
    ├── DocumentRefused        a document or web page that does not become text: a code with figures
    ├── LogIsKept              a row of the audit log is to be changed or deleted
    ├── NotOpened              staff may not read this content, or gave no reason: a code with figures
    ├── ReportUnreadable       a file that is no report of `manage.py conform`
    ├── BodyRefused            the body of a request is not read: a code (`wording.uploads`)
    ├── RelayRefused           a request of another program is not relayed: a code (`wording.capture`)
    ├── NotRegrouped           captured sessions that cannot be joined or split so: a code with figures
    └── WorkspaceError         a path outside the workspace, or a file that cannot be used

`str(error)` is a sentence for the person. PromptError, HistoryGone, BudgetSpent, LimitReached, OverLimit and
AnswerRefused are also RequestRefused, which has a code and figures instead, since they are stored.
"""

from sessions_app.errors.base import (
    BackupError,
    CodedError,
    PipewebError,
    RequestRefused,
    SettingsError,
)
from sessions_app.errors.provider import (
    EXCERPT_LIMIT,
    AnswerRefused,
    BadKey,
    BadRequest,
    BrokenStream,
    CacheGone,
    CacheOfOtherModel,
    CacheTooSmall,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    Redirected,
    SignatureMissing,
    SignatureRefused,
    UnknownModel,
    Unreachable,
    excerpt,
)
from sessions_app.errors.requests import (
    BodyRefused,
    DocumentRefused,
    HarRefused,
    HistoryInvalid,
    KeyNotChanged,
    LogIsKept,
    McpServerFailed,
    NotImportable,
    NotKept,
    NotOpened,
    NotRegrouped,
    NotShareable,
    PriceUsed,
    PromptError,
    RelayRefused,
    ReportUnreadable,
    RowGone,
    StorageFull,
    StorageReadOnly,
    StorageRefuses,
    ToolError,
    WorkspaceError,
)
from sessions_app.errors.runs import (
    BudgetHeld,
    BudgetSpent,
    FilesNotUploaded,
    HistoryGone,
    LimitReached,
    NoAnswer,
    OverLimit,
    RunEnded,
    RunError,
    RunWaits,
    SessionBusy,
)

__all__ = [
    "EXCERPT_LIMIT",
    "AnswerRefused",
    "BackupError",
    "BadKey",
    "BadRequest",
    "BodyRefused",
    "BrokenStream",
    "BudgetHeld",
    "BudgetSpent",
    "CacheGone",
    "CacheOfOtherModel",
    "CacheTooSmall",
    "CodedError",
    "DocumentRefused",
    "FilesNotUploaded",
    "GatewayError",
    "HarRefused",
    "HistoryGone",
    "HistoryInvalid",
    "KeyNotChanged",
    "LimitReached",
    "LogIsKept",
    "McpServerFailed",
    "NoAnswer",
    "NotImportable",
    "NotKept",
    "NotOpened",
    "NotRegrouped",
    "NotShareable",
    "OverLimit",
    "PipewebError",
    "PriceUsed",
    "PromptError",
    "ProviderDown",
    "QuotaExceeded",
    "Redirected",
    "RelayRefused",
    "ReportUnreadable",
    "RequestRefused",
    "RowGone",
    "RunEnded",
    "RunError",
    "RunWaits",
    "SessionBusy",
    "SettingsError",
    "SignatureMissing",
    "SignatureRefused",
    "StorageFull",
    "StorageReadOnly",
    "StorageRefuses",
    "ToolError",
    "UnknownModel",
    "Unreachable",
    "WorkspaceError",
    "excerpt",
]
