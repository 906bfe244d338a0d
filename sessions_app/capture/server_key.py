"""Calls with the key of the installation: where an address allows that, within its owner's budgets."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from django.db import Error, connections

from sessions_app.capture.lookups import Lookup
from sessions_app.context.api_key import keys
from sessions_app.context.personal_limits import limits_of
from sessions_app.context.storage import check_storage
from sessions_app.database import close_unusable_connections
from sessions_app.error_codes import CaptureFault
from sessions_app.errors import BudgetHeld, BudgetSpent, OverLimit, RelayRefused
from sessions_app.models import Reservation
from sessions_app.runs.budgets import Spender, most_of_request, reserve
from sessions_app.runs.money_source import EMULATOR_ENDPOINT

Found = TypeVar("Found")

REMEMBERED_SECONDS = 3.0
"""For so long a new or changed limit may be late."""

PAID_ROUTE = "provider"
"""Stands for any route but the emulator's: what a call over it costs is paid."""

NAMES_CACHE = re.compile(rb'"cached_?[cC]ontent"')
MOST_CANDIDATES = 8
"""Answers that a request may ask for at once."""

ASKS_SEVERAL = re.compile(rb'"candidate_?[cC]ount"')


class Grant(NamedTuple):
    """The key, and the calls that the owner may have under way with it. `has_budget`: each call reserves."""

    key: str
    at_once: int
    has_budget: bool = False


def read_grant(owner: int) -> Grant | CaptureFault:
    """The same limits and budgets as those of the owner's chats: three queries."""
    limits, spender = limits_of(owner), Spender.person(owner)
    if not (limits.runs_at_once and limits.sends_per_minute):
        return CaptureFault.NO_ALLOWANCE
    if any(budget.is_spent for budget in spender.budgets()):
        return CaptureFault.OVER_BUDGET
    key = keys.current().text
    return Grant(key, limits.runs_at_once, spender.has_budget) if key else CaptureFault.NO_SERVER_KEY


def reserve_call(owner: int, model: str, body: bytes, route: str) -> int | CaptureFault | None:
    """The key of a reservation, None where no budget counts the call."""
    usd = most_of_request(
        model,
        [body],
        reads_more=NAMES_CACHE.search(body) is not None,
        answers=MOST_CANDIDATES if ASKS_SEVERAL.search(body) else 1,
    )
    try:
        check_storage(owner, len(body))
        made = reserve(Spender.person(owner), route, usd)
    except OverLimit:
        return CaptureFault.NOT_BOOKED
    except BudgetHeld:
        return CaptureFault.BUDGET_HELD
    except BudgetSpent:
        return CaptureFault.OVER_BUDGET
    return made.pk if made else None


def release_call(reservation: int) -> None:
    """Releases what was reserved for a call that is not sent."""
    Reservation.objects.filter(pk=reservation).delete()


class ServerKeys:
    """Grants and reservations, read for the relay. Nothing is spent while the database does not answer."""

    def __init__(self, read: Callable[[int], Grant | CaptureFault] = read_grant) -> None:
        self._lookup = Lookup(read, "budgets", REMEMBERED_SECONDS)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeweb-capture-reservations")

    async def grant(self, owner: int) -> Grant:
        """Raises RelayRefused."""
        try:
            found = await self._lookup.get(owner)
        except Error:
            raise RelayRefused(CaptureFault.BUDGET_UNCHECKED) from None
        if isinstance(found, CaptureFault):
            raise RelayRefused(found)
        return found

    async def reserve(self, owner: int, model: str, body: bytes, *, is_emulated: bool) -> int | None:
        """The key of a reservation for what one call may cost at most. Raises RelayRefused."""
        route = EMULATOR_ENDPOINT if is_emulated else PAID_ROUTE
        try:
            found = await self._in_thread(partial(reserve_call, owner, model, body, route))
        except Error:
            raise RelayRefused(CaptureFault.BUDGET_UNCHECKED) from None
        if isinstance(found, CaptureFault):
            raise RelayRefused(found)
        return found

    async def release(self, reservation: int) -> None:
        """Where the database does not answer, the reservation expires."""
        with suppress(Error):
            await self._in_thread(partial(release_call, reservation))

    async def close(self) -> None:
        await self._lookup.close()
        await asyncio.get_running_loop().run_in_executor(self._thread, connections.close_all)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, _connected, work)


def _connected(work: Callable[[], Found]) -> Found:
    close_unusable_connections()
    return work()
