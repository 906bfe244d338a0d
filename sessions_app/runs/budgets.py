"""Budgets of sessions, people and the installation, and the money that requests reserve of them.

A request reserves the most that it may cost in the transaction that writes its exchange, and is sent only
where what is spent and reserved leaves something: so a budget is passed by one answer at most, however many
run side by side. What is reserved holds until the exchange ends, with its booking or without one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DecimalField, F, Q, QuerySet, Subquery
from django.utils import timezone

from sessions_app.context.allowances import WARN_PERCENT, Amounts, SpendingRules, rules_of
from sessions_app.context.model_lookup import facts_of, price_now
from sessions_app.error_codes import RefusalCode
from sessions_app.errors import BudgetHeld, BudgetSpent
from sessions_app.models import Allowance, Exchange, Reservation, Run, Session, SessionSettings, Spending
from sessions_app.models.personal_limits import lock_person
from sessions_app.prompt import pricing
from sessions_app.prompt.parts import holds_media
from sessions_app.prompt.payload import Payload
from sessions_app.prompt.pricing import Budget, BudgetScope, MoneySource
from sessions_app.runs.money_source import source_of_route
from sessions_app.runs.serving import search_price_of_served, serving_model
from sessions_app.wording import budgets

HELD_SECONDS = 1.0
"""After which a request that waits for the end of others looks again."""

Prepared = TypeVar("Prepared")

BOOKED = F("usd") + F("cache_usd") + F("storage_usd")

INEXACT = {"missing": F("unpriced") + F("cut_off"), "estimates": F("estimates")}
"""Counts of requests that cost more than is known, and less or more, in the rows of days and of sessions."""

AMOUNT_FIELD: "DecimalField[Decimal, Decimal]" = DecimalField(max_digits=16, decimal_places=8)


RESERVED_SEARCHES = 20
"""Searches reserved for an answer; recorded ones took six at most, and the provider documents no bound."""

_SEARCH_KEYS = (b'"googleSearch"', b'"google_search"')
"""Without the colon, before which a program may write a space. Inside of a text the quotes are escaped."""


@dataclass(frozen=True, slots=True)
class Spender:
    """Whose budgets apply to a request: those of a person, and that of a session with one."""

    owner_id: int
    rules: SpendingRules
    session_id: int | None = None
    session_usd: Decimal | None = None

    @classmethod
    def of(cls, session: Session, options: SessionSettings) -> "Spender":
        own = None if options.budget_usd is None else Decimal(str(options.budget_usd))
        return cls(session.owner_id, rules_of(session.owner_id), session.pk, own)

    @classmethod
    def person(cls, owner_id: int) -> "Spender":
        return cls(owner_id, rules_of(owner_id))

    @property
    def has_budget(self) -> bool:
        return bool(self.rules) or self.session_usd is not None

    def pays_for(self, route: str) -> bool:
        """Whether any of its budgets counts requests over this route."""
        is_emulated = source_of_route(route) is MoneySource.EMULATOR
        return self.has_budget and (self.rules.counts_emulator or not is_emulated)

    def budgets(self) -> list[Budget]:
        """One query, none without a budget. The session's first, then the person's."""
        if not self.has_budget:
            return []
        sums = _sums_of(self)
        today = timezone.now().date()
        renewed = today + timedelta(days=1), (today.replace(day=1) + timedelta(days=32)).replace(day=1)
        found = []
        if self.session_usd is not None:
            held, doubts = sums["session_held"], _doubts(sums, "session")
            found.append(
                Budget(
                    BudgetScope.SESSION, self.session_usd, sums["session"], WARN_PERCENT, None, held, *doubts
                )
            )
        for amounts, name, scopes in (
            (self.rules.own, "own", (BudgetScope.TODAY, BudgetScope.THIS_MONTH)),
            (self.rules.ceiling, "all", (BudgetScope.INSTALLATION_TODAY, BudgetScope.INSTALLATION_MONTH)),
        ):
            for scope, limit, period, anew in zip(
                scopes, (amounts.day, amounts.month), ("day", "month"), renewed, strict=True
            ):
                if limit is not None:
                    spent, held = sums[f"{name}_{period}"], sums[f"{name}_held"]
                    doubts = _doubts(sums, f"{name}_{period}")
                    found.append(Budget(scope, limit, spent, amounts.warn_percent, anew, held, *doubts))
        return found

    def check(self, route: str) -> list[Budget]:
        """The budgets, of which none is spent, or held where requests over this route count.

        Raises BudgetSpent, BudgetHeld.
        """
        found = self.budgets()
        for budget in found:
            if budget.is_spent:
                raise BudgetSpent(RefusalCode.BUDGET_SPENT, **budget.stored())
        for budget in found:
            if budget.is_held and self.pays_for(route):
                raise BudgetHeld(RefusalCode.BUDGET_HELD, **budget.stored())
        return found

    def lock(self) -> None:
        """Inside a transaction: whoever else reserves of these budgets waits for its end.

        SQLite needs no locks of rows: its transactions begin with the lock on the database.
        """
        lock_person(self.owner_id)
        if self.rules.ceiling:
            Allowance.objects.lock_ceiling()


def reserve(spender: Spender, route: str, usd: Decimal) -> Reservation | None:
    """Reserves for a request that is no exchange; None without a budget that counts it.

    Raises BudgetSpent, BudgetHeld.
    """
    with transaction.atomic():
        if spender.pays_for(route):
            spender.lock()
        spender.check(route)
        if not spender.pays_for(route):
            return None
        return Reservation.objects.create(owner_id=spender.owner_id, session_id=spender.session_id, usd=usd)


async def until_free(
    prepare: Callable[[], Awaitable[Prepared]],
    place: AbstractAsyncContextManager[Any],
    say: Callable[[str], None],
) -> Prepared:
    """What `prepare` gives, as soon as no answer beside it may use up a budget. Raises what it raises."""
    while True:
        try:
            async with place:
                return await prepare()
        except BudgetHeld as held:
            say(budgets.waits(Budget.restored(held.figures)))
        await asyncio.sleep(HELD_SECONDS)


def most_of_payload(payload: Payload, served: str) -> Decimal:
    """The most that a request may cost, with what its cache holds."""
    return most_of_request(payload.model, [item.wire for item in payload.items], served)


def most_of_request(
    model: str, bodies: Sequence[bytes], served: str = "", *, reads_more: bool = False, answers: int = 1
) -> Decimal:
    """A token of text has a byte at least; a file, or what else it `reads_more`, may have as many as the
    model reads. What a model writes, thoughts included, has its limit. 0 for a model without a price, which
    no budget counts.
    """
    today = timezone.now().date()
    facts = facts_of(model, served, day=today)
    price = price_now(serving_model(model, served, today), today, family=facts.family)
    if price is None:
        return Decimal(0)
    size = sum(map(len, bodies))
    is_bounded = not reads_more and not any(map(holds_media, bodies))
    prompt = min(size, facts.input_limit) if is_bounded else facts.input_limit
    tokens = pricing.most_of(prompt, answers * facts.output_limit, price.rates(prompt))
    return tokens + answers * _most_of_searches(model, served, today, bodies)


def _most_of_searches(model: str, served: str, day: date, bodies: Sequence[bytes]) -> Decimal:
    """A query of the database only for a request that lets the model search."""
    if not any(search in body for body in bodies for search in _SEARCH_KEYS):
        return Decimal(0)
    price = search_price_of_served(model, served, day)
    return price.counted(RESERVED_SEARCHES) * price.usd / 1_000 if price else Decimal(0)


def holding_money() -> QuerySet[Exchange]:
    """The exchanges whose reservation counts: open ones of a run that is not over."""
    return Exchange.objects.filter(ended_at=None, reserved_usd__gt=0, run__status__in=Run.ACTIVE)


def _sums_of(spender: Spender) -> dict[str, Decimal]:
    """The sums that the budgets need, by name: one query."""
    today = timezone.now().date()
    exchanges, reservations = holding_money(), Reservation.objects.held()
    wanted: dict[str, Any] = {}
    for name, amounts, of_owner in (
        ("own", spender.rules.own, {"owner_id": spender.owner_id}),
        ("all", spender.rules.ceiling, {}),
    ):
        if amounts:
            booked = Spending.objects.filter(_counted(amounts), **of_owner)
            for period, since in (("day", today), ("month", today.replace(day=1))):
                of_period = booked.order_by().filter(day__gte=since)
                wanted[f"{name}_{period}"] = Total(of_period.values(amount=BOOKED))
                wanted |= _inexact(f"{name}_{period}", of_period)
            open_ones = exchanges.filter(**{f"session__{key}": value for key, value in of_owner.items()})
            wanted[f"{name}_held"] = _held(open_ones, reservations.filter(**of_owner))
    if spender.session_usd is not None:
        of_session = {"session_id": spender.session_id}
        rows = Session.objects.filter(pk=spender.session_id or 0)
        amount = F("spent_usd") if spender.rules.own.counts_emulator else F("spent_usd") - F("emulated_usd")
        wanted["session"] = Total(rows.values(amount=amount))
        wanted |= _inexact("session", rows)
        wanted["session_held"] = _held(exchanges.filter(**of_session), reservations.filter(**of_session))
    found = User.objects.filter(pk=spender.owner_id).values_list(*wanted.values())[0]
    return dict(zip(wanted, found, strict=True))


def _inexact(name: str, rows: QuerySet[Any]) -> dict[str, "Total"]:
    return {f"{name}_{kind}": Total(rows.values(amount=count)) for kind, count in INEXACT.items()}


def _doubts(sums: Mapping[str, Decimal], name: str) -> list[bool]:
    """`Budget.at_least` and `Budget.estimated`."""
    return [sums[f"{name}_{kind}"] > 0 for kind in INEXACT]


class Total(Subquery):
    """The sum of the column `amount` of a query, 0 for no rows."""

    template = "(SELECT COALESCE(SUM(summed.amount), 0) FROM (%(subquery)s) AS summed)"
    output_field = AMOUNT_FIELD


def _held(exchanges: QuerySet[Exchange], reservations: QuerySet[Reservation]) -> Any:
    open_ones = Total(exchanges.order_by().values(amount=F("reserved_usd")))
    return open_ones + Total(reservations.order_by().values(amount=F("usd")))


def _counted(amounts: Amounts) -> Q:
    """What these budgets count: what the installation pays, and the emulator's where they say so."""
    paid = ~Q(source__in=(MoneySource.EMULATOR, MoneySource.CLIENT))
    return paid | Q(source=MoneySource.EMULATOR) if amounts.counts_emulator else paid
