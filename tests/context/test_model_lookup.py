"""Facts and prices: precedence of rows over the catalogue, and how long they are kept."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import date
from time import monotonic

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from sessions_app.audit.prices import PriceRows
from sessions_app.context.model_lookup import (
    TTL,
    clear_caches,
    facts_of,
    model_names,
    model_warnings,
    newest_served,
    price_now,
    price_to_charge,
)
from sessions_app.gemini.model_capabilities import capabilities_of, known_models
from sessions_app.gemini.routes import ROUTE_LENGTH, route_from, route_to
from sessions_app.models import Exchange, ModelFacts, ModelLifecycle, Price
from tests.factories import make_exchange, make_run, make_session
from tests.prices import make_price


@pytest.fixture(autouse=True)
def fresh(db: None) -> Iterator[None]:
    """Rows that a test made are rolled back, which nobody is told of."""
    clear_caches()
    yield
    clear_caches()


def put(model: str, **facts: object) -> ModelFacts:
    return ModelFacts.objects.create(model=model, **facts)


@pytest.mark.parametrize("model", known_models())
def test_without_rows_the_code_is_the_truth(model: str) -> None:
    assert facts_of(model) == capabilities_of(model)


def test_an_empty_field_of_a_row_overrides_nothing() -> None:
    put("gemini-3.8-flash", explicit_minimum=2_048, levels=["LOW"])
    facts, code = facts_of("gemini-3.8-flash"), capabilities_of("gemini-3.8-flash")
    assert (facts.explicit_minimum, facts.levels) == (2_048, ("LOW",))
    assert (facts.implicit_minimum, facts.thinking) == (code.implicit_minimum, code.thinking)


def test_an_exact_row_stands_above_the_longer_family_above_the_shorter() -> None:
    put("gemini-3.8-flash", output_limit=3)
    put("gemini-3.8", is_family=True, output_limit=2, input_limit=2)
    put("gemini-3", is_family=True, output_limit=1, input_limit=1, implicit_minimum=1)
    facts = facts_of("models/gemini-3.8-flash-001")
    assert (facts.output_limit, facts.input_limit, facts.implicit_minimum) == (3, 2, 1)


def test_a_row_makes_a_model_known() -> None:
    assert not facts_of("gemini-5-boron").known
    put("gemini-5-boron", has_explicit_caches=True)
    facts = facts_of("gemini-5-boron")
    assert facts.known and facts.explicit_minimum == 4_096


def test_caches_can_be_taken_away() -> None:
    put("gemini-3", is_family=True, has_explicit_caches=False)
    assert not facts_of("gemini-3-flash-preview").has_explicit_caches


def test_an_edit_is_seen_at_once_in_its_process(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    row = put("gemini-3.8-flash", output_limit=1)
    assert facts_of("gemini-3.8-flash").output_limit == 1
    row.output_limit = 2
    row.save()
    assert facts_of("gemini-3.8-flash").output_limit == 2
    row.delete()
    assert facts_of("gemini-3.8-flash").output_limit == 65_536
    with django_assert_num_queries(0):
        facts_of("gemini-3.8-flash")


def test_the_model_that_answered_decides() -> None:
    facts = facts_of("gemini-3.5-flash", "gemini-2.5-flash-001")
    assert (facts.model, facts.family, facts.thinking) == ("gemini-3.5-flash", "gemini-2.5-flash", "budget")


@pytest.mark.parametrize(
    ("day", "family"), [(date(2026, 11, 30), "gemini-2.5-pro"), (date(2026, 12, 1), "gemini-3.8-flash")]
)
def test_a_name_is_routed_on_its_day(day: date, family: str) -> None:
    assert facts_of("gemini-2.5-pro", day=day).family == family
    assert facts_of("gemini-2.5-pro", "gemini-2.5-pro-001", day).family == "gemini-2.5-pro"


def test_rows_say_where_a_name_is_routed_to() -> None:
    ModelLifecycle.objects.get(model="gemini-3.5-flash").delete()
    assert facts_of("gemini-3.5-flash").family == "gemini-3.5-flash"
    postponed = ModelLifecycle.objects.get(model="gemini-2.5-pro")
    postponed.valid_from = date(2027, 2, 1)
    postponed.save()
    assert facts_of("gemini-2.5-pro", day=date(2026, 12, 1)).family == "gemini-2.5-pro"


@pytest.mark.parametrize(("day", "family"), [(date(2026, 1, 31), "hand-set"), (date(2026, 2, 1), "dated")])
def test_a_row_without_a_date_routes_a_name_until_one_with_a_date_is_in_force(day: date, family: str) -> None:
    ModelFacts.objects.create(model="routed", served_by="hand-set")
    ModelLifecycle.objects.create(model="routed", valid_from=date(2026, 2, 1), served_by="dated", source="a")
    assert facts_of("routed", day=day).family == family
    assert PriceRows().family("routed", day) == family


@pytest.mark.parametrize("is_charged", [True, False])
def test_only_a_price_that_was_charged_is_charged_again_without_a_query(
    is_charged: bool,
    alice: User,
    django_assert_num_queries: DjangoAssertNumQueries,
    django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]],
) -> None:
    price, day = make_price("hand-made"), date(2026, 11, 3)
    exchange = make_exchange(make_run(make_session(alice)))
    with django_capture_on_commit_callbacks(execute=True):
        assert price_to_charge("hand-made", day, "") == price
        Exchange.objects.filter(pk=exchange.pk).update(price=price if is_charged else None)
    with django_assert_num_queries(0 if is_charged else 1):
        assert price_to_charge("hand-made", day, "") == price
    dearer = make_price("hand-made", date(2026, 11, 2), input="9")
    assert price_to_charge("hand-made", day, "") == dearer


def test_names_to_choose_from_are_the_codes_and_the_rows() -> None:
    put("tuned-one")
    put("gemini-3", is_family=True)
    put("gemini-3.8-flash", note="checked")
    assert model_names() == (*known_models(), "tuned-one")


def test_unknown_and_rerouted_models_have_a_warning() -> None:
    assert model_warnings("gemini-3.8-flash", "gemini-3.8-flash-001") == ()
    assert model_warnings("gemini-5-boron")[0].code == "model_unknown"
    routed = model_warnings("gemini-3.8-flash", "gemini-3.1-pro")[-1]
    assert (routed.code, routed.figures["served"]) == ("model_routed", "gemini-3.1-pro")


@given(st.text("abcdef-", min_size=1, max_size=90), st.text("abcdef-", min_size=1, max_size=90))
def test_routes_differ_with_the_family_and_fit_their_column(one: str, other: str) -> None:
    endpoint = "0123456789abcdef"
    assert (route_to(endpoint, one) == route_to(endpoint, other)) == (one == other)
    assert len(route_to(endpoint, one)) <= ROUTE_LENGTH
    assert route_from(route_to(endpoint, one), other) == route_to(endpoint, other)


def test_an_answer_that_names_no_model_keeps_the_route() -> None:
    assert route_from("endpoint/family", "") == "endpoint/family"


def test_a_session_has_the_model_that_answered_last_on_this_endpoint(alice: User) -> None:
    session = make_session(alice)
    run = make_run(session)
    make_exchange(run, route="here/x")
    assert newest_served(session, "here") == "gemini-3-flash-preview"
    assert newest_served(session, "there") == ""
    session.model = "gemini-3.8-flash"
    assert newest_served(session, "here") == ""


pytestmark = pytest.mark.django_db

TODAY = date(2026, 11, 21)


def test_a_price_is_read_once(django_assert_num_queries: pytest.FixtureRequest) -> None:
    price = make_price("gemini-9")
    for statements in (1, 0):
        with django_assert_num_queries(statements):  # type: ignore[operator]
            assert price_now("gemini-9", TODAY) == price


def test_that_there_is_none_is_kept_too(django_assert_num_queries: pytest.FixtureRequest) -> None:
    for statements in (1, 0):
        with django_assert_num_queries(statements):  # type: ignore[operator]
            assert price_now("gemini-9", TODAY) is None


def test_a_new_price_and_a_deleted_one_hold_at_once() -> None:
    assert price_now("gemini-9", TODAY) is None
    price = make_price("gemini-9")
    assert price_now("gemini-9", TODAY) == price
    price.delete()
    assert price_now("gemini-9", TODAY) is None


def test_what_another_process_changed_holds_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    price = make_price("gemini-9")
    assert price_now("gemini-9", TODAY) == price
    # Without a signal, as when another process does it.
    Price.objects.filter(pk=price.pk).update(model="gemini-10")
    assert price_now("gemini-9", TODAY) == price
    later = monotonic() + TTL + 1
    monkeypatch.setattr("sessions_app.context.model_lookup.monotonic", lambda: later)
    assert price_now("gemini-9", TODAY) is None
