import re
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from sessions_app.inspector.shown_breaks import break_of
from sessions_app.inspector.tabs import cache_tab
from sessions_app.inspector.tabs.cache_tab import LONGEST_LIFE, CacheTab, life_of
from sessions_app.models import CacheEntry, CacheEvent, Exchange, Price, Session
from sessions_app.models.cache_event import CausedBy
from sessions_app.prompt.cache_life import CacheEventKind
from sessions_app.prompt.caching import CacheAction, CachePlan, EntryReason, PlanReason
from sessions_app.prompt.prefix_diff import CacheLoss
from sessions_app.prompt.pricing import Money
from sessions_app.prompt.reply import fold
from sessions_app.prompt.verdict import Verdict, VerdictReason
from sessions_app.runs.accounting import account_for
from sessions_app.wording import break_lines, cache_events, cache_plans, sentences, verdicts
from sessions_app.wording.break_lines import PLACES, VIEWS, loss
from sessions_app.wording.verdicts import two_facts
from tests.factories import (
    MODEL,
    ROUTE,
    USAGE,
    finish,
    make_exchange,
    make_history,
    make_run,
    make_session,
    text_chunk,
)
from tests.inspector.breaks import ROLLED, ROLLED_BREAK, broken_exchange, rolled_over_exchange
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


def test_the_life_of_the_entry_is_told_line_by_line(client: Client, session: Session, bob: User) -> None:
    exchange = make_exchange(make_run(session), cache_name="c/1", fingerprint=PRINT)
    by = CausedBy(exchange.pk, session.pk)
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE, by=by)
    soon = timezone.now() + timedelta(hours=1)
    CacheEntry.objects.remember(PRINT, name="c/1", tokens=1024, expires=soon, by=by)
    entry = CacheEntry.objects.get()
    foreign = make_exchange(make_run(make_session(bob)), cache_name="c/1")
    for one in (exchange, foreign):
        CacheEntry.objects.note_use(entry.pk, one)
    CacheEvent.objects.filter(kind=CacheEventKind.NAMED).update(at=timezone.now())
    CacheEntry.objects.mark_for_deletion(EntryReason.ADMIN)
    rows = life_of(exchange)
    words = [cache_events.EVENTS[kind] for kind in (CacheEventKind.PLANNED, CacheEventKind.MADE)]
    assert [row.what for row in rows] == [
        *words,
        cache_events.event(CacheEventKind.NAMED, count=2),
        cache_events.EVENTS[CacheEventKind.DROPPED],
    ]
    assert [row.numbers for row in rows] == [(1,), (1,), (1,), ()]
    assert rows[-1].why == cache_plans.ENTRY_REASONS[EntryReason.ADMIN]
    page = read(client, exchange, "cache")
    assert page.count('data-label="What"') == 4 and rows[2].what in page


def test_extensions_in_a_row_share_a_line_and_another_entry_has_a_life_of_its_own(session: Session) -> None:
    later = timezone.now() + timedelta(hours=1)
    for fingerprint, name in ((PRINT, "c/1"), ("e" * 64, "c/2")):
        CacheEntry.objects.claim(fingerprint, model=MODEL, route=ROUTE)
        CacheEntry.objects.remember(fingerprint, name=name, tokens=1024, expires=later)
    for _ in range(2):
        CacheEntry.objects.set_expiry("c/1", later)
    rows = life_of(make_exchange(make_run(session), fingerprint=PRINT))
    assert len(rows) == 3 and rows[-1].what == cache_events.event(CacheEventKind.EXTENDED, count=2)


def test_a_long_life_is_told_by_its_newest_lines(session: Session) -> None:
    exchange = make_exchange(make_run(session), fingerprint=PRINT)
    entry = CacheEntry.objects.create(fingerprint=PRINT, model=MODEL, route=ROUTE)
    for _ in range(LONGEST_LIFE):
        for kind in (CacheEventKind.PLANNED, CacheEventKind.NOT_MADE):
            CacheEvent.of(entry, kind).save()
    assert len(life_of(exchange)) == LONGEST_LIFE


def test_a_roll_over_is_not_shown_as_an_edit(client: Client, session: Session) -> None:
    exchange = rolled_over_exchange(session)
    page = read(client, exchange, "cache")
    shown = break_of(exchange)
    assert shown is not None and shown.happened == verdicts.rolled_over(ROLLED)
    assert shown.happened in page and break_lines.change(ROLLED_BREAK) not in page


def test_what_the_provider_counted_stands_in_figures(client: Client, session: Session) -> None:
    page = read(client, make_exchange(make_run(session)), "cache")
    assert "<dt>Prompt</dt><dd>1,204</dd>" in page
    assert "<dt>From a cache</dt><dd>1,024, 85 %</dd>" in page


def test_a_break_shows_both_sides_and_its_place_in_each_view(client: Client, session: Session) -> None:
    page = read(client, broken_exchange(session, purpose="Book trains <b>only</b>."), "cache")
    assert "Where the texts part" in page
    assert "<del>&lt;b&gt;flights" in page and "<ins>trains &lt;b&gt;only&lt;/b&gt;." in page
    assert 'href="?tab=layers#break">static layer, after ' in page
    assert 'href="?tab=wire#break">request.json, after ' in page


def test_a_place_that_the_named_cache_holds_is_not_in_the_request(client: Client, session: Session) -> None:
    exchange = broken_exchange(session, purpose="Book trains.", cache_name="cachedContents/a")
    page = read(client, exchange, "cache")
    assert VIEWS["named"] in page and 'href="?tab=layers#break"' in page
    assert "tab=wire#break" not in page and 'id="break"' not in read(client, exchange, "wire")


def test_the_wire_marks_the_byte_at_which_the_request_leaves_the_other(
    client: Client, session: Session
) -> None:
    exchange = broken_exchange(session, purpose="Book trains.")
    found = exchange.found_break
    assert found is not None and found.at is not None and found.at.body_byte is not None
    assert exchange.request_body()[found.at.body_byte :].startswith(b"trains.")
    assert re.search(r'<mark id="break"[^>]*>trains\.', read(client, exchange, "wire"))


def test_a_break_of_an_earlier_version_has_no_place(client: Client, session: Session) -> None:
    stored = {"item": 2, "kind": "moved", "layer": "dynamic", "source": "panel:git_log", "turn": 0, "byte": 2}
    line = stored | {"part": 1, "line": 1, "before": "", "was": "a", "now": "b", "lost_tokens": 9, "usd": ""}
    exchange = make_exchange(make_run(session), break_line=line)
    page = read(client, exchange, "cache")
    assert PLACES["earlier_version"] in page and "#break" not in page
    assert "git_log" not in page.partition("Where the texts part")[2].partition("</section>")[0]


def test_what_was_lost_is_told_with_its_price(client: Client, session: Session) -> None:
    exchange = broken_exchange(session, purpose="Book trains.", lost_tokens=2_994, lost_usd="0.0013473")
    page = read(client, exchange, "cache")
    assert loss(CacheLoss(2_994, Decimal("0.0013473"))) in page


def test_the_ledger_tells_our_fact_from_the_providers(client: Client, session: Session) -> None:
    make_price(MODEL)
    exchange = accounted(asked(session, previous=asked(session)))
    page = read(client, exchange, "cache")
    assert page.count('data-change="unchanged"') > 3 and page.count('data-change="new"') == 2
    assert 'data-billed="cached"' in page and 'data-billed="new"' in page
    assert "1,024 as cached" in page and f"data-total>${exchange.usd:f}</td>" in page


def test_the_rows_of_the_ledger_sum_up_to_what_was_counted_and_paid(session: Session) -> None:
    make_price(MODEL)
    exchange = accounted(asked(session, previous=asked(session)))
    shown = cache_tab.ledger_of(exchange)
    assert shown is not None and sum(row.tokens for row in shown.rows) == exchange.prompt_tokens
    costs = [Decimal(one.usd.removeprefix("$")) for one in shown.rows]
    costs += [Decimal(one.usd.removeprefix("$")) for one in shown.rest]
    assert sum(costs) == pytest.approx(exchange.usd, abs=Decimal("0.0001") * len(costs))
    bill = cache_tab.bill_for(exchange)
    assert sum(item.usd or 0 for item in bill.items) == cache_tab.total(bill.items) != 0


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


@pytest.mark.parametrize(
    ("money", "is_bound"),
    [
        (Money((), at_least=True), True),
        (Money((), at_least=True, estimated=True), False),
        (Money((), at_least=True, other_price=True), False),
        (Money(()), False),
    ],
)
def test_only_a_count_that_broke_off_is_a_lower_bound(
    client: Client, session: Session, money: Money, is_bound: bool
) -> None:
    make_price(MODEL)
    exchange = accounted(asked(session))
    Exchange.objects.filter(pk=exchange.pk).update(money=money.stored())
    assert CacheTab().context(Exchange.objects.get(pk=exchange.pk), raw=False).is_cut_off == is_bound
    assert ("A lower bound: the answer was not" in read(client, exchange, "cache")) == is_bound


def test_a_cache_whose_time_is_over_is_not_called_live(client: Client, session: Session) -> None:
    past = timezone.now() - timedelta(seconds=1)
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.remember(PRINT, name="cachedContents/abc", tokens=1024, expires=past)
    page = read(client, make_exchange(make_run(session), fingerprint=PRINT), "cache")
    assert ">live</span>" not in page and f">{cache_plans.EXPIRED}</span>" in page


@pytest.mark.parametrize("dialect", ["gemini", "openai"])
def test_a_place_in_the_body_is_told_where_that_body_was_sent(session: Session, dialect: str) -> None:
    broken = break_of(broken_exchange(session, purpose="Book <i>flights</i>.", dialect=dialect))
    assert broken is not None and broken.has_body_place == (dialect == "gemini")
    assert (broken.in_body == VIEWS["translated"]) == (dialect != "gemini")


@pytest.mark.parametrize(("minutes", "told"), [(1, "pending"), (0, cache_plans.UNFINISHED)])
def test_a_making_that_nobody_ended_is_not_going_on(
    client: Client, session: Session, minutes: int, told: str
) -> None:
    """A process that ended within it leaves a claim, which ends by the clock."""
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.update(leased_until=timezone.now() + timedelta(minutes=minutes))
    page = read(client, make_exchange(make_run(session), fingerprint=PRINT), "cache")
    assert re.findall(r'<span class="badge warn">(.*?)</span>', page) == [cache_plans.state(told)]


def test_of_a_cache_that_was_not_made_again_stand_no_figures(client: Client, session: Session) -> None:
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.remember(PRINT, name="cachedContents/abc", tokens=13_579, expires=timezone.now())
    exchange = make_exchange(make_run(session), fingerprint=PRINT)
    assert "13,579" in read(client, exchange, "cache")
    CacheEntry.objects.claim(PRINT, model=MODEL, route=ROUTE)
    CacheEntry.objects.release(PRINT, "The model is overloaded.")
    page = read(client, exchange, "cache")
    assert "The model is overloaded." in page and "13,579" not in page and "<dt>Made</dt>" not in page


def test_the_exchange_that_another_is_compared_with_may_be_of_another_branch(
    client: Client, session: Session
) -> None:
    """An edit of the first message has none on its branch, and what was not counted is passed over."""
    first, _, third = make_history(session, 3)
    third.previous = first
    third.save()
    page = read(client, third, "cache")
    assert "before it on its branch.</span>" not in page and "is the one that it is compared with" in page
    nothing = two_facts(Verdict(VerdictReason.NOTHING_BEFORE, prompt=1)).ours
    assert "counted was sent before" in nothing


def test_tokens_that_nobody_counted_are_estimates_on_the_bill(client: Client, session: Session) -> None:
    make_price(MODEL)
    exchange = asked(session)
    account_for(exchange, fold([text_chunk("On time.", usage={})]))
    exchange.prompt_tokens = None
    exchange.save()
    rows = re.findall(
        r'<td class="number">(.*?)</td>', read(client, exchange, "cache").partition("<tfoot>")[2]
    )
    prompt, _, output, usd, *_ = rows
    assert prompt == "unknown" and output.startswith("≈ ") and usd.startswith("≈ $")


def test_an_earlier_sum_at_another_price_is_no_lower_bound(client: Client, session: Session) -> None:
    """An earlier version did not keep that another price may hold."""
    make_price(MODEL)
    exchange = accounted(asked(session))
    rows = Exchange.objects.filter(pk=exchange.pk)
    rows.update(money=Money((), at_least=True).stored(), usage={"serviceTier": "flex"})
    assert "A lower bound: the answer was not" not in read(client, exchange, "cache")


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
