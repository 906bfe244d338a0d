from datetime import date, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from sessions_app.models import CacheEntry, Exchange, Price, Session
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.reply import fold
from sessions_app.runs.accounting import account_for
from sessions_app.wording import cache_plans, sentences
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


def test_what_the_provider_counted_stands_in_figures(client: Client, session: Session) -> None:
    page = read(client, make_exchange(make_run(session)), "cache")
    assert "<dt>Prompt</dt><dd>1,204</dd>" in page
    assert "<dt>From a cache</dt><dd>1,024, 85 %</dd>" in page


def test_a_break_shows_both_sides_and_what_it_cost(client: Client, session: Session) -> None:
    make_price(MODEL)
    asked(session)
    session.purpose = "Book trains <b>only</b>."
    exchange = accounted(asked(session, previous=session.exchanges.get()))
    page = read(client, exchange, "cache")
    assert "Where the bytes part" in page and "of the static layer" in page
    assert "<ins>Book trains &lt;b&gt;only&lt;/b&gt;." in page
    assert "had been sent before; sending them as new costs $0.0" in page


def test_the_ledger_marks_each_item_beside_the_providers_count(client: Client, session: Session) -> None:
    make_price(MODEL)
    exchange = accounted(asked(session, previous=asked(session)))
    page = read(client, exchange, "cache")
    assert page.count("✓ hit") > 3 and page.count("✗ miss") == 2
    assert "1,024 cached" in page and "The provider</th>" in page


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


def accounted(exchange: Exchange) -> Exchange:
    """The exchange with what an answer's accounting writes down."""
    account_for(exchange, fold([text_chunk("On time.", usage=USAGE)]))
    exchange.save()
    return exchange
