"""Errors of what a person or a program asks for: prompts, tools, files, imports, links."""

from sessions_app import error_codes as codes
from sessions_app.errors.base import CodedError, PipewebError, RequestRefused
from sessions_app.key_codes import KeyProblem
from sessions_app.log_codes import RefusedReading
from sessions_app.mcp_codes import ServerProblem


class PromptError(RequestRefused):
    pass


class HistoryInvalid(PromptError):
    pass


class ToolError(PipewebError):
    pass


class McpServerFailed(CodedError[ServerProblem]):
    """Its sentence is in `wording.mcp`."""


class KeyNotChanged(CodedError[KeyProblem]):
    """Its sentence is in `wording.api_key`."""


class StorageRefuses(PipewebError):
    """What a database or a disk said about itself: the same may be saved later. `state` is a sentence."""

    state = ""
    advice = ""

    def __init__(self) -> None:
        super().__init__(f"{self.state} Nothing was saved.", hint=self.advice)


class StorageFull(StorageRefuses):
    state = "The server’s disk is full."
    advice = "Try again when whoever runs the server has made room."


class StorageReadOnly(StorageRefuses):
    state = "The server’s storage takes no changes now."
    advice = "Try again when whoever runs the server has seen to it."


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


class LogIsKept(PipewebError):
    def __init__(self, message: str) -> None:
        super().__init__(message, hint="Rows of the audit log are neither changed nor deleted.")


class NotOpened(CodedError[RefusedReading]):
    """Its sentence is in `wording.audit_log`."""


class HarRefused(CodedError[codes.HarProblem]):
    """Its sentence is in `wording.har`."""


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
