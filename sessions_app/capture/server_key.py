"""Calls with the key of the installation: where an address allows that, within its owner's budgets."""

from collections.abc import Callable
from typing import NamedTuple

from django.db import Error

from sessions_app.capture.lookups import Lookup
from sessions_app.context.api_key import keys
from sessions_app.context.personal_limits import limits_of
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import RelayRefused
from sessions_app.runs.limits import personal_budgets

REMEMBERED_SECONDS = 3.0
"""For so long a budget may go on to allow calls after it was spent, as parallel answers do."""


class Grant(NamedTuple):
    """The key, and the calls that the owner may have under way with it."""

    key: str
    at_once: int


def read_grant(owner: int) -> Grant | CaptureFault:
    """The same limits and budgets as those of the owner's chats: two queries."""
    limits = limits_of(owner)
    if not (limits.runs_at_once and limits.sends_per_minute):
        return CaptureFault.NO_ALLOWANCE
    if any(budget.is_spent for budget in personal_budgets(owner)):
        return CaptureFault.OVER_BUDGET
    key = keys.current().text
    return Grant(key, limits.runs_at_once) if key else CaptureFault.NO_SERVER_KEY


class ServerKeys:
    """Where the database does not answer nothing is spent."""

    def __init__(self, read: Callable[[int], Grant | CaptureFault] = read_grant) -> None:
        self._lookup = Lookup(read, "budgets", REMEMBERED_SECONDS)

    async def grant(self, owner: int) -> Grant:
        """Raises RelayRefused."""
        try:
            found = await self._lookup.get(owner)
        except Error:
            raise RelayRefused(CaptureFault.BUDGET_UNCHECKED) from None
        if isinstance(found, CaptureFault):
            raise RelayRefused(found)
        return found

    async def close(self) -> None:
        await self._lookup.close()
