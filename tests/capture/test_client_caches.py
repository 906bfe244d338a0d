"""Explicit caches that programs make: entries, events, bookings, and the requests that name them."""

from datetime import timedelta

import orjson
import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.contrib.messages.storage.cookie import CookieStorage
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.admin.caches import CacheEntryAdmin
from sessions_app.gemini.http_evidence import EMULATOR_HEADER
from sessions_app.inspector.part_costs import shown_parts
from sessions_app.inspector.session_cost import caches_of
from sessions_app.inspector.tabs.cache_tab import bill_for
from sessions_app.models import Booking, CacheEntry, CacheEvent, CaptureAddress, Exchange
from sessions_app.prompt.billing import UNSEEN_CACHE, BilledAs
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.wire import dumps
from sessions_app.runs.cache_janitor import _compare, record_expiries
from sessions_app.wording.costs import cause_sums
from tests.capture.answers import MODEL, audited, says
from tests.capture.caching_program import (
    ASKED,
    BOOK,
    NAME,
    TOKENS,
    CachingProgram,
    booked,
    kinds,
    made_by,
    program,
)
from tests.capture.conversations import body_of, model, user

__all__ = ["program"]

pytestmark = pytest.mark.django_db


def test_making_one_is_kept_and_booked(program: CachingProgram) -> None:
    row = program.make()
    entry = CacheEntry.objects.get()
    assert (entry.name, entry.tokens, entry.model) == (NAME, TOKENS, MODEL)
    assert entry.captured_request == row and kinds() == ["planned", "made"]
    assert booked() == [("cache_made", False), ("cache_kept", False)] and not audited()


def test_it_is_paid_by_who_pays_for_the_requests(program: CachingProgram) -> None:
    program.make()
    program.ask_with()
    program.extend(3)
    is_emulated = program.address.upstream == CaptureAddress.Upstream.EMULATOR
    sources = set(Booking.objects.values_list("source", flat=True))
    assert sources == {"emulator" if is_emulated else "client"} and not audited()


def test_nobody_pays_an_emulator_behind_an_address(alice: User, settings: Settings) -> None:
    settings.GOOGLE_GEMINI_BASE_URL = "http://127.0.0.1:9000"
    program = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    program.heads = ((EMULATOR_HEADER, "1"),)
    program.make()
    program.ask_with()
    program.extend(3)
    assert set(Booking.objects.values_list("source", flat=True)) == {"emulator"} and not audited()


def test_what_an_unseen_cache_holds_is_billed_as_that_and_as_no_turn(program: CachingProgram) -> None:
    name = "cachedContents/unseen"
    first, second = program.ask_with(name), program.ask_with(name, model("Double it."), user("And?"))
    held, turn = bill_for(first).items
    assert (held.entry.source, held.change, held.cached, held.new) == (UNSEEN_CACHE, "unknown", TOKENS, 0)
    assert (turn.billed, turn.cached, turn.new) == (BilledAs.NEW, 0, 20)
    assert bill_for(second).items[0].change == "unchanged"
    whole, *turns = shown_parts(first.session).rows
    assert (whole.cached, whole.new) == (2 * TOKENS, 0) and not audited()
    assert [sum(row.cached for row in turns), sum(row.new for row in turns)] == [0, 40]


def test_a_request_that_names_it_hits_and_shows_what_it_holds(program: CachingProgram) -> None:
    program.make()
    exchange = program.ask_with()
    assert exchange.verdict == VerdictCode.HIT and exchange.cache_name == NAME
    items = exchange.sent_items()
    assert [item.is_cached for item in items] == [True, True, False]
    assert orjson.loads(items[1].wire)["parts"] == BOOK["parts"]
    assert exchange.is_faithful() and kinds() == ["planned", "made", "named"] and not audited()


def test_what_it_costs_stands_beside_the_sums_of_a_session_that_names_it(
    client: Client, program: CachingProgram
) -> None:
    program.make("cachedContents/other")
    program.make()
    exchange = program.ask_with()
    sums = {one.cause: one.usd for one in caches_of(exchange.session)}
    booked = Booking.objects.filter(cache_name=NAME)
    assert sums == {one.cause: one.usd for one in booked} and len(sums) == 2
    page = client.get(reverse("exchanges", args=[exchange.session.public])).content.decode()
    assert f"Beside that {cause_sums(caches_of(exchange.session))}" in page


def test_extending_it_is_booked_and_shortening_gives_back(program: CachingProgram) -> None:
    program.make(hours=1)
    program.extend(3)
    assert booked()[2:] == [("cache_kept", False)]
    program.extend(2)
    assert booked()[3:] == [("cache_kept", True)] and not audited()


def test_deleting_it_gives_back_what_it_did_not_live(program: CachingProgram) -> None:
    program.make()
    program.ask_with()
    program.delete()
    assert CacheEntry.objects.get().state == CacheEntry.State.GONE
    assert kinds()[-2:] == ["dropped", "deleted"] and booked()[-1] == ("cache_kept", True)
    assert not audited()


def test_a_deleted_one_explains_a_later_miss(program: CachingProgram) -> None:
    program.make()
    program.ask_with()
    program.delete()
    after = program.exchange(body_of([ASKED, user("Again, without it?")], tools=None), says("Yes."))
    named = Exchange.objects.order_by("pk").first()
    assert named and not audited() and after.verdict


def test_a_request_in_the_lane_of_a_deleted_cache_tells_that_it_is_gone(program: CachingProgram) -> None:
    program.make()
    first = program.ask_with()
    program.delete()
    body = first.request_body().replace(b'"cachedContent":"%s"' % NAME.encode(), b'"labels":{}')
    after = program.exchange(
        body.replace(b"}]}]", b"}]}," + orjson.dumps(user("Again?")) + b"]"), says("Yes.")
    )
    assert after.session == first.session and after.previous == first
    assert after.verdict == VerdictCode.OUR_DROP and not audited()


def test_an_expired_one_explains_a_later_miss(program: CachingProgram) -> None:
    program.make(hours=1 / 60)
    first = program.ask_with()
    program.now += timedelta(minutes=4)
    body = first.request_body().replace(b'"cachedContent":"%s"' % NAME.encode(), b'"labels":{}')
    after = program.exchange(
        body.replace(b"}]}]", b"}]}," + orjson.dumps(user("Again?")) + b"]"), says("Yes.")
    )
    assert after.verdict == VerdictCode.CACHE_EXPIRED and not audited()


GONE = dumps({"error": {"code": 403, "message": "CachedContent not found (or permission denied)"}})
OTHER = dumps({"error": {"code": 400, "message": "Model used by this and CachedContent has to be the same."}})


def named_in_vain(program: CachingProgram, status: int, said: bytes) -> Exchange:
    body = body_of([ASKED], system=None, tools=None, cachedContent=NAME)
    return program.exchange(body, said, status)


def test_a_request_that_names_a_deleted_one_was_refused_for_that(program: CachingProgram) -> None:
    """And the same without it is the retry."""
    program.make()
    program.ask_with()
    program.delete()
    refused = named_in_vain(program, 403, GONE)
    assert refused.verdict == VerdictCode.OUR_DROP and not audited()
    again = program.exchange(body_of([ASKED]), says("Double it."))
    assert again.resend_of == refused and not audited()


def test_a_request_that_names_an_expired_one_was_refused_for_that(program: CachingProgram) -> None:
    program.make(hours=1 / 60)
    program.now += timedelta(minutes=4)
    assert named_in_vain(program, 403, GONE).verdict == VerdictCode.CACHE_EXPIRED and not audited()


def test_of_one_that_nobody_saw_the_refusal_says_what_is_known(program: CachingProgram) -> None:
    assert named_in_vain(program, 403, GONE).verdict == VerdictCode.CACHE_LOST and not audited()


def test_one_of_another_model_may_live(program: CachingProgram) -> None:
    program.make()
    assert named_in_vain(program, 400, OTHER).verdict == VerdictCode.UNKNOWN and not audited()


def test_one_whose_making_nobody_saw_is_named_without_failure(program: CachingProgram) -> None:
    exchange = program.ask_with("cachedContents/unseen")
    assert exchange.verdict == VerdictCode.HIT and exchange.cache_name == "cachedContents/unseen"
    assert not any(item.is_cached for item in exchange.sent_items()) and not CacheEntry.objects.exists()
    assert not audited()


def test_the_same_record_again_books_nothing_twice(program: CachingProgram) -> None:
    begun = program.begun(b"{}", method="POST", path="/v1beta/cachedContents", asks_model=False)
    ended = program.ended(begun, orjson.dumps(program.said(NAME, 1)))
    for _ in range(2):
        program.recording([begun, ended])
    assert len(booked()) == 2 and CacheEntry.objects.count() == 1


def test_one_of_vertex_is_known_by_its_number_and_by_its_project(program: CachingProgram) -> None:
    program.of_vertex("POST", "cachedContents")
    entry = CacheEntry.objects.get()
    assert (entry.model, entry.tokens) == (MODEL, TOKENS) and entry.name.startswith("projects/1234/")
    exchange = program.ask_with(entry.name)
    assert exchange.verdict == VerdictCode.HIT
    assert [item.is_cached for item in exchange.sent_items()] == [True, True, False]
    program.of_vertex("DELETE", "cachedContents/77")
    assert kinds()[-1] == "deleted" and booked()[-1] == ("cache_kept", True) and not audited()


@pytest.mark.parametrize(
    "answer", [b"", b"not JSON", b"[]", b'{"name": "elsewhere"}', b'{"name": "cachedContents/x"}']
)
def test_an_answer_that_says_no_cache_makes_none(program: CachingProgram, answer: bytes) -> None:
    program.ask(b"{}", answer, asks_model=False, path="/v1beta/cachedContents")
    assert not CacheEntry.objects.exists() and not Booking.objects.exists()


def test_a_refused_making_makes_none(program: CachingProgram) -> None:
    said = orjson.dumps(program.said(NAME, 1))
    program.ask(b"{}", said, 400, asks_model=False, path="/v1beta/cachedContents")
    assert not CacheEntry.objects.exists()


def test_the_clock_ends_it_without_asking_the_provider(program: CachingProgram) -> None:
    program.make(hours=1 / 60)
    CacheEntry.objects.update(expires_at=timezone.now() - timedelta(minutes=5))
    record_expiries()
    assert CacheEntry.objects.get().state == CacheEntry.State.GONE


def test_what_is_written_late_happened_when_it_was_answered(program: CachingProgram) -> None:
    program.now -= timedelta(days=2)
    row = program.make(hours=100)
    assert set(CacheEvent.objects.values_list("at", flat=True)) == {row.ended_at}
    assert set(Booking.objects.values_list("day", flat=True)) == {program.now.date()} and not audited()


def test_nobody_but_the_program_changes_it(program: CachingProgram) -> None:
    """Neither an admin, nor what takes care of our caches."""
    program.make()
    route = CacheEntry.objects.get().route.partition("/")[0]
    chosen, pages = CacheEntry.objects.all(), CacheEntryAdmin(CacheEntry, site)
    request = RequestFactory().post("/")
    request._messages = CookieStorage(request)  # type: ignore[attr-defined]
    pages.extend_at_provider(request, chosen)
    pages.delete_at_provider(request, chosen)
    _compare(route, MoneySource.PROVIDER, [], timezone.now() + timedelta(hours=1))
    assert not CacheEntry.objects.pending_actions(route) and kinds() == ["planned", "made"]
    assert CacheEntry.objects.get().wanted_until is None


def test_a_program_of_another_person_does_not_reach_it(program: CachingProgram, bob: User) -> None:
    program.make()
    theirs = CachingProgram(CaptureAddress.issue(bob.pk, "Theirs", upstream=program.address.upstream)[0])
    theirs.delete()
    theirs.extend(5)
    assert kinds() == ["planned", "made"]
    exchange = theirs.ask_with()
    assert [item.is_cached for item in exchange.sent_items()] == [False] and not exchange.fingerprint
