from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from sessions_app.errors import ProviderDown
from sessions_app.inspector.exchange_header import end_of, header_of, price_of
from sessions_app.inspector.received import Received
from sessions_app.inspector.tabs import TABS
from sessions_app.models import Exchange, Run, Session, Turn
from sessions_app.prompt.caching import PlanReason
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.remarks import Remark, RemarkCode
from sessions_app.prompt.reply import Outcome, fold
from sessions_app.runs.accounting import account_for
from sessions_app.wording import outcomes, verdicts
from tests.factories import USAGE, answered, finish, make_exchange, make_run, make_session, text_chunk
from tests.inspector.reading import read
from tests.prices import make_price

PRICE = Decimal("0.0021")
FLEX = {"serviceTier": "flex"}


@pytest.fixture
def accounted(session: Session) -> Exchange:
    """An exchange with what an answer's accounting writes down, after another one."""
    make_price(session.model)
    first = answered(session, "Hello", "Hi")
    exchange = make_exchange(make_run(session), previous=first)
    account_for(exchange, fold([text_chunk("On time.", usage=USAGE)]))
    exchange.save()
    finish(exchange.run)
    return exchange


@pytest.mark.parametrize("tab", [tab.id for tab in TABS])
def test_the_verdict_is_said_once_whatever_tab_is_open(client: Client, accounted: Exchange, tab: str) -> None:
    facts = verdicts.two_facts(accounted.found_verdict)
    page = read(client, accounted, tab)
    for fact in filter(None, facts):
        assert page.count(escape(fact)) == 1


def test_the_price_stands_beside_the_tokens(client: Client, accounted: Exchange) -> None:
    price = header_of(accounted).price
    assert price.startswith("$0.0")
    assert f'40 thoughts <span class="price">{price}</span>' in read(client, accounted)


@pytest.mark.parametrize(
    ("fields", "price"),
    [
        ({"usd": PRICE}, "$0.0021"),
        ({"usd": PRICE, "money": Money((), at_least=True).stored()}, "at least $0.0021"),
        ({"usd": PRICE, "money": Money((), estimated=True).stored()}, "about $0.0021"),
        ({"usd": None}, "price unknown"),
        ({"usd": None, "first_chunk_ms": None, "prompt_tokens": None}, ""),
        ({"usd": None, "prompt_tokens": None}, "nothing was counted"),
        ({"usd": PRICE, "usage": FLEX, "money": Money(()).stored()}, "$0.0021 at the standard text price"),
    ],
)
def test_a_price_says_how_sure_it_is(session: Session, fields: dict[str, Any], price: str) -> None:
    exchange = answered(session, "Hello", "Hi")
    for name, value in fields.items():
        setattr(exchange, name, value)
    assert price_of(exchange) == price


@pytest.mark.parametrize(
    ("settings", "count"),
    [({"candidateCount": 2}, 2), ({"candidate_count": 3}, 3), ({}, 1), (None, 1), ([], 1)],
)
def test_a_request_for_several_candidates_says_so(session: Session, settings: Any, count: int) -> None:
    exchange = answered(session, "Hello", "Hi")
    exchange.manifest |= {"settings": settings}
    assert header_of(exchange).candidates == outcomes.candidates_asked(count)


def test_the_exchanges_beside_it_are_those_of_its_session(session: Session) -> None:
    longer = make_session(session.owner)
    for one, count in ((longer, 5), (session, 3)):
        for _ in range(count):
            answered(one, "Hello", "Hi")
    session.exchanges.filter(number=2).delete()
    session.refresh_from_db()
    headers = [header_of(one) for one in session.exchanges.all()]
    assert [(one.previous, one.following) for one in headers] == [(None, None), (None, None)]
    answered(session, "Hello", "Hi")
    first, third, fourth = (header_of(one) for one in session.exchanges.all())
    assert (third.following, fourth.previous) == (4, 3)
    assert [one.is_live for one in (first, third, fourth)] == [False, False, True]


@pytest.mark.parametrize(("count", "label"), [(0, "waiting"), (1, "streaming")])
def test_an_open_exchange_waits_until_a_chunk_has_come(session: Session, count: int, label: str) -> None:
    exchange = Exchange(session=session)
    assert end_of(exchange, Received(count)).label == label


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Run.Status.STOPPED, "It was stopped before the model said it was done."),
        (Run.Status.INTERRUPTED, "The server stopped before the model said it was done."),
        (Run.Status.FAILED, "The stream ended before the model said it was done."),
    ],
)
def test_an_answer_that_was_left_is_not_one_that_ended(
    session: Session, status: Run.Status, words: str
) -> None:
    exchange = answered(session, "Hello", "Hi")
    exchange.outcome, exchange.run.status = Outcome.UNFINISHED, status
    assert end_of(exchange, Received()).meaning == words
    exchange.plan_figures = {"reason": PlanReason.CLIENT}
    assert end_of(exchange, Received()).meaning == "The stream ended before the model said it was done."
    exchange.outcome = Outcome.COMPLETE
    assert end_of(exchange, Received()).meaning == "The answer is complete."


def test_what_is_said_of_several_turns_is_said_once(session: Session) -> None:
    exchange = [answered(session, "Hello", "Hi") for _ in range(3)][-1]
    keys = [str(turn.public) for turn in Turn.objects.filter(session=session).order_by("pk")]
    places = [(keys[1], 2), (keys[3], 0), (keys[3], 2), ("", None), ("", None)]
    exchange.notes = [
        Remark(code=RemarkCode.SIGNATURE_REMOVED, turn=turn, part=part).stored() for turn, part in places
    ]
    exchange.notes.append(Remark(code=RemarkCode.SIGNATURE_LOST, turn=keys[3], part=0).stored())
    groups = header_of(exchange).notes
    assert [len(group.remarks) for group in groups] == [3, 1, 1, 1]
    assert groups[0].sentence.startswith("Turns 2, 4: ") and groups[-1].sentence.startswith(
        "Turn 4, part 1: "
    )


def test_what_was_sent_again_needs_no_advice(session: Session) -> None:
    failed = make_exchange(make_run(session))
    failed.fail(ProviderDown("Down.", hint="Try again."))
    failed.save()
    advice = header_of(failed).hint
    finish(failed.run)
    again = make_exchange(make_run(session), resend_of=failed)
    assert advice and header_of(failed).hint == f"Exchange {again.number} sent it again."


def test_what_an_open_exchange_says_is_not_what_an_ended_one_says(client: Client, session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=None, outcome="", prompt_tokens=None)
    waits = read(client, exchange, "response")
    assert "The provider has not counted yet." in waits and "No part of an answer has come yet." in waits
    Exchange.objects.filter(pk=exchange.pk).update(ended_at=exchange.started_at)
    ended = read(client, exchange, "response")
    assert "The provider reported no usage." in ended and "No part of an answer came." in ended
