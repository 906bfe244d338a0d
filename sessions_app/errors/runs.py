"""Errors of runs."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sessions_app import error_codes as codes
from sessions_app.errors.base import PipewebError, RequestRefused


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


class RunWaits(RunError):
    """Not a failure: the calls `indices` of the turn `turn` wait for a person until `expires_at`.

    `step` is the exchange of the round, `tools` are rows of the run's tools of servers.
    """

    def __init__(
        self, turn: int, indices: Sequence[int], expires_at: datetime, *, step: int, tools: Sequence[int]
    ) -> None:
        super().__init__("The run waits for a person.")
        self.turn, self.indices, self.expires_at = turn, indices, expires_at
        self.step, self.tools = step, tools


class RunEnded(RunError):
    def __init__(self) -> None:
        super().__init__("This run was ended by another process.")


class FilesNotUploaded(RunError):
    """`keys` are the public ids of the attachments."""

    def __init__(self, keys: Collection[str]) -> None:
        sentence = "Files of this conversation are not at the provider."
        super().__init__(sentence, hint="They are uploaded again when you ask again.")
        self.keys = tuple(keys)


class HistoryGone(RequestRefused, RunError):
    """The session is erased while its history is read."""


class BudgetSpent(RequestRefused, RunError):
    pass


class BudgetHeld(BudgetSpent):
    """Requests under way have reserved the rest of the budget: when they have ended it may go on."""


class LimitReached(RequestRefused, RunError):
    """`reason` is the name of the setting. Stored as kind "GuardRail" before 2026-11."""


class OverLimit(RequestRefused, RunError):
    """A limit of `context.personal_limits` is reached."""

    def __init__(
        self, reason: codes.RefusalCode, *, used: int, limit: int, seconds: int | None = None
    ) -> None:
        super().__init__(reason, used=used, limit=limit, seconds=seconds)
        self.seconds = seconds
