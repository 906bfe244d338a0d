"""A HAR file becomes captured requests in sessions; its page says what was recorded and what was not."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.body_limits import HAR_LIMIT
from sessions_app.capture import har_imports
from sessions_app.capture.addresses import find_address
from sessions_app.capture.har_imports import LONGEST, import_har
from sessions_app.capture.har_reading import Ignored
from sessions_app.capture.recording import Recording
from sessions_app.capture.records import Record
from sessions_app.capture.regrouping import split
from sessions_app.chat.time_zone import COOKIE
from sessions_app.error_codes import HarProblem
from sessions_app.errors import HarRefused
from sessions_app.inspector.code_samples import code_samples_of, key_header
from sessions_app.inspector.har import har
from sessions_app.models import (
    Blob,
    Booking,
    CaptureAddress,
    CapturedRequest,
    Exchange,
    PersonalLimits,
    Spending,
)
from sessions_app.models.captured_request import RETENTION
from tests.beside import beside
from tests.capture.answers import MODEL, audited, counted
from tests.capture.conversations import body_of, model
from tests.capture.har_files import FIRST, GOOGLE, SECOND, archive, devtools_entry, mitmproxy_entry
from tests.factories import answered, make_session, text_chunk
from tests.inspector.evidence import add_attempt
from tests.models.money import assert_sums_agree
from tests.prices import make_price

pytestmark = pytest.mark.django_db

UNARY = f"/v1beta/models/{MODEL}:generateContent"

TALK = archive(
    devtools_entry(body_of([FIRST])),
    devtools_entry(body_of([FIRST, model("Double it."), SECOND]), at=5),
    mitmproxy_entry(b"", at=6, url="https://example.org/"),
)


def upload(client: Client, body: bytes, name: str = "talk.har") -> str:
    file = SimpleUploadedFile(name, body, "application/json")
    return client.post(reverse("har"), {"file": file}, follow=True).content.decode()


def test_requests_of_a_file_become_one_session(alice: User) -> None:
    found = import_har(alice.pk, "talk.har", TALK)
    assert (found.requests, found.sessions, found.no_room) == (2, 1, 0)
    assert found.ignored == {Ignored.OTHER_ADDRESS: 1}
    first, second = CapturedRequest.objects.order_by("pk")
    assert (first.relation, second.relation, second.session) == ("opens", "continues", first.session)
    assert second.status == 200 and not second.is_open


@pytest.mark.parametrize("has_attempt", [True, False])
def test_what_the_inspector_exports_comes_back_byte_for_byte(alice: User, has_attempt: bool) -> None:
    session = make_session(alice)
    exchanges = [answered(session, "Is it “läte”?", "Yes. 👩‍👧"), answered(session, "How much?", "An hour.")]
    for exchange in exchanges:
        if has_attempt:
            add_attempt(exchange)
        told = har(Exchange.objects.get(pk=exchange.pk))
        import_har(alice.pk, "exchange.har", json.dumps(told).encode())
        row = CapturedRequest.objects.latest("pk")
        assert row.sent_body() == exchange.sent_body()
        chunks = exchange.chunks.values_list("body", flat=True)
        framed = [b"data: %b\r\n\r\n" % bytes(chunk) for chunk in chunks]
        assert row.received_body() == b"".join(framed)
        assert row.packets == [[ms, len(one)] for ms, one in zip((120.0, 200.0), framed, strict=True)]
        assert (row.prompt_tokens, row.cached_tokens) == (exchange.prompt_tokens, exchange.cached_tokens)
        assert (row.model, row.total_ms) == (exchange.model, 480.0)


def test_the_address_of_a_file_never_relays(alice: User) -> None:
    import_har(alice.pk, "talk.har", TALK)
    address = CaptureAddress.objects.get()
    assert not address.is_living and not CaptureAddress.objects.living().exists()
    known = find_address(address.token_hash)
    assert known is not None and known.fault is not None


def test_the_same_file_is_recognised_until_its_requests_are_deleted(alice: User, bob: User) -> None:
    import_har(alice.pk, "talk.har", TALK)
    with pytest.raises(HarRefused) as refused:
        import_har(alice.pk, "another name.har", TALK)
    assert (refused.value.reason, refused.value.figures["requests"]) == (HarProblem.KNOWN, 2)
    import_har(bob.pk, "talk.har", TALK)
    CapturedRequest.objects.of(alice).erase()
    assert import_har(alice.pk, "talk.har", TALK).requests == 2
    assert CaptureAddress.objects.of(alice).count() == 1


HOSTS = [
    ("https://generativelanguage.googleapis.com", [], "client"),
    ("https://llm-gateway.corp.example", [], "client"),
    ("http://emulator.invalid", [], "emulator"),
    ("http://127.0.0.1:8233", [{"name": "X-Pipeweb-Emulator", "value": "1"}], "emulator"),
]


@pytest.mark.parametrize(("host", "headers", "source"), HOSTS)
def test_whose_money_an_answer_cost_is_told_by_its_host(
    alice: User, host: str, headers: list[dict[str, str]], source: str
) -> None:
    make_price(MODEL)
    entries = [
        mitmproxy_entry(body_of(contents), at, url=f"{host}{UNARY}")
        for at, contents in enumerate(([FIRST], [FIRST, model("So."), SECOND]))
    ]
    for entry in entries:
        entry["response"]["headers"] += headers
        entry["response"]["content"]["text"] = text_chunk("So.", finish="STOP", usage=counted(90)).decode()
    import_har(alice.pk, "talk.har", archive(*entries))
    assert set(Exchange.objects.values_list("base_url", flat=True)) == {host}
    assert set(Booking.objects.values_list("source", flat=True)) == {source} and not audited()
    route = Exchange.objects.values_list("route", flat=True).first()
    split(Exchange.objects.select_related("session")[0].session, 2)
    assert set(Exchange.objects.values_list("route", "base_url")) == {(route, host)} and not audited()


def test_a_cache_that_a_program_made_is_of_the_host_that_it_was_made_at(alice: User) -> None:
    made = mitmproxy_entry(b"{}", url="http://emulator.invalid/v1beta/cachedContents")
    said = {"name": "cachedContents/abc", "model": f"models/{MODEL}", "expireTime": "2026-11-02T10:30:00Z"}
    made["response"]["content"]["text"] = json.dumps(said | {"usageMetadata": {"totalTokenCount": 7_021}})
    import_har(alice.pk, "talk.har", archive(made))
    assert set(Booking.objects.values_list("source", flat=True)) == {"emulator"} and not audited()


def test_files_do_not_mix(alice: User) -> None:
    import_har(alice.pk, "a.har", archive(devtools_entry(body_of([FIRST]))))
    longer = archive(devtools_entry(body_of([FIRST, model("Double it."), SECOND]), at=5))
    import_har(alice.pk, "b.har", longer)
    assert set(CapturedRequest.objects.values_list("relation", flat=True)) == {"opens"}


def answer(response_id: str, at: float = 0, contents: Sequence[Any] = (FIRST,)) -> dict[str, Any]:
    """An entry whose answer has an id of the provider; without one where it is empty."""
    entry = mitmproxy_entry(body_of(list(contents)), at, url=f"{GOOGLE}{UNARY}")
    said = json.loads(text_chunk("So.", finish="STOP", usage=counted(90)))
    entry["response"]["content"]["text"] = json.dumps(said | {"responseId": response_id})
    return entry


def booked() -> list[tuple[int | None, Decimal | None]]:
    return list(Booking.objects.order_by("pk").values_list("session", "usd"))


@pytest.mark.parametrize(("response_id", "later"), [("AbC", 0), ("AbC", 0.25), ("", 0)])
def test_an_answer_that_stands_in_two_files_is_booked_once(
    client: Client, alice: User, response_id: str, later: float
) -> None:
    """Known by the provider's id, though another tool tells other times; without one by request and time."""
    make_price(MODEL)
    import_har(alice.pk, "a.har", archive(answer(response_id)))
    import_har(alice.pk, "b.har", archive(answer(response_id, later), answer("other", 9, [SECOND])))
    first, second, third = Exchange.objects.order_by("pk")
    assert len(booked()) == 2 and first.usd == second.usd
    assert {one.session_id for one in Booking.objects.all()} == {first.session_id, third.session_id}
    assert first.usd and third.usd and Spending.objects.get().usd == first.usd + third.usd
    assert not audited()
    listed, other = (
        client.get(reverse("exchanges", args=[one.session.public])).content.decode()
        for one in (second, first)
    )
    assert "1 answer of these stands in another session as well" in listed
    assert "in another session as well" not in other


def test_other_answers_and_other_peoples_are_booked_each(alice: User, bob: User) -> None:
    make_price(MODEL)
    import_har(alice.pk, "a.har", archive(answer("AbC")))
    import_har(alice.pk, "b.har", archive(answer("AbD")))
    import_har(alice.pk, "c.har", archive(answer("", 7), answer("", 8)))
    import_har(bob.pk, "a.har", archive(answer("AbC")))
    assert len(booked()) == 5


def test_what_a_deleted_import_had_booked_is_that_of_the_next(alice: User) -> None:
    make_price(MODEL)
    import_har(alice.pk, "a.har", archive(answer("AbC")))
    ((_, usd),) = booked()
    Exchange.objects.get().session.erase()
    assert booked() == [(None, usd)]
    import_har(alice.pk, "a.har", archive(answer("AbC")))
    session = Exchange.objects.get().session
    assert booked() == [(session.pk, usd)] and session.spent_usd == usd == Spending.objects.get().usd
    assert Booking.objects.get().exchange == Exchange.objects.get() and not audited()
    assert_sums_agree()


def test_an_import_that_its_process_left_begins_again(alice: User) -> None:
    import_har(alice.pk, "talk.har", TALK)
    CaptureAddress.objects.update(expires_at=None)
    with pytest.raises(HarRefused) as refused:
        import_har(alice.pk, "talk.har", TALK)
    assert refused.value.reason is HarProblem.UNDER_WAY
    CaptureAddress.objects.update(created_at=timezone.now() - LONGEST - timedelta(seconds=1))
    assert import_har(alice.pk, "talk.har", TALK).requests == 2
    assert CapturedRequest.objects.count() == 2


def test_of_an_import_that_fails_nothing_is_left(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Recording):
        def __call__(self, records: Sequence[Record]) -> None:
            super().__call__(records)
            raise RuntimeError

    monkeypatch.setattr(har_imports, "Recording", Failing)
    with pytest.raises(RuntimeError):
        import_har(alice.pk, "talk.har", TALK)
    with pytest.raises(HarRefused):
        import_har(alice.pk, "x.har", b"{}")
    for rows in (CaptureAddress, CapturedRequest, Blob):
        assert not rows._default_manager.exists()


def test_an_old_file_stays(alice: User) -> None:
    import_har(alice.pk, "talk.har", TALK)
    CapturedRequest.objects.update(received_at=timezone.now() - RETENTION - timedelta(days=300))
    assert not CapturedRequest.objects.expired().exists()


def test_the_page_says_what_was_recorded_and_what_was_not(client: Client, alice: User) -> None:
    shown = upload(client, TALK)
    assert "Recorded 2 requests in 1 session." in shown
    assert "Left out: 1 to other addresses than the Gemini API." in shown
    assert "loaf-page" in shown or "Mozilla" in shown
    assert "was imported on" in upload(client, TALK)


def test_the_page_tells_times_as_the_browser_has_them(client: Client, alice: User) -> None:
    client.cookies[COOKIE] = "America/New_York"
    upload(client, archive(devtools_entry()))
    CaptureAddress.objects.update(expires_at=datetime(2026, 11, 29, 5, 40, tzinfo=UTC))
    said = upload(client, archive(devtools_entry()))
    assert "imported on 29 Nov 2026, 00:40, and the list has 1 request of it" in said


def test_the_page_says_what_is_wrong_with_a_file(client: Client) -> None:
    broken = devtools_entry()
    del broken["request"]["url"]
    assert "log.entries[0].request.url" in upload(client, archive(broken))
    assert "is not JSON" in upload(client, b"<html>")
    assert "is not JSON" in upload(client, b"")
    assert not CapturedRequest.objects.exists()


def test_a_file_that_is_too_large_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions_app.capture.har_views.HAR_LIMIT", 2**20)
    assert HAR_LIMIT > 2**20
    assert "at most 1 MB" in upload(client, TALK + b" " * 2**20)


def test_who_has_no_storage_left_is_told(client: Client, alice: User) -> None:
    PersonalLimits.objects.create(user_id=alice.pk, storage_mb=0)
    file = SimpleUploadedFile("talk.har", TALK, "application/json")
    assert client.post(reverse("har"), {"file": file}).status_code in (302, 413, 429)
    assert not CapturedRequest.objects.exists()


def test_a_form_without_a_file_changes_nothing(client: Client) -> None:
    assert client.post(reverse("har"), follow=True).status_code == 200
    assert client.get(reverse("har")).status_code == 405
    assert not CaptureAddress.objects.exists()


VERTEX = "https://europe-west4-aiplatform.googleapis.com/v1"


@pytest.mark.parametrize(
    ("base", "samples", "key"),
    [
        ("https://proxy.example/some/prefix/v1beta", 4, "x-goog-api-key"),
        (f"{VERTEX}/projects/p/locations/europe-west4/publishers/google", 3, "Authorization"),
        (f"{VERTEX}/publishers/google", 3, "x-goog-api-key"),
    ],
)
def test_requests_behind_a_prefix_and_at_vertex_become_a_session(
    alice: User, base: str, samples: int, key: str
) -> None:
    """A sample of code asks the same address with the credential that it takes."""
    url = f"{base}/models/{MODEL}:generateContent"
    sent = [body_of([FIRST]), body_of([FIRST, model("Double it."), SECOND])]
    found = import_har(
        alice.pk, "a.har", archive(*(mitmproxy_entry(one, at, url=url) for at, one in enumerate(sent)))
    )
    assert (found.requests, found.sessions, found.ignored) == (2, 1, {})
    for row in CapturedRequest.objects.order_by("pk"):
        assert row.exchange is not None and row.model == MODEL
        assert f"{row.exchange.base_url}{row.path}" == url
        assert len(code_samples_of(row.exchange)) == samples and key_header(row.exchange)[0] == key


@pytest.mark.django_db(transaction=True)
def test_of_two_that_import_a_deleted_file_again_at_once_one_does(alice: User) -> None:
    import_har(alice.pk, "talk.har", TALK)
    CapturedRequest.objects.all().delete()
    CaptureAddress.objects.update(created_at=timezone.now() - LONGEST)
    with beside() as begin:
        with transaction.atomic():
            har_imports._address(alice.pk, "talk.har", TALK)
            second = begin(lambda: har_imports._address(alice.pk, "talk.har", TALK))
        refused = second.exception(60)
    assert isinstance(refused, HarRefused) and refused.reason is HarProblem.UNDER_WAY
