"""The base classes of the tree."""

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


class SettingsError(PipewebError):
    pass


class BackupError(PipewebError):
    """A backup that could not be made or restored; nothing was changed."""


class CodedError(PipewebError, Generic[Reason]):
    """`reason` is the rule or problem, `figures` are JSON values of its sentence; `str` is for logs."""

    def __init__(self, reason: Reason, **figures: Any) -> None:
        super().__init__(f"{reason} {figures}" if figures else str(reason))
        self.reason = reason
        self.figures = figures


class RequestRefused(CodedError[codes.RefusalCode]):
    """Its sentence is in `wording.refusals`."""
