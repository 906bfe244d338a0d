"""The HTTP archive has every attempt as it was, in the form of HAR 1.2."""

import base64
import json
from datetime import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from pydantic import ValidationError

from sessions_app.capture.har_imports import import_har
from sessions_app.inspector.har import har
from sessions_app.models import CaptureAddress, Exchange, Session
from sessions_app.prompt.verdict import VerdictReason
from tests.capture.answers import Asking, says
from tests.capture.conversations import body_of
from tests.capture.har_files import FIRST
from tests.factories import answered, finish, make_exchange, make_run, text_chunk
from tests.inspector.evidence import REFUSAL, add_attempt, add_refusal
from tests.inspector.har_format import Archive, Entry


def entries_of(exchange: Exchange) -> list[Entry]:
    """Of the archive as a file has it."""
    text = json.dumps(har(Exchange.objects.get(pk=exchange.pk)))
    return Archive.model_validate_json(text).log.entries


def headers(pairs: list[Any]) -> dict[str, str]:
    return {pair.name: pair.value for pair in pairs}


def test_an_answer_has_its_times_status_and_headers(session: Session) -> None:
    exchange = answered(session, "Hé", "Hi")
    attempt = add_attempt(exchange)
    (entry,) = entries_of(exchange)
    assert datetime.fromisoformat(entry.started_date_time) == attempt.started_at
    assert (entry.time, entry.timings.wait, entry.timings.receive) == (480, 120, 360)
    assert (entry.response.status, entry.response.status_text) == (200, "OK")
    assert headers(entry.request.headers)["user-agent"] == "google-genai-sdk/3"
    assert headers(entry.response.headers) == {"content-type": "text/event-stream"}
    assert entry.response.content.text.count("data: ") == 2


def test_each_attempt_up_to_the_exchange_is_an_entry(session: Session) -> None:
    run = make_run(session)
    first = make_exchange(run, [])
    add_refusal(first)
    second = make_exchange(run, resend_of=first)
    add_attempt(second, waited_ms=2_000.0)
    finish(run)
    assert [entry.response.status for entry in entries_of(second)] == [429, 200]
    assert [entry.response.status for entry in entries_of(first)] == [429]
    assert [entry["_waited_ms"] for entry in har(second)["log"]["entries"]] == [0, 2_000]


def test_a_refusal_has_its_body_and_real_time(session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    add_refusal(exchange)
    (entry,) = entries_of(exchange)
    assert entry.response.content.text.encode() == REFUSAL
    assert (entry.time, entry.response.content.mime_type) == (130, "application/json")
    assert headers(entry.response.headers)["retry-after"] == "7"


def test_what_ended_a_stream_follows_its_chunks(session: Session) -> None:
    exchange = make_exchange(make_run(session), [text_chunk("Half")])
    add_attempt(exchange, REFUSAL)
    text = entries_of(exchange)[0].response.content.text
    assert text.startswith("data: ") and text.endswith(REFUSAL.decode())


def test_bytes_that_are_no_text_are_base64(session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    add_refusal(exchange, b"\xff\x00\xfe")
    content = entries_of(exchange)[0].response.content
    assert content.encoding == "base64" and base64.b64decode(content.text) == b"\xff\x00\xfe"
    assert content.size == 3


def test_a_request_that_nobody_answered_has_status_0_and_waited_all_the_time(session: Session) -> None:
    exchange = make_exchange(make_run(session), [])
    add_attempt(exchange, status=None, reason="", http_version="", head_ms=None, response_headers=[])
    (entry,) = entries_of(exchange)
    assert (entry.response.status, entry.timings.wait, entry.timings.receive) == (0, 480, 0)
    assert (entry.response.http_version, entry.response.content.mime_type) == ("unknown", "unknown")


def test_an_earlier_exchange_says_that_nothing_is_stored(session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    (entry,) = entries_of(exchange)
    assert "not stored" in entry.comment and entry.time == 480
    add_attempt(exchange)
    assert "not stored" not in entries_of(exchange)[0].comment


def test_the_form_refuses_what_har_does_not_have(session: Session) -> None:
    told = har(answered(session, "Hello", "Hi"))
    told["log"]["entries"][0]["time"] = 1.0
    with pytest.raises(ValidationError):
        Archive.model_validate_json(json.dumps(told))


@pytest.mark.parametrize(("said", "is_text"), [("\ud83d", False), ("é😀", True)])
def test_a_body_of_a_program_that_is_no_utf8_is_not_passed_off_as_sent(
    alice: User, said: str, *, is_text: bool
) -> None:
    body = f'{{"contents":[{{"parts":[{{"text":"{said}"}}]}}]}}'.encode("utf-8", "surrogatepass")
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    (entry,) = har(program.exchange(body, says("Hi.")))["log"]["entries"]
    posted = entry["request"]["postData"]
    assert (posted["text"].encode() == body) == is_text == ("comment" not in posted)


@pytest.mark.parametrize(
    ("of_end", "is_broken"), [({}, False), ({"fault": "client_left"}, True), ({"is_cut": True}, True)]
)
def test_an_answer_that_broke_off_is_imported_as_one(alice: User, of_end: Any, *, is_broken: bool) -> None:
    program = Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])
    live = program.exchange(body_of([FIRST]), says("Half", finish=""), **of_end)
    told = har(live)
    assert ("_error" in told["log"]["entries"][0]["response"]) == is_broken
    import_har(alice.pk, "talk.har", json.dumps(told).encode())
    again = Exchange.objects.exclude(pk=live.pk).get()
    reasons = [found.reason for one in (live, again) if (found := one.found_verdict)]
    assert [one == VerdictReason.CUT_OFF for one in reasons] == [is_broken] * 2


def test_of_several_attempts_the_answered_one_broke_off(session: Session) -> None:
    exchange = make_exchange(make_run(session), [text_chunk("Half")], verdict_figures={"reason": "cut_off"})
    add_refusal(exchange)
    add_attempt(exchange)
    entries = har(Exchange.objects.get(pk=exchange.pk))["log"]["entries"]
    assert ["_error" in entry["response"] for entry in entries] == [False, True]
