from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from sessions_app.inspector.tabs import cache_tab
from sessions_app.models import CacheEntry, Exchange, Price, Session
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.reply import fold
from sessions_app.prompt.verdict import Comparison, Verdict, VerdictReason
from sessions_app.runs.accounting import account_for
from sessions_app.wording import cache_plans, sentences, verdicts
from tests.factories import MODEL, ROUTE, USAGE, finish, make_exchange, make_history, make_run, text_chunk
from tests.inspector.reading import read
from tests.prices import make_price

PRINT = "f" * 64


def test_a_hit_shows_plan_verdict_and_entry(client: Client, session: Session) -> None:
    soon = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.remember(PRINT, name="cachedContents/abc", tokens=1024, expires=soon)
    plan = CachePlan(CacheAction.HIT, "cachedContents/abc", PlanReason.LIVE, 1024, 1024)
    exchange = make_exchange(
        make_run(session),
        cache_action=plan.action,
        cache_name=plan.name,
        plan_figures=plan.stored(),
        fingerprint=PRINT,
        verdict="hit",
    )
    page = read(client, exchange, "cache")
    assert cache_plans.ACTIONS[CacheAction.HIT] in page
    assert cache_plans.REASONS[PlanReason.LIVE] in page
    assert ">live</span>" in page


def test_a_refusal_shows_the_providers_reason(client: Client, session: Session) -> None:
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.refuse(PRINT, "Cached content is too small.")
    exchange = make_exchange(make_run(session), cache_action="none", fingerprint=PRINT)
    page = read(client, exchange, "cache")
    assert ">refused</span> Cached content is too small." in page


def test_what_an_earlier_version_said_is_shown_and_marked(client: Client, session: Session) -> None:
    words = {"verdict": "Said of the hit.", "cache_plan": "Said of the plan.", "strategy": "Said of the way."}
    exchange = make_exchange(make_run(session), earlier_wording=words, verdict="hit")
    page = read(client, exchange, "cache")
    assert all(sentences.earlier_version(text) in page for text in words.values())


def test_without_an_entry_it_says_so(client: Client, session: Session) -> None:
    assert "No cache was ever made" in read(client, make_exchange(make_run(session)), "cache")


def test_the_two_facts_of_a_verdict_stand_apart(client: Client, session: Session) -> None:
    verdict = Verdict(VerdictReason.UNEXPLAINED, Comparison(1, 9, 9, 9, 5.0), cached=0, prompt=9)
    exchange = make_exchange(
        make_run(session), cache_name="c", verdict=verdict.code, verdict_figures=verdict.stored()
    )
    page = read(client, exchange, "cache")
    facts = verdicts.two_facts(verdict)
    assert f">{facts.ours}</p>" in page and f">{facts.theirs}</p>" in page


def test_a_break_shows_both_sides_and_what_it_cost(client: Client, session: Session) -> None:
    make_price(MODEL)
    asked(session)
    session.purpose = "Book trains <b>only</b>."
    exchange = accounted(asked(session, previous=session.exchanges.get()))
    page = read(client, exchange, "cache")
    assert "Where the bytes part" in page and "of the static layer" in page
    assert "<ins>Book trains &lt;b&gt;only&lt;/b&gt;." in page
    assert "had been sent before; sending them as new costs $0.0" in page


def test_the_ledger_tells_our_fact_from_the_providers(client: Client, session: Session) -> None:
    make_price(MODEL)
    exchange = accounted(asked(session, previous=asked(session)))
    page = read(client, exchange, "cache")
    assert page.count('data-change="unchanged"') > 3 and page.count('data-change="new"') == 2
    assert 'data-billed="cached"' in page and 'data-billed="new"' in page
    assert "1,024 as cached" in page and f"data-total>${exchange.usd:f}</td>" in page


def test_an_unchanged_item_that_was_billed_as_new_says_both(client: Client, session: Session) -> None:
    missed = {**USAGE, "cachedContentTokenCount": 0}
    exchange = accounted(asked(session, previous=asked(session)), usage=missed)
    page = read(client, exchange, "cache")
    assert 'data-change="unchanged" data-billed="new"' in page and 'data-billed="cached"' not in page


def test_the_ledger_keeps_the_rates_it_was_charged_at(client: Client, session: Session) -> None:
    price = make_price(MODEL)
    exchange = accounted(asked(session))
    shown = cache_tab.ledger_of(exchange)
    # Only a hand in the database can do this.
    QuerySet.update(Price.objects.filter(pk=price.pk), input=99)
    assert Price.objects.get(pk=price.pk).input == 99
    assert cache_tab.ledger_of(Exchange.objects.get(pk=exchange.pk)) == shown


def test_without_usage_the_ledger_does_not_know_how_items_were_billed(
    client: Client, session: Session
) -> None:
    make_price(MODEL)
    exchange = asked(session, bodies=[text_chunk("On time.")])
    account_for(exchange, fold([text_chunk("On time.")]))
    Exchange.objects.filter(pk=exchange.pk).update(prompt_tokens=None, ledger=exchange.ledger)
    page = read(client, exchange, "cache")
    assert 'data-billed="unknown"' in page and 'data-billed="new"' not in page


def test_many_turns_in_a_row_share_a_line(client: Client, session: Session) -> None:
    *_, last = make_history(session, 5)
    page = read(client, accounted(last), "cache")
    assert "Turns 1 to 8" in page


def test_the_equation_names_its_price_and_day(client: Client, session: Session) -> None:
    make_price(MODEL, date(2026, 1, 2), source="a page")
    page = read(client, accounted(asked(session)), "cache")
    assert (
        "180 new × $0.50 + 1,024 cached × $0.05 + 96 output × $3.00 + 40 thoughts × $3.00 = $0.0005" in page
    )
    assert "from 2 Jan 2026 (a page)" in page


def test_a_model_without_a_price_costs_an_unknown_sum(client: Client, session: Session) -> None:
    Price.objects.all().delete()
    page = read(client, accounted(asked(session)), "cache")
    assert f"Unknown: no price is entered for {MODEL}" in page


def asked(session: Session, **facts: Any) -> Exchange:
    exchange = make_exchange(make_run(session), **facts)
    finish(exchange.run)
    return exchange


def accounted(exchange: Exchange, usage: dict[str, int] = USAGE) -> Exchange:
    """The exchange with what an answer's accounting writes down."""
    account_for(exchange, fold([text_chunk("On time.", usage=usage)]))
    exchange.cached_tokens = usage["cachedContentTokenCount"]
    exchange.save()
    return exchange
