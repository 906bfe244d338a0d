"""Budgets of people, groups, everybody and the installation, and what side by side requests reserve."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import connections
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.audit.audit import audit_session
from sessions_app.audit.differences import Figure
from sessions_app.audit.reservations import audit_reservations
from sessions_app.context.allowances import SpendingRules, clear_rules, merged
from sessions_app.context.model_lookup import facts_of
from sessions_app.errors import BudgetHeld, BudgetSpent
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Allowance, Booking, Exchange, Reservation, Run, SearchPrice, Session
from sessions_app.panels import TOOLBOX
from sessions_app.prompt.bookings import SpendingCause
from sessions_app.prompt.pricing import BudgetScope, MoneySource
from sessions_app.runs import budgets
from sessions_app.runs.budgets import Spender, holding_money, most_of_request, reserve
from sessions_app.runs.money_source import EMULATOR_ENDPOINT
from sessions_app.runs.request import Endpoint, prepare
from sessions_app.runs.run_poller import erase_left_behind
from sessions_app.runs.runner import Runner
from sessions_app.runs.side_requests import SHORTEN, draft_summary
from sessions_app.runs.start import start_send
from tests.factories import MODEL, make_exchange, make_run, make_session
from tests.prices import make_price
from tests.runs.running import Provider, end_abandoned_runs, running, send

PAID = Endpoint("0123456789abcdef", "Gemini", "gemini", False, lambda model, body: body)
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

amounts = st.none() | st.decimals("0", "5", places=8)
rows = st.fixed_dictionaries({"usd_per_day": amounts, "usd_per_month": amounts})


@given(st.none() | rows, st.lists(rows, max_size=3), st.none() | rows, st.none() | rows)
def test_the_nearest_amount_holds_and_the_ceiling_beside_it(
    own: dict[str, Any] | None, groups: list[dict[str, Any]], site: dict[str, Any] | None, top: Any
) -> None:
    levels = [[own] if own else [], groups, [site] if site else []]
    keys: tuple[dict[str, Any], ...] = ({"owner_id": 1}, {"group_id": 1}, {"everybody": True})
    given_rows = [Allowance(**row, **key) for level, key in zip(levels, keys, strict=True) for row in level]
    found = merged([*given_rows, *([Allowance(is_ceiling=True, **top)] if top else [])])
    for name, said in (("usd_per_day", found.own.day), ("usd_per_month", found.own.month)):
        known = [[row[name] for row in level if row[name] is not None] for level in levels]
        assert said == next((max(level) for level in known if level), None)
    assert (found.ceiling.day, found.ceiling.month) == (
        (top["usd_per_day"], top["usd_per_month"]) if top else (None, None)
    )


@pytest.mark.django_db
def test_an_allowance_is_of_one_and_there_is_one_ceiling(alice: User) -> None:
    group = Group.objects.create(name="guests")
    for fields in ({"owner": alice, "group": group}, {"owner": alice, "is_ceiling": True}):
        with pytest.raises(ValidationError):
            Allowance(**fields).full_clean()
    Allowance.objects.create(is_ceiling=True, usd_per_day=Decimal("0.005"))
    with pytest.raises(ValidationError):
        Allowance(is_ceiling=True).full_clean()
    alice.groups.add(group)
    Allowance.objects.create(group=group, usd_per_day=Decimal("0.00000001"))
    scopes = {one.scope: one.limit for one in Spender.person(alice.pk).budgets()}
    assert scopes == {
        BudgetScope.TODAY: Decimal("0.00000001"),
        BudgetScope.INSTALLATION_TODAY: Decimal("0.005"),
    }


def book(owner: User, usd: str) -> None:
    day, source = timezone.now().date(), MoneySource.PROVIDER.value
    Booking.objects.book(
        Booking(owner=owner, day=day, model=MODEL, cause="answer", source=source, usd=Decimal(usd))
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("inexact", "told"),
    [
        ({}, (False, False)),
        ({"estimated": True}, (False, True)),
        ({"cut_off": True, "estimated": False}, (True, False)),
    ],
)
def test_a_budget_knows_whether_what_it_counts_is_exact(
    alice: User, bob: User, inexact: dict[str, bool], told: tuple[bool, bool]
) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, usd_per_month=2)
    Allowance.objects.create(is_ceiling=True, usd_per_day=3)
    session = make_session(alice, settings={"budget_usd": 5})
    day, source = timezone.now().date(), MoneySource.PROVIDER
    facts: dict[str, Any] = {"model": MODEL, "day": day, "usd": Decimal("0.5"), **inexact}
    Booking.objects.book(Booking.of(session, SpendingCause.ANSWER, source, None, **facts))
    session.refresh_from_db()
    found = Spender.of(session, session.options).budgets()
    assert len(found) == 4 and {(one.at_least, one.estimated) for one in found} == {told}
    (of_all,) = Spender.person(bob.pk).budgets()
    assert (of_all.at_least, of_all.estimated) == told


@pytest.mark.django_db
def test_nobodys_setting_passes_the_ceiling(alice: User, bob: User) -> None:
    Allowance.objects.create(is_ceiling=True, usd_per_month=1)
    Allowance.objects.create(owner=alice, usd_per_month=1_000)
    book(bob, "1")
    with pytest.raises(BudgetSpent) as refused:
        Spender.person(alice.pk).check("provider")
    assert refused.value.figures["scope"] == BudgetScope.INSTALLATION_MONTH


@pytest.mark.django_db
def test_without_any_budget_nothing_is_asked_and_nothing_reserved(
    alice: User, django_assert_num_queries: Any
) -> None:
    spender = Spender.person(alice.pk)
    assert spender.rules == SpendingRules()
    with django_assert_num_queries(0):
        assert spender.check("provider") == []
    assert reserve(spender, "provider", Decimal(1)) is None
    exchange = prepare(started(make_session(alice)), 1, PAID, TOOLBOX).exchange
    assert exchange.reserved_usd is None


@pytest.mark.django_db
def test_text_reserves_a_token_for_each_byte_and_a_file_as_much_as_the_model_reads() -> None:
    make_price(MODEL, input="0.5", output="3")
    limits = facts_of(MODEL)
    answer, whole = Decimal(3 * limits.output_limit) / 1_000_000, Decimal(limits.input_limit) / 2_000_000
    text = [b"x" * 1_500, b"y" * 500]
    assert most_of_request(MODEL, text) == Decimal("0.001") + answer
    assert most_of_request(MODEL, text, answers=2) == Decimal("0.001") + 2 * answer
    assert most_of_request(MODEL, text, reads_more=True) == whole + answer
    assert most_of_request(MODEL, [*text, b'{"fileData":{}}']) == whole + answer
    assert most_of_request(MODEL, [b"x" * (limits.input_limit + 1)]) == whole + answer


@pytest.mark.django_db
def test_what_has_no_price_reserves_nothing_and_a_search_costs_what_the_model_that_answers_takes() -> None:
    other, plain, search = "gemini-9-other", [b'[{"codeExecution":{}}]'], [b'[{"googleSearch":{} }]']
    assert most_of_request(other, search) == 0
    make_price(other)
    assert most_of_request(other, search) == most_of_request(other, plain) > 0
    day = timezone.now().date()
    SearchPrice.objects.create(model=other, valid_from=day, usd=100, per="query")
    spaced, quoted = [b'[{"googleSearch" :{}}]'], [rb'["\"googleSearch\": "]']
    assert {len(one[0]) for one in (search, plain, spaced, quoted)} == {22}
    without = most_of_request(MODEL, plain, other)
    assert [most_of_request(MODEL, one, other) - without for one in (search, spaced, quoted)] == [2, 2, 0]


@pytest.mark.django_db
def test_a_reservation_is_held_of_its_session_its_person_and_the_installation(alice: User, bob: User) -> None:
    for whose in ({"owner": alice}, {"owner": bob}, {"is_ceiling": True}):
        Allowance.objects.create(usd_per_day=5, **whose)
    own, other = (make_session(alice, settings={"budget_usd": 5}) for _ in range(2))
    reserve(Spender.of(own, own.options), "provider", Decimal(1))

    def held(spender: Spender) -> list[Decimal]:
        return [one.held for one in spender.budgets()]

    assert held(Spender.of(own, own.options)) == [1, 1, 1]
    assert held(Spender.of(other, other.options)) == [0, 1, 1]
    assert held(Spender.person(bob.pk)) == [0, 1]


@pytest.mark.django_db
@pytest.mark.parametrize("counts", [False, True])
def test_requests_to_the_emulator_reserve_and_wait_where_its_money_counts(alice: User, counts: bool) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1, counts_emulator=counts)
    spender, emulated = Spender.person(alice.pk), f"{EMULATOR_ENDPOINT}/{MODEL}"
    assert spender.pays_for(emulated) is counts and spender.pays_for("provider")
    assert (reserve(spender, emulated, Decimal(1)) is not None) is counts
    if not counts:
        reserve(spender, "provider", Decimal(1))
        assert spender.check(emulated)
    with pytest.raises(BudgetHeld):
        spender.check("provider")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("now", "renewed"),
    [(datetime(2026, 12, 31, 23, tzinfo=UTC), date(2027, 1, 1)), (NOON, date(2026, 12, 1))],
)
def test_a_month_counts_from_its_first_day_until_the_next_one(
    alice: User, monkeypatch: pytest.MonkeyPatch, now: datetime, renewed: date
) -> None:
    Allowance.objects.create(owner=alice, usd_per_month=9)
    first, source = now.date().replace(day=1), MoneySource.PROVIDER.value
    for day, usd in ((first - timedelta(days=1), 4), (first, 2), (now.date(), 1)):
        Booking.objects.book(
            Booking(owner=alice, day=day, model=MODEL, cause="answer", source=source, usd=Decimal(usd))
        )
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    (month,) = Spender.person(alice.pk).budgets()
    assert (month.spent, month.renewed_on) == (Decimal(3), renewed)


def started(session: Session) -> Run:
    run = start_send(session.pk, uuid.uuid4(), "Hello", "here")
    assert run is not None
    return run


@pytest.fixture
def many_threads() -> Iterator[ThreadPoolExecutor]:
    """Threads with database connections of their own, as processes have."""
    with ThreadPoolExecutor(6) as pool:
        yield pool


@pytest.mark.parametrize("is_ceiling", [False, True])
def test_processes_that_ask_at_the_same_moment_reserve_no_more_than_there_is(
    transactional_db: None, many_threads: ThreadPoolExecutor, alice: User, bob: User, is_ceiling: bool
) -> None:
    make_price(MODEL)
    people = [alice, bob] if is_ceiling else [alice]
    sessions = [make_session(people[n % len(people)]) for n in range(6)]
    runs = [started(session) for session in sessions]
    most = most_of_request(MODEL, [b"x" * 3_000])
    of = {"is_ceiling": True} if is_ceiling else {"owner": alice}
    Allowance.objects.create(usd_per_day=most * 2, **of)
    clear_rules()

    def outcome(run: Run) -> str:
        try:
            prepare(run, 1, PAID, TOOLBOX)
        except BudgetHeld:
            return "held"
        finally:
            connections.close_all()
        return "sent"

    found = list(many_threads.map(outcome, runs))
    reserved = list(Exchange.objects.values_list("reserved_usd", flat=True))
    assert found.count("sent") == len(reserved) < 6
    assert all(amount is not None for amount in reserved)
    known = [amount for amount in reserved if amount]
    assert sum(known) - max(known) < most * 2 <= sum(known)


LIMIT = Decimal("0.18")
"""Less than one request of these reserves, more than its answer costs."""


class Dear(Provider):
    """Each answer takes a while and costs $0.15 at the price of `make_price`."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.may_end.set()
        self.last = (
            b'{"candidates":[{"content":{"parts":[{"text":"Yes."}],"role":"model"},"finishReason":"STOP"}],'
            b'"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":50000,"totalTokenCount":50010}}'
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.has_begun.set()
        await asyncio.sleep(0.2)
        await self.may_end.wait()
        return await super().handle_async_request(request)


@pytest.fixture
def dear(transactional_db: None, alice: User, monkeypatch: pytest.MonkeyPatch) -> Dear:
    monkeypatch.setattr(budgets, "HELD_SECONDS", 0.05)
    make_price(MODEL)
    Allowance.objects.create(owner=alice, usd_per_day=LIMIT)
    return Dear()


@asynccontextmanager
async def processes(dear: Dear) -> AsyncIterator[list[Runner]]:
    async with (
        running(Gateway(api_key="test", transport=dear)) as one,
        running(Gateway(api_key="test", transport=dear)) as two,
    ):
        yield [one, two]


async def test_runs_beside_each_other_pass_a_budget_by_one_answer_in_total(dear: Dear, alice: User) -> None:
    sessions = [await sync_to_async(make_session)(alice) for _ in range(6)]
    async with processes(dear) as runners:
        for place, session in enumerate(sessions):
            await send(runners[place % 2], session, "Hello")
        for runner in runners:
            await runner.drain()
    await sync_to_async(assert_one_answer_too_many)(LIMIT)
    ended = [run.error.get("kind", run.status) async for run in Run.objects.all()]
    assert sorted(ended) == ["BudgetSpent"] * 4 + ["completed"] * 2


def assert_one_answer_too_many(limit: Decimal) -> None:
    """The oracle: the bookings themselves, none of the sums that are kept."""
    paid = [usd or Decimal(0) for usd in Booking.objects.values_list("usd", flat=True)]
    assert limit <= sum(paid) < limit + max(paid)
    assert not holding_money().exists() and not Reservation.objects.exists()


async def test_without_reservations_the_same_runs_would_pass_it_by_several(
    dear: Dear, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Spender, "pays_for", lambda spender, route: False)
    sessions = [await sync_to_async(make_session)(alice) for _ in range(3)]
    async with processes(dear) as runners:
        for session in sessions:
            await send(runners[0], session, "Hello")
        await runners[0].drain()
    with pytest.raises(AssertionError):
        await sync_to_async(assert_one_answer_too_many)(LIMIT)


async def test_a_draft_reserves_and_is_refused_beside_an_answer(dear: Dear, alice: User) -> None:
    sessions = [await sync_to_async(make_session)(alice) for _ in range(2)]
    async with processes(dear) as (runner, _):
        dear.may_end.clear()
        await send(runner, sessions[0], "Hello")
        await dear.has_begun.wait()
        with pytest.raises(BudgetHeld):
            await draft_summary(runner.gateway, sessions[1], [], SHORTEN)
        dear.may_end.set()
        await runner.drain()
        await draft_summary(runner.gateway, sessions[1], [], SHORTEN)
    await sync_to_async(assert_one_answer_too_many)(LIMIT)


@pytest.mark.django_db
def test_what_a_dead_process_had_reserved_is_free_when_its_run_ends(alice: User, tmp_path: Any) -> None:
    from sessions_app.runs.processes import ProcessLock

    make_price(MODEL)
    Allowance.objects.create(owner=alice, usd_per_day=Decimal("0.1"))
    run = started(make_session(alice))
    prepare(run, 1, PAID, TOOLBOX)
    with pytest.raises(BudgetHeld):
        prepare(started(make_session(alice)), 1, PAID, TOOLBOX)
    Run.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    lock = ProcessLock(tmp_path)
    end_abandoned_runs(lock)
    lock.release()
    assert not holding_money().exists()
    prepare(started(make_session(alice)), 1, PAID, TOOLBOX)


@pytest.mark.django_db
def test_a_reservation_beside_the_chats_ends_by_itself(alice: User) -> None:
    Allowance.objects.create(owner=alice, usd_per_day=1)
    left = reserve(Spender.person(alice.pk), "provider", Decimal(2))
    assert left is not None and list(audit_reservations()) == []
    with pytest.raises(BudgetHeld):
        reserve(Spender.person(alice.pk), "provider", Decimal(2))
    Reservation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert len(list(audit_reservations())) == 1
    assert Spender.person(alice.pk).check("provider")
    erase_left_behind()
    assert not Reservation.objects.exists()


@pytest.mark.django_db
def test_an_exchange_that_is_over_holds_nothing_and_the_audit_tells_one_whose_run_is(alice: User) -> None:
    session = make_session(alice)
    exchange = make_exchange(make_run(session), reserved_usd=1)
    assert exchange.ended_at and not holding_money().exists()
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None)
    assert holding_money().exists() and not lingering(session)
    Run.objects.update(status=Run.Status.FAILED)
    assert not holding_money().exists() and lingering(session)


def lingering(session: Session) -> bool:
    return Figure.RESERVED_USD in {one.figure for one in audit_session(session.pk, "one")}
