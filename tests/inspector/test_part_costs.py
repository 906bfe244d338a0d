"""What each part of a session's prompts has cost, on the page of what would have saved money."""

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from sessions_app.inspector import part_costs
from sessions_app.models import Exchange, Session
from sessions_app.prompt.pricing import Money, MoneySource, PriceTerm, TermKind
from sessions_app.wording.costs import BOUNDS
from sessions_app.wording.savings import PARTS_OF, SUMS
from tests.factories import make_history, make_session

RATES = {TermKind.NEW: Decimal("0.5"), TermKind.CACHED: Decimal("0.05")}
TOKENS = {TermKind.NEW: 180, TermKind.CACHED: 1_024}
"""Of each prompt of the factory: 1,204 tokens."""

PROMPT = sum((TOKENS[kind] * RATES[kind] for kind in RATES), Decimal(0)) / 1_000_000


def pay(*exchanges: Exchange, source: MoneySource = MoneySource.PROVIDER) -> None:
    terms = tuple(PriceTerm(kind, TOKENS[kind], RATES[kind]) for kind in RATES)
    money = Money((*terms, PriceTerm(TermKind.OUTPUT, 96, Decimal(3))), source=source)
    for exchange in exchanges:
        exchange.money = money.stored()
        exchange.save(update_fields=["money"])


def page(client: Client, session: Session) -> str:
    return client.get(reverse("session-savings", args=[session.public])).content.decode()


def test_every_part_has_a_row_and_the_rows_sum_up_to_the_prompts(client: Client, session: Session) -> None:
    pay(*make_history(session, 3))
    shown = part_costs.shown_parts(session)
    named = {row.name for row in shown.rows}
    assert named >= {"Static template", "Turns", "Panel “todos”", "Tool declarations"}
    assert sum(row.cached for row in shown.rows) == 3 * TOKENS[TermKind.CACHED]
    assert sum(row.new for row in shown.rows) == 3 * TOKENS[TermKind.NEW]
    costs = [Decimal(row.cost.removeprefix("$")) for row in shown.rows]
    assert sum(costs) == pytest.approx(3 * PROMPT, rel=Decimal("0.05"))
    assert shown.told == PARTS_OF["all"].format(read=3) and shown.told in page(client, session)


def test_what_has_no_price_is_a_bound_and_the_emulators_money_is_named(session: Session) -> None:
    first, second, _ = make_history(session, 3)
    pay(first)
    pay(second, source=MoneySource.EMULATOR)
    (turns,) = (row for row in part_costs.shown_parts(session).rows if row.layer == "trigger")
    assert (turns.name, turns.requests) == ("Turns", 3)
    assert turns.cost.startswith("≥") and "would have cost" in turns.cost


def test_what_only_the_emulator_counted_says_so_once(client: Client, session: Session) -> None:
    pay(*make_history(session, 2), source=MoneySource.EMULATOR)
    shown = part_costs.shown_parts(session)
    assert shown.remark == SUMS["emulated"] and shown.remark in page(client, session)
    assert all(row.cost.startswith("$") for row in shown.rows)


@pytest.mark.parametrize("source", [MoneySource.PROVIDER, MoneySource.EMULATOR])
@pytest.mark.parametrize(
    ("money", "usage", "mark"),
    [
        ({}, {}, "exact"),
        ({"at_least": True}, {}, "at_least"),
        ({"other_price": True, "at_least": True}, {}, "estimated"),
        # An earlier version did not keep that another price may hold.
        ({"at_least": True}, {"serviceTier": "flex"}, "estimated"),
    ],
)
def test_shares_carry_the_mark_of_their_requests(
    session: Session, source: MoneySource, money: dict[str, Any], usage: dict[str, Any], mark: str
) -> None:
    first, second = make_history(session, 2)
    pay(first, second, source=source)
    Exchange.objects.filter(pk=second.pk).update(money=second.money | money, usage=usage)
    rows = [row for row in part_costs.shown_parts(session).rows if row.requests == 2]
    assert rows and all(row.cost.startswith(f"{BOUNDS[mark]}$") for row in rows)


def test_only_what_was_counted_of_this_session_and_is_kept_is_in_it(session: Session) -> None:
    counted, uncounted, purged = make_history(session, 3)
    make_history(make_session(session.owner), 2)
    Exchange.objects.filter(pk=uncounted.pk).update(prompt_tokens=None)
    Exchange.objects.filter(pk=purged.pk).update(manifest={})
    shown = part_costs.shown_parts(session)
    assert shown.told == PARTS_OF["one"] and {row.requests for row in shown.rows} == {1}
    assert sum(row.new + row.cached for row in shown.rows) == counted.prompt_tokens


@pytest.mark.parametrize("is_priced", [True, False])
def test_what_a_provider_was_paid_for_is_not_called_the_emulators(session: Session, is_priced: bool) -> None:
    """Also where only a part of it was, or its price is not known."""
    first, second = make_history(session, 2)
    pay(first, source=MoneySource.EMULATOR)
    if is_priced:
        pay(second)
    assert part_costs.shown_parts(session).remark == ""


def test_the_newest_requests_are_read_and_it_says_how_many(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = make_history(session, 4)[-1]
    pay(newest)
    monkeypatch.setattr(part_costs, "ITEMS_READ", 15)
    shown = part_costs.shown_parts(session)
    assert any("$" in row.cost for row in shown.rows)
    assert shown.told == PARTS_OF["newest"].format(read=2, counted=4)


def test_nothing_counted_is_said(client: Client, session: Session) -> None:
    shown = page(client, session)
    assert PARTS_OF["none"] in shown and SUMS["emulated"] not in shown


def test_a_long_session_takes_no_more_queries(
    session: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_history(session, 6)
    with django_assert_num_queries(3):
        part_costs.shown_parts(session)
