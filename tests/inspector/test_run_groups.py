from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from sessions_app.errors import QuotaExceeded
from sessions_app.inspector.exchange_list import list_exchanges
from sessions_app.inspector.run_groups import RunGroup
from sessions_app.models import Exchange, Session
from sessions_app.wording import resends
from tests.factories import answered, make_exchange, make_history, make_run, play_flight
from tests.inspector.reading import read_list


def groups(session: Session, **asked: str) -> list[RunGroup]:
    return [line for line in list_exchanges(session, asked).lines if isinstance(line, RunGroup)]


def numbers(session: Session, **asked: str) -> list[list[int]]:
    return [[row.exchange.number for row in group.rows] for group in groups(session, **asked)]


def change(number: int, **fields: Any) -> None:
    Exchange.objects.filter(number=number).update(**fields)


@pytest.fixture
def repeated(session: Session) -> Session:
    """A request that failed, and the one that was sent again for it."""
    run = make_run(session)
    failed = make_exchange(run, [])
    error = {"kind": QuotaExceeded.__name__, "code": 429, "message": "Too many."}
    change(failed.number, error=error, outcome="", usd=None)
    make_exchange(run, resend_of=failed)
    return session


def test_runs_stand_newest_first_and_their_requests_as_they_were_sent(session: Session) -> None:
    play_flight(session)
    answered(session, "And the next?", "On time.")
    assert numbers(session) == [[3], [1, 2]]
    assert numbers(session, sort="oldest") == [[1, 2], [3]]


def test_a_run_of_several_requests_has_a_heading_with_its_sums(client: Client, session: Session) -> None:
    play_flight(session)
    change(1, usd=Decimal("0.25"), prompt_tokens=1000)
    change(2, usd=Decimal("1.5"), prompt_tokens=2204)
    (group,) = groups(session)
    assert (group.sums["spent"], group.sums["prompt"]) == (Decimal("1.75"), 3204)
    page = read_list(client, session)
    assert page.count('class="heading"') == 1 and "2 requests" in page
    assert '<td data-label="Cost" class="number">$1.75</td>' in page
    assert page.count("Is AA100 late?</a>") == 1


def test_a_run_of_one_request_is_one_line(client: Client, session: Session) -> None:
    make_history(session, 2)
    page = read_list(client, session)
    assert 'class="heading"' not in page and page.count('<tr id="exchange-') == 2


def test_the_sum_of_a_run_is_of_all_its_requests(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 1)
    play_flight(session)
    assert numbers(session) == [[2]] and groups(session)[0].sums["count"] == 2


def test_a_sum_without_some_price_is_a_lower_bound(client: Client, repeated: Session) -> None:
    change(2, usd=Decimal("1.5"))
    assert "≥\xa0$1.50" in read_list(client, repeated)


def test_a_repeated_request_says_which_one_and_why(client: Client, repeated: Session) -> None:
    first, second = groups(repeated)[0].rows
    assert (first.repeats, second.repeats) == (None, 1)
    assert second.repeat_reason == resends.reason(first.exchange.error, 1)
    page = read_list(client, repeated)
    assert page.count('class="asked again"') == 1 and "↻ 1 again" in page


def test_an_order_by_something_else_parts_the_runs(client: Client, session: Session) -> None:
    play_flight(session)
    answered(session, "And the next?", "On time.")
    change(2, usd=Decimal(3))
    change(3, usd=Decimal(2))
    change(1, usd=Decimal(1))
    assert numbers(session, sort="cost") == [[2], [3], [1]]
    assert 'class="heading"' not in read_list(client, session, sort="cost")


def test_another_model_that_answered_is_named(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    assert "was asked" not in read_list(client, session)
    change(1, served_model="gemini-3.5-flash")
    page = read_list(client, session)
    assert 'title="gemini-3-flash-preview was asked at emulator">gemini-3.5-flash</span>' in page


@pytest.mark.parametrize("served", ["models/gemini-3-flash-preview", "gemini-3-flash-preview-001"])
def test_a_revision_of_the_model_that_was_asked_is_no_other_one(
    client: Client, session: Session, served: str
) -> None:
    answered(session, "Hello", "Hi")
    change(1, served_model=served)
    assert "was asked" not in read_list(client, session)


def test_the_verdict_of_a_row_is_a_badge_and_its_sentence_a_title(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    (row,) = list_exchanges(session, {}).rows
    assert row.verdict is not None
    page = read_list(client, session)
    assert f'title="{row.verdict.meaning}"' in page
    assert page.count(row.verdict.meaning) == 1


def test_a_pause_is_known_inside_a_group(session: Session) -> None:
    play_flight(session)
    began = Exchange.objects.get(number=2).started_at
    change(1, ended_at=began - timedelta(minutes=7))
    assert [row.pause_label for row in groups(session)[0].rows] == ["", "7 min idle before it"]
