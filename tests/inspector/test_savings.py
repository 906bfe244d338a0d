"""What would have saved money, on the list of exchanges and on a page of its own."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from sessions_app.inspector.savings import SHOWN, savings_in, shown_savings
from sessions_app.models import Exchange, Session
from sessions_app.prompt.prefix_diff import BreakKind, BreakLine
from sessions_app.prompt.saving_causes import SavingCause
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.wording import savings as wording
from tests.factories import finish, make_exchange, make_run, make_session
from tests.prices import make_price

SEEN = Comparison(1, 900, 1_000, was_prompt=1_000, idle_seconds=2_520)
TODOS = BreakLine(BreakKind.CHANGED, "dynamic", "panel:todos", 0, None, "", "", "")

LOST = {
    VerdictReason.LAYER_CHANGED: ("0.03", SavingCause.CONTEXT_FIRST),
    VerdictReason.TIME_PASSED: ("0.02", SavingCause.IMPLICIT_LIFE),
    VerdictReason.OTHER_MODEL: ("0.04", SavingCause.OTHER_MODEL),
    VerdictReason.OTHER_SETTINGS: ("0.01", SavingCause.SETTINGS),
}


def lose(
    session: Session,
    reason: VerdictReason,
    usd: str | None,
    tokens: int | None = 500,
    seen: Comparison = SEEN,
) -> Exchange:
    """An exchange with such a loss, after another one."""
    verdict = Verdict(reason, seen, 0, 1_204, 1_024)
    line = TODOS.stored() if reason is VerdictReason.LAYER_CHANGED else {}
    exchange = make_exchange(
        make_run(session),
        verdict=verdict.code,
        verdict_figures=verdict.stored(),
        break_line=line,
        lost_tokens=tokens,
        lost_usd=Decimal(usd) if usd is not None else None,
    )
    finish(exchange.run)
    return exchange


@pytest.fixture
def filled(session: Session) -> Session:
    for reason, (usd, _) in LOST.items():
        lose(session, reason, usd)
    return session


def page(client: Client, session: Session, **headers: str) -> str:
    address = reverse("session-savings", args=[session.public])
    return client.get(address, headers=headers).content.decode()


def test_the_list_has_a_place_that_is_filled_when_it_is_opened(client: Client, filled: Session) -> None:
    shown = client.get(reverse("exchanges", args=[filled.public])).content.decode()
    address = reverse("session-savings", args=[filled.public])
    assert f'hx-get="{address}"' in shown and f'<a href="{address}">' in shown


def test_the_three_largest_causes_are_shown_with_their_exchanges(client: Client, filled: Session) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        shown = page(client, filled, **headers)
        assert ("<html" in shown) == (not headers)
        table = shown.partition("<tbody>")[2].partition("</tbody>")[0]
        largest = [SavingCause.OTHER_MODEL, SavingCause.CONTEXT_FIRST, SavingCause.IMPLICIT_LIFE]
        places = [table.index(wording.title(cause)) for cause in largest]
        assert places == sorted(places) and table.count("<tr>") == SHOWN
        for number in (1, 2, 3):
            assert reverse("exchange", args=[filled.public, number]) + "?tab=diff" in table
        assert "Panel “todos” changed before the history in 1 of 4 requests" in table
        assert "42 minutes" in table


def test_the_rest_and_the_sum_are_told(filled: Session) -> None:
    found = shown_savings(filled, timezone.now())
    assert found.others == wording.others(1, "$0.0100")
    assert found.total == wording.total("$0.1000", 2_000)
    assert found.remarks == [wording.SUMS["requests"]]


def test_the_sums_are_those_of_the_rows(filled: Session) -> None:
    found = savings_in(filled, timezone.now())
    rows = Exchange.objects.filter(session=filled)
    assert found.usd == sum(row.lost_usd or 0 for row in rows)
    assert found.tokens == sum(row.lost_tokens or 0 for row in rows)
    assert {one.cause for one in found.causes} == {cause for _, cause in LOST.values()}


def test_only_what_was_counted_in_this_session_is_summed(filled: Session) -> None:
    lose(make_session(filled.owner), VerdictReason.OTHER_MODEL, "0.5")
    refused = lose(filled, VerdictReason.NEAR_MINIMUM, None, tokens=None)
    Exchange.objects.filter(pk=refused.pk).update(prompt_tokens=None)
    not_judged = lose(filled, VerdictReason.OTHER_MODEL, "0.5")
    Exchange.objects.filter(pk=not_judged.pk).update(verdict="")
    found = savings_in(filled, timezone.now())
    assert (found.answered, found.unknown) == (4, 0)
    assert (found.tokens, found.usd) == (2_000, Decimal("0.1"))


def test_what_is_not_known_stays_unknown(client: Client, filled: Session) -> None:
    lose(filled, VerdictReason.TIME_PASSED, None)
    lose(filled, VerdictReason.NEAR_MINIMUM, None, tokens=None)
    shown = page(client, filled)
    assert "All in all ≥\xa0$0.1000" in shown and "What 1 of 6 requests lost is not known" in shown
    assert shown.partition('id="parts-title"')[0].count('<p class="muted">') == 3


def test_without_prices_there_are_tokens_only(client: Client, session: Session) -> None:
    lose(session, VerdictReason.TIME_PASSED, None)
    shown = page(client, session)
    assert "500" in shown and "unknown" in shown and "$" not in shown.partition("<tbody>")[2]


def test_nothing_lost_is_said_plainly(client: Client, session: Session) -> None:
    assert wording.SUMS["nothing_sent"] in page(client, session)
    lose(session, VerdictReason.NAMED, "0", tokens=0)
    assert wording.SUMS["nothing"] in page(client, session)


def test_what_could_have_been_reused_stands_beside_what_was_lost(client: Client, session: Session) -> None:
    """A panel before the history changes in each request, so that nothing of it was ever cached."""
    lose(
        session,
        VerdictReason.LAYER_CHANGED,
        "0",
        tokens=0,
        seen=replace(SEEN, was_prompt=1_100, idle_seconds=9),
    )
    shown = page(client, session)
    assert wording.SUMS["nothing"] in shown and "What could have been reused besides" in shown
    table = shown.partition("<tbody>")[2]
    assert "Panel “todos” changed before the history in 1 of 1 requests" in table and "1,100" in table
    assert "≤" not in table, "without a price nobody knows"
    assert wording.SUMS["emulated"] not in shown
    Session.objects.filter(pk=session.pk).update(spent_usd=1, emulated_usd=1)
    assert wording.SUMS["emulated"] in page(client, session)


def test_what_was_lost_is_not_missed_as_well_and_is_at_most(session: Session) -> None:
    """Of 1,100 tokens that could have come from a cache 500 did until now: the rest is beside that loss."""
    exchange = lose(
        session, VerdictReason.LAYER_CHANGED, "0.01", seen=replace(SEEN, was_prompt=1_100, idle_seconds=9)
    )
    assert shown_savings(session, timezone.now()).missed[0].tokens == 600
    Exchange.objects.filter(pk=exchange.pk).update(price=make_price(exchange.model, input="1", cached="0.1"))
    found = shown_savings(session, timezone.now())
    assert found.rows[0].cost == "$0.0100" and found.missed[0].cost.startswith("≤")
    assert found.missed_total and not shown_savings(make_session(session.owner), timezone.now()).missed_total


def test_the_emulator_is_not_named_where_nothing_is_told(session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(spent_usd=1, emulated_usd=1)
    session.refresh_from_db()
    assert wording.SUMS["emulated"] not in shown_savings(session, timezone.now()).remarks


def test_the_emulators_money_is_called_so(client: Client, filled: Session) -> None:
    Session.objects.filter(pk=filled.pk).update(spent_usd=1, emulated_usd=1)
    assert wording.SUMS["emulated"] in page(client, filled)


def test_nobody_else_sees_it(client: Client, bob: User) -> None:
    theirs = make_session(bob)
    assert client.get(reverse("session-savings", args=[theirs.public])).status_code == 404


def test_the_number_of_queries_does_not_grow(session: Session) -> None:
    counted = []
    for _ in range(2):
        for reason, (usd, _) in LOST.items():
            lose(session, reason, usd)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            shown_savings(session, timezone.now())
        counted.append(len(queries))
    assert counted[0] == counted[1] <= 6
