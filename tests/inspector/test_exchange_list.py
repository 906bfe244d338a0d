from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from sessions_app.inspector.exchange_list import ExchangeList, list_exchanges
from sessions_app.inspector.exchange_rows import span_text
from sessions_app.models import Exchange, Session
from sessions_app.models.origin import Origin
from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.pricing import Money
from sessions_app.wording import costs, outcomes
from tests.factories import answered, make_history
from tests.inspector.reading import read_list


def listing(session: Session, **asked: str) -> ExchangeList:
    return list_exchanges(session, asked)


def numbers(session: Session, **asked: str) -> list[int]:
    return [row.exchange.number for row in listing(session, **asked).rows]


def change(number: int, **fields: Any) -> None:
    Exchange.objects.filter(number=number).update(**fields)


@pytest.fixture
def various(session: Session) -> Session:
    """Four exchanges, each with something of its own."""
    make_history(session, 4)
    change(1, verdict="provider_miss", cached_tokens=0, usd=Decimal("1.5"), total_ms=9000.0)
    change(2, model="gemini-2.5-pro", error={"code": 429, "message": "Too many."}, outcome="")
    change(3, cached_tokens=100, usd=Decimal("0.001"), first_chunk_ms=4000.0)
    change(4, ended_at=None, outcome="", prompt_tokens=None, cached_tokens=None, usd=None)
    return session


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"model": "gemini-2.5-pro"}, [2]),
        ({"verdict": "provider_miss"}, [1]),
        ({"end": "error"}, [2]),
        ({"end": "answered"}, [3, 1]),
        ({"end": "open"}, [4]),
        ({"cached": "none"}, [1]),
        ({"cached": "low"}, [3]),
        ({"cached": "high"}, [2]),
        ({"usd": "0.01"}, [1]),
        ({"seconds": "5"}, [1]),
        ({"wait": "2"}, [3]),
        ({"seconds": "5", "end": "error"}, []),
    ],
)
def test_a_filter_lets_pass(various: Session, asked: dict[str, str], found: list[int]) -> None:
    assert numbers(various, **asked) == found


def test_an_answer_that_goes_on_is_one_and_a_cut_one_ended_otherwise(various: Session) -> None:
    change(1, outcome=Outcome.CONTINUES)
    change(3, outcome=Outcome.MAX_TOKENS)
    assert (numbers(various, end="answered"), numbers(various, end="other")) == ([1], [3])


@pytest.mark.parametrize(
    ("sort", "first"), [("newest", 4), ("oldest", 1), ("cost", 1), ("slow", 1), ("first", 3), ("share", 1)]
)
def test_an_order_puts_first(various: Session, sort: str, first: int) -> None:
    assert numbers(various, sort=sort)[0] == first


def test_the_model_that_a_row_names_is_a_filter(client: Client, various: Session) -> None:
    change(3, served_model="gemini-3.5-flash")
    change(1, served_model="models/gemini-3-flash-preview")
    offered = [name for name, _ in listing(various).filters.form.fields["model"].widget.choices]
    assert offered == ["", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.5-flash"]
    assert numbers(various, model="gemini-3.5-flash") == [3]
    assert numbers(various, model="gemini-2.5-pro") == [2]
    assert numbers(various, model="gemini-3-flash-preview") == [4, 3, 2, 1], "it answered the second as well"


@pytest.mark.parametrize(
    ("asked", "found"),
    [({"seconds": "9"}, [1]), ({"wait": "4"}, [3]), ({"usd": "1.5"}, [1]), ({"cached": "high"}, [3, 2])],
)
def test_a_figure_lets_pass_what_is_just_so_much(
    various: Session, asked: dict[str, str], found: list[int]
) -> None:
    change(3, prompt_tokens=200)
    assert numbers(various, **asked) == found


def test_what_means_nothing_is_left_out_and_said(client: Client, various: Session) -> None:
    assert numbers(various, usd="dear", verdict="maybe", sort="colour") == [4, 3, 2, 1]
    assert "Enter a number." in read_list(client, various, usd="dear")


def test_each_filter_can_be_taken_out_alone(client: Client, various: Session) -> None:
    shown = read_list(client, various, end="error", model="gemini-2.5-pro", sort="oldest")
    assert 'href="?end=error&amp;sort=oldest"' in shown
    assert 'href="?model=gemini-2.5-pro&amp;sort=oldest"' in shown
    assert 'aria-label="Take out: end: error"' in shown


def test_pages_keep_the_filters(client: Client, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 2)
    make_history(session, 3)
    assert 'href="?end=answered&amp;page=2"' in read_list(client, session, end="answered")


def test_nothing_that_passes_says_so(client: Client, various: Session) -> None:
    shown = read_list(client, various, model="gemini-2.5-pro", end="open")
    assert "No exchange passes these filters" in shown


def test_the_sums_are_of_what_is_listed(client: Client, various: Session) -> None:
    assert "2 requests" in read_list(client, various, end="answered")
    assert "≥\xa0$1.50, 2 without a known price" in read_list(client, various)


def test_cost_and_first_chunk_have_columns(client: Client, various: Session) -> None:
    shown = read_list(client, various)
    assert '<td data-label="Cost" class="number">$1.50</td>' in shown
    assert '<td data-label="First chunk" class="number roomy">4.00 s</td>' in shown


def test_a_pause_that_may_cost_the_cache_is_marked(client: Client, session: Session) -> None:
    make_history(session, 3)
    began = Exchange.objects.get(number=2).started_at
    change(1, ended_at=began - timedelta(minutes=7))
    change(2, ended_at=Exchange.objects.get(number=3).started_at - timedelta(minutes=4))
    assert [row.pause_label for row in listing(session).rows] == ["", "7 min idle before it", ""]
    assert "7 min idle before it" in read_list(client, session)


def test_the_first_of_a_page_knows_the_pause_before_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 1)
    make_history(session, 2)
    change(1, ended_at=Exchange.objects.get(number=2).started_at - timedelta(hours=2))
    assert listing(session).rows[0].pause_label == "2 h idle before it"


@pytest.mark.parametrize(
    ("minutes", "words"), [(6, "6 min"), (60, "1 h"), (125, "2 h 5 min"), (60 * 72, "3 days")]
)
def test_a_span_is_told_as_people_say_it(minutes: int, words: str) -> None:
    assert span_text(timedelta(minutes=minutes)) == words


def test_an_address_is_escaped(client: Client, session: Session) -> None:
    answered(session, "Hello", "Hi")
    shown = read_list(client, session, q='"><img src=x>', model="<b>")
    assert "<img" not in shown and "<b>" not in shown.replace("<b>{", "")


def test_a_row_says_how_many_candidates_a_program_asked_for(client: Client, session: Session) -> None:
    session.origin = Origin.CAPTURED
    session.save()
    asked = answered(session, "Hello", "Hi")
    Exchange.objects.update(manifest=asked.manifest | {"settings": {"candidateCount": 3}})
    (row,) = listing(session).rows
    assert row.candidates_words == outcomes.candidates_asked(3)
    assert f'title="{row.candidates_words}"' in read_list(client, session)


def test_a_row_marks_a_price_that_is_not_that_of_its_service(session: Session) -> None:
    answered(session, "Hello", "Hi")
    Exchange.objects.update(usd=1, money=Money(()).stored(), usage={"serviceTier": "flex"})
    (row,) = listing(session).rows
    assert row.cost.text.startswith(costs.BOUNDS["estimated"])
    assert row.cost.title == costs.SUM_TITLES["other_price"]
