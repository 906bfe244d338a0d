"""The line below an answer, its card, and what a session adds up to."""

import importlib
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.chat.answer_cost import AnswerUsage, RequestUsage
from sessions_app.models import Exchange, Session
from sessions_app.prompt.prefix_diff import CacheLoss
from sessions_app.prompt.pricing import Budget, BudgetScope, Rates, cost, dollars
from sessions_app.prompt.reply import Usage
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.wording import break_lines, budgets, costs, outcomes, sentences, usage, verdicts
from tests import factories

MONEY = cost(Usage(prompt=1_000, cached=900, output=50), Rates(Decimal("0.50"), Decimal("0.05"), Decimal(3)))


def exchange(**fields: Any) -> Exchange:
    counted = {"number": 1, "prompt_tokens": 1_000, "cached_tokens": 925, "verdict": "hit"}
    return Exchange(**{**counted, "money": MONEY.stored(), **fields})


def account(*exchanges: Exchange) -> AnswerUsage:
    found = AnswerUsage.of(exchanges)
    assert found is not None
    return found


def test_several_requests_fold_into_one_line() -> None:
    both = account(exchange(cached_tokens=0, verdict="first"), exchange(number=2))
    assert (both.share, both.verdict, both.requests) == ("46 % cached", "cache hit", 2)
    assert both.cost and both.cost.total == "$0.00049"


def test_a_budget_that_was_nearly_spent_is_told_of_the_time_of_the_request() -> None:
    near = Budget(BudgetScope.TODAY, Decimal(10), Decimal(9), 80)
    money = MONEY.stored() | {"budgets": [near.stored()]}
    cost = account(exchange(money=money)).cost
    assert cost and cost.budget_notice == budgets.when_sent([near])


@pytest.mark.parametrize(
    ("asked", "served", "others"),
    [
        ("gemini-3.8-flash", "gemini-3.8-flash-001", ()),
        ("gemini-3.8-flash", "", ()),
        ("gemini-flash-latest", "gemini-3.6-flash", (("gemini-flash-latest", "gemini-3.6-flash"),)),
    ],
)
def test_a_model_that_answered_for_another_is_named(
    asked: str, served: str, others: tuple[tuple[str, str], ...]
) -> None:
    each = [exchange(number=number, model=asked, served_model=served) for number in (1, 2)]
    assert account(*each).others == others


def test_the_chat_and_the_inspector_name_both_models(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    factories.answered(session, "Hello", "Hi")
    names = {"model": "gemini-flash-latest", "served_model": "gemini-3.6-flash"}
    assert f"{factories.MODEL} →" not in client.get(session.get_absolute_url()).content.decode()
    Exchange.objects.update(**names)
    chat = client.get(session.get_absolute_url()).content.decode()
    assert "gemini-flash-latest → gemini-3.6-flash" in chat
    inspector = client.get(Exchange.objects.get().get_absolute_url()).content.decode()
    assert "gemini-flash-latest, answered by gemini-3.6-flash" in inspector


@pytest.mark.parametrize("verdict", ["unknown", "", "a code of another version"])
def test_a_verdict_that_is_not_known_has_no_badge(verdict: str) -> None:
    assert account(exchange(verdict=verdict)).verdict == ""


def test_what_was_not_counted_is_not_called_uncached() -> None:
    assert account(exchange(prompt_tokens=None, cached_tokens=None)).share == "no usage reported"


def test_almost_all_is_not_all() -> None:
    assert account(exchange(cached_tokens=999)).share == "99 % cached"


def test_plain_words_sum_all_requests_up() -> None:
    both = account(
        exchange(cached_tokens=0, output_tokens=40, thought_tokens=7),
        exchange(number=2, output_tokens=60, thought_tokens=None),
    )
    assert both.words == [usage.tokens(2_000, 100, 7), usage.cached(925, 2_000), usage.cost("$0.00049")]
    assert "2,000" in both.words[0] and "100" in both.words[0] and "46 %" in both.words[1]


@pytest.mark.parametrize(
    ("part", "case"), [(0, "none"), (9, "little"), (10, "some"), (999, "some"), (1_000, "all")]
)
def test_the_share_in_plain_words_is_all_of_it_only_for_all_of_it(part: int, case: str) -> None:
    assert usage.cached(part, 1_000) == usage.CACHED[case].format(share=100 * part // 1_000)


def test_nothing_counted_has_no_plain_words() -> None:
    assert account(exchange(prompt_tokens=None, cached_tokens=None, money={})).words == []


def test_a_run_that_sent_nothing_has_no_account() -> None:
    assert AnswerUsage.of([]) is None


def test_the_card_sums_tokens_without_counting_any_twice() -> None:
    one = RequestUsage.of(exchange(output_tokens=50, thought_tokens=7))
    assert one.tokens == "1,000 prompt = 75 new + 925 cached; 50 output + 7 thoughts"
    assert one.equation.startswith("100 new × $0.50 + 900 cached × $0.05")


def test_the_card_names_what_the_providers_own_tools_read() -> None:
    one = RequestUsage.of(exchange(usage={"toolUsePromptTokenCount": 2_000}))
    assert one.tokens.endswith(usage.answer(0, 0, 2_000)) and "2,000" in one.tokens


def test_the_plain_words_name_what_the_providers_own_tools_read(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    run = factories.answered(session, "Hello", "Hi").run
    Exchange.objects.update(prompt_tokens=1_000, usage={"toolUsePromptTokenCount": 2_500})
    card = client.get(reverse("account", args=[session.public, run.public])).content.decode()
    assert "1,000 tokens read, 2,500 more from Gemini’s own tools, " in card


def test_the_card_keeps_the_two_facts_apart() -> None:
    verdict = Verdict(VerdictReason.UNEXPLAINED, Comparison(1, 900, 1_000, 900, 5.0), cached=0, prompt=1_000)
    one = RequestUsage.of(exchange(verdict="provider_miss", verdict_figures=verdict.stored()))
    assert (one.ours, one.theirs) == verdicts.two_facts(verdict)
    assert one.ours and one.theirs


def test_what_an_earlier_version_said_in_words_stands_in_the_card() -> None:
    one = RequestUsage.of(exchange(earlier_wording={"verdict": "Said long ago."}))
    assert (one.ours, one.theirs) == ("", sentences.earlier_version("Said long ago."))


def test_what_the_provider_stopped_serving_stands_in_the_card() -> None:
    lost = CacheLoss(1_500, Decimal("0.00067500"))
    one = RequestUsage.of(exchange(lost_tokens=lost.tokens, lost_usd=lost.usd))
    assert one.loss == break_lines.loss(lost) and "1,500" in one.loss


def test_an_unknown_loss_is_said_and_no_loss_is_not() -> None:
    assert RequestUsage.of(exchange()).loss == break_lines.loss(CacheLoss())
    assert RequestUsage.of(exchange(lost_tokens=0, lost_usd=Decimal(0))).loss == ""
    assert RequestUsage.of(exchange(prompt_tokens=None)).loss == ""


def test_an_unknown_price_is_said() -> None:
    assert RequestUsage.of(exchange(money={})).equation == "price unknown"
    assert RequestUsage.of(exchange(money={}, prompt_tokens=None)).equation == ""


def test_the_card_has_a_section_for_each_request(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    first, _ = factories.play_flight(session)
    page = client.get(reverse("account", args=[session.public, first.run.public])).content.decode()
    assert "Request 1 of 2" in page and page.count("Open in the inspector") == 3
    assert "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts" in page


def test_the_count_of_an_answer_that_was_cut_off_is_called_the_last_one(client: Client, alice: User) -> None:
    session = factories.make_session(alice)
    bodies = [factories.text_chunk("It is", usage=factories.USAGE)]
    run = factories.stop_answer(session, bodies)
    card = client.get(reverse("account", args=[session.public, run.public])).content.decode()
    inspector = client.get(run.exchanges.get().get_absolute_url()).content.decode()
    plain, exact = (
        usage.tokens(1_204, 96, 40),
        "1,204 prompt = 180 new + 1,024 cached; 96 output + 40 thoughts",
    )
    for counted, page in [(plain, card), (exact, card), (exact, inspector)]:
        assert usage.as_counted(counted, is_cut_off=True) in page


def test_the_card_says_what_the_inspector_says_of_other_prices_and_of_candidates(
    client: Client, alice: User
) -> None:
    session = factories.make_session(alice)
    asked = factories.answered(session, "Hello", "Hi")
    Exchange.objects.update(
        manifest=asked.manifest | {"settings": {"candidateCount": 2}},
        money=MONEY.stored(),
        usage={"serviceTier": "flex"},
    )
    card = client.get(reverse("account", args=[session.public, asked.run.public])).content.decode()
    priced = costs.priced(dollars(MONEY.total), is_standard_text=False)
    assert usage.cost(priced) in card
    assert f": {priced}" in card
    assert outcomes.candidates_asked(2) in card


def test_the_card_costs_the_same_for_a_long_run(
    client: Client, alice: User, django_assert_num_queries: Any
) -> None:
    session = factories.make_session(alice)
    run = factories.answered(session, "Hello", "Hi").run
    for number in range(2, 9):
        Exchange.objects.create(session=session, run=run, number=number, step=number, request_size=1)
    with django_assert_num_queries(5):
        client.get(reverse("account", args=[session.public, run.public]))


def test_other_peoples_accounts_do_not_exist(stranger: Client, alice: User) -> None:
    session = factories.make_session(alice)
    run = factories.answered(session, "Hello", "Hi").run
    assert stranger.get(reverse("account", args=[session.public, run.public])).status_code == 404
    assert stranger.get(reverse("outlook", args=[session.public])).status_code == 404


def test_sessions_from_before_the_sums_get_them(alice: User) -> None:
    session = factories.make_session(alice)
    factories.make_history(session, 2)
    importlib.import_module("sessions_app.migrations.0010_session_totals").sum_up(apps, None)
    session = Session.objects.get(pk=session.pk)
    assert (session.prompt_tokens, session.cached_tokens, session.unpriced) == (2_408, 2_048, 2)
