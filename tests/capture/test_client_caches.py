"""Explicit caches that programs make: entries, events, bookings, and the requests that name them."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.contrib.messages.storage.cookie import CookieStorage
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.admin.caches import CacheEntryAdmin
from sessions_app.capture.headers import kept
from sessions_app.capture.records import Begun, Ended
from sessions_app.gemini.http_evidence import EMULATOR_HEADER
from sessions_app.inspector.part_costs import shown_parts
from sessions_app.inspector.session_cost import caches_of
from sessions_app.inspector.tabs.cache_tab import bill_for
from sessions_app.models import Booking, CacheEntry, CacheEvent, CaptureAddress, CapturedRequest, Exchange
from sessions_app.prompt.billing import UNSEEN_CACHE, BilledAs
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.pricing import MoneySource
from sessions_app.prompt.verdict import VerdictReason
from sessions_app.prompt.wire import dumps
from sessions_app.runs.cache_janitor import _compare, record_expiries
from sessions_app.wording.costs import cause_sums
from tests.capture.answers import MODEL, Asking, audited, says
from tests.capture.conversations import TOOLS, body_of, model, user
from tests.prices import make_price

pytestmark = pytest.mark.django_db

NAME = "cachedContents/a1b2c3"
BOOK = user("The whole book about bread. " * 40)
ASKED = user("How do I scale the loaf to two kilograms?")
TOKENS = 9_000


class CachingProgram(Asking):
    """Its clock is the real one, which is that of what is booked."""

    heads: tuple[tuple[str, str], ...] = ()
    key_hash = ""

    def begun(self, body: bytes, **fields: Any) -> Begun:
        return super().begun(body, key_hash=self.key_hash, **fields)

    def ended(self, begun: Begun, answer: bytes = b"", status: int | None = 200, **fields: Any) -> Ended:
        return super().ended(begun, answer, status, headers=kept(self.heads, of_answer=True), **fields)

    def make(self, name: str = NAME, hours: float = 1.0) -> CapturedRequest:
        held = {
            "model": f"models/{MODEL}",
            "contents": [BOOK],
            "tools": TOOLS,
            "ttl": f"{hours * 3_600:.0f}s",
        }
        return self.of_caches("POST", "/v1beta/cachedContents", held, self.said(name, hours))

    def extend(self, hours: float) -> CapturedRequest:
        return self.of_caches("PATCH", f"/v1beta/{NAME}?updateMask=ttl", {}, self.said(NAME, hours))

    def delete(self) -> CapturedRequest:
        return self.of_caches("DELETE", f"/v1beta/{NAME}", None, {})

    def ask_with(self, name: str = NAME, *more: Any, cached: int = TOKENS) -> Exchange:
        body = body_of([ASKED, *more], system="", tools=None, cachedContent=name)
        body = body.replace(b'"systemInstruction":{"role":"user","parts":[{"text":""}]},', b"")
        return self.exchange(body, says("Double it.", TOKENS + 20, cached))

    def of_vertex(self, method: str, path: str, project: str = "1234") -> CapturedRequest:
        """`project` is how the answer names it."""
        said = self.said(f"projects/{project}/locations/europe-west4/cachedContents/77", 1)
        said["model"] = f"projects/{project}/locations/europe-west4/publishers/google/models/{MODEL}"
        held = {"model": said["model"], "contents": [BOOK], "tools": TOOLS}
        return self.of_caches(method, f"/v1/projects/bread/locations/europe-west4/{path}", held, said)

    def of_caches(self, method: str, path: str, body: Any, said: Any) -> CapturedRequest:
        sent = b"" if body is None else orjson.dumps(body)
        facts: dict[str, Any] = {"method": method, "path": path, "model": "", "asks_model": False}
        return self.ask(sent, orjson.dumps(said), **facts)

    def said(self, name: str, hours: float) -> dict[str, Any]:
        until = self.now + timedelta(hours=hours)
        facts = {"name": name, "model": f"models/{MODEL}", "expireTime": until.isoformat()}
        return facts | {"usageMetadata": {"totalTokenCount": TOKENS}}


def made_by(owner: User, upstream: str) -> CachingProgram:
    make_price(MODEL)
    made = CachingProgram(CaptureAddress.issue(owner.pk, "Laptop", upstream=upstream)[0])
    made.now -= timedelta(minutes=2)
    return made


def beside(program: CachingProgram, owner: User) -> CachingProgram:
    """Another one, with the same clock."""
    made = CachingProgram(CaptureAddress.issue(owner.pk, "Again", upstream=program.address.upstream)[0])
    made.now = program.now
    return made


@pytest.fixture(params=CaptureAddress.Upstream.values)
def program(request: pytest.FixtureRequest, alice: User) -> CachingProgram:
    """Before Google with a key of its own, and before the emulator."""
    return made_by(alice, request.param)


def kinds() -> list[str]:
    return list(CacheEvent.objects.order_by("at", "pk").values_list("kind", flat=True))


def booked() -> list[tuple[str, bool]]:
    """Causes of what caches cost; whether it was given back."""
    rows = Booking.objects.exclude(cache_name="").order_by("pk")
    return [(row.cause, row.stored_seconds < 0) for row in rows]


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


def test_what_stands_in_two_imported_files_is_booked_once(program: CachingProgram, alice: User) -> None:
    """A second file has the same requests of the same moments, and what came after them."""
    other = CachingProgram(CaptureAddress.issue(alice.pk, "Again", upstream=program.address.upstream)[0])
    began = timezone.now() - timedelta(minutes=30)
    for one in (program, other):
        one.now = began
        one.make()
        one.extend(2)
        one.extend(3)
    kept = [("cache_made", False), *[("cache_kept", False)] * 3]
    assert booked() == kept and kinds() == ["planned", "made", "extended", "extended"]
    exchange = other.ask_with()
    assert [item.is_cached for item in exchange.sent_items()] == [True, True, False]
    other.delete()
    assert booked() == [*kept, *[("cache_kept", True)] * 3] and not audited()


def test_what_an_archive_shows_elsewhere_is_booked_once(alice: User) -> None:
    """It does not have the key, and may have the address of the relay or of a proxy."""
    live = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    archive = beside(live, alice)
    live.key_hash = "of the key"
    for one in (live, archive):
        one.make()
        one.extend(2)
        kept = booked()
    assert kept == [("cache_made", False), ("cache_kept", False), ("cache_kept", False)]
    assert [item.is_cached for item in archive.ask_with().sent_items()] == [True, True, False]
    live.delete()
    ended = booked()
    archive.delete()
    assert booked() == ended != kept and {entry.state for entry in CacheEntry.objects.all()} == {"gone"}
    assert not audited()


def test_what_two_people_captured_of_a_cache_is_booked_for_each(alice: User, bob: User) -> None:
    first = made_by(alice, CaptureAddress.Upstream.PROVIDER)
    for one in (first, beside(first, bob)):
        one.make()
        one.extend(2)
    first.delete()
    given_back = Booking.objects.filter(stored_seconds__lt=0)
    assert {row.owner for row in given_back} == {alice} and len(booked()) == 6 + given_back.count()
    assert not audited()


def test_of_a_file_that_was_deleted_the_next_one_tells_what_the_cache_held(
    program: CachingProgram, alice: User
) -> None:
    program.make()
    CapturedRequest.objects.all().erase()
    other = CachingProgram(CaptureAddress.issue(alice.pk, "Again", upstream=program.address.upstream)[0])
    row = other.make()
    assert CacheEntry.objects.get().captured_request == row and len(booked()) == 2
    assert [item.is_cached for item in other.ask_with().sent_items()] == [True, True, False]


def test_a_making_is_erased_without_its_cache(program: CachingProgram, alice: User) -> None:
    program.make()
    assert CapturedRequest.objects.of(alice).erase() == 1
    connection.check_constraints()
    assert CacheEntry.objects.get().captured_request is None and len(booked()) == 2
    exchange = program.ask_with()
    assert exchange.found_verdict and exchange.found_verdict.reason == VerdictReason.NAMED and not audited()


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
