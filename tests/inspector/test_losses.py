"""What the provider stopped serving, by cause, on the list of a session's exchanges."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.losses import CauseLoss, losses_of
from sessions_app.models import Exchange, Session
from sessions_app.wording import verdicts
from tests.factories import finish, make_exchange, make_run


def lost(session: Session, verdict: str, tokens: int | None, usd: str | None) -> Exchange:
    amount = Decimal(usd) if usd is not None else None
    exchange = make_exchange(make_run(session), verdict=verdict, lost_tokens=tokens, lost_usd=amount)
    finish(exchange.run)
    return exchange


@pytest.fixture
def filled(session: Session) -> Session:
    lost(session, "layer_changed", 2_994, "0.00134730")
    lost(session, "layer_changed", 6, "0.00000270")
    lost(session, "hit", 0, "0")
    lost(session, "ttl_likely", 500, None)
    lost(session, "unknown", None, None)
    failed = lost(session, "unknown", None, None)
    Exchange.objects.filter(pk=failed.pk).update(prompt_tokens=None)
    return session


def test_losses_are_summed_by_cause_and_the_unknown_stays_unknown(filled: Session) -> None:
    found = losses_of(Exchange.objects.filter(session=filled))
    assert found.causes == [
        CauseLoss("layer_changed", 2, 3_000, Decimal("0.00135"), 0, 0),
        CauseLoss("ttl_likely", 1, 500, Decimal(0), 0, 1),
        CauseLoss("unknown", 1, 0, Decimal(0), 1, 0),
    ]
    assert [one.cost for one in found.causes] == ["$0.0014", "unknown", "unknown"]
    assert (found.tokens, found.cost) == (3_500, "≥\xa0$0.0014")


def test_the_sums_are_those_of_the_rows(filled: Session) -> None:
    rows = Exchange.objects.filter(session=filled)
    found = losses_of(rows)
    assert sum(one.usd for one in found.causes) == sum(row.lost_usd or 0 for row in rows)
    assert found.tokens == sum(row.lost_tokens or 0 for row in rows)


def test_the_list_shows_a_line_for_each_cause(client: Client, filled: Session) -> None:
    page = client.get(reverse("exchanges", args=[filled.public])).content.decode()
    table = page.partition('<details class="losses')[2].partition("</details>")[0]
    assert table.count("<tr>") == 4 and "3,500 tokens" in table
    assert all(verdicts.label(one) in table for one in ("layer_changed", "ttl_likely", "unknown"))


def test_without_a_loss_there_is_no_table(client: Client, session: Session) -> None:
    lost(session, "hit", 0, "0")
    assert "losses" not in client.get(reverse("exchanges", args=[session.public])).content.decode()


@pytest.mark.parametrize(("verdict", "tokens"), [("ttl_likely", 500), ("unknown", None)])
def test_a_sum_with_something_unknown_in_it_is_a_lower_bound(
    session: Session, verdict: str, tokens: int | None
) -> None:
    lost(session, "layer_changed", 3_000, "0.00135")
    assert losses_of(Exchange.objects.filter(session=session)).cost == "$0.0014"
    lost(session, verdict, tokens, None)
    assert losses_of(Exchange.objects.filter(session=session)).cost == "≥\xa0$0.0014"
