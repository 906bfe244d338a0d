"""How a captured request was answered: chunks, error, outcome, run, verdict and turn; all as audited."""

from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.capture.captured_answer import RELAY_ERROR
from sessions_app.error_codes import CaptureFault
from sessions_app.exchange_sums import cost_of
from sessions_app.models import Booking, CaptureAddress, CapturedRequest, Exchange, Run
from tests.capture.answers import MODEL, Asking, audited, calls, counted, event, says
from tests.capture.conversations import body_of, user
from tests.factories import text_chunk
from tests.prices import make_price

pytestmark = pytest.mark.django_db

ASKED = body_of([user("How do I scale the loaf to two kilograms?")])
ERROR = event(b'{"error": {"code": 500, "message": "Internal error.", "status": "INTERNAL"}}')
UNARY = f"/v1beta/models/{MODEL}:generateContent"


@pytest.fixture
def program(alice: User) -> Asking:
    make_price(MODEL)
    return Asking(CaptureAddress.issue(alice.pk, "Laptop")[0])


def facts(exchange: Exchange) -> tuple[str, str, str, str]:
    reason = exchange.verdict_figures.get("reason", "")
    return exchange.run.status, exchange.outcome, exchange.error.get("kind", ""), reason


def test_an_answer_in_one_piece(program: Asking) -> None:
    body = orjson.dumps(
        orjson.loads(text_chunk("Double it.", finish="STOP", usage=counted(90, 60))),
        option=orjson.OPT_INDENT_2,
    )
    exchange = program.exchange(ASKED, body, path=UNARY)
    assert facts(exchange) == (Run.Status.COMPLETED, "complete", "", "anothers_prefix")
    assert [bytes(one.body) for one in exchange.chunks.all()] == [body]
    assert exchange.turns.get().text == "Double it." and not exchange.turns.get().cut
    assert exchange.usd and not audited()


def test_an_answer_in_chunks(program: Asking) -> None:
    body = event(text_chunk("Double ")) + says("it.", 90)
    exchange = program.exchange(ASKED, body, packets=[(5.0, 40), (9.0, len(body) - 40)])
    assert exchange.chunks.count() == 2 and exchange.turns.get().text == "Double it."
    assert [one.ms for one in exchange.chunks.order_by("seq")] == [9.0, 9.0]
    assert facts(exchange) == (Run.Status.COMPLETED, "complete", "", "nothing_before") and not audited()


def test_an_answer_with_a_call(program: Asking) -> None:
    exchange = program.exchange(ASKED, calls("look", where="into the oven"))
    assert exchange.turns.get().kind == "function_calling" and exchange.outcome == "calls"
    assert exchange.run.status == Run.Status.COMPLETED and not audited()


REFUSALS = [
    (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
]


@pytest.mark.parametrize(("status", "code", "said"), REFUSALS)
@pytest.mark.parametrize("is_list", [False, True], ids=["unary", "in an array"])
def test_a_refusal(program: Asking, status: int, code: str, said: str, is_list: bool) -> None:
    error = {"error": {"code": status, "message": said, "status": code}}
    body = orjson.dumps([error] if is_list else error)
    exchange = program.exchange(ASKED, body, status)
    assert facts(exchange) == (Run.Status.FAILED, "", exchange.error["kind"], "not_answered")
    assert said in str(exchange.error) and exchange.error["code"] == status
    assert not exchange.turns.exists() and not Booking.objects.exists()
    assert [record["figures"]["case"] for record in exchange.stages] == ["failed", "uncounted"]
    attempt = exchange.attempts.get()
    assert attempt.body and attempt.body.bytes == body and not audited()


@pytest.mark.parametrize("body", [b"", b"<html>502</html>", b"null", b"[]", b'{"error": "no"}'])
def test_a_refusal_in_no_form_of_google(program: Asking, body: bytes) -> None:
    exchange = program.exchange(ASKED, body, 502)
    assert exchange.run.status == Run.Status.FAILED and exchange.error["code"] == 502
    assert not audited()


def test_an_error_within_a_stream(program: Asking) -> None:
    exchange = program.exchange(ASKED, event(text_chunk("Double ")) + ERROR)
    assert exchange.run.status == Run.Status.FAILED and "Internal error." in str(exchange.error)
    assert exchange.turns.get().cut and not audited()


def test_a_stream_of_an_error_alone(program: Asking) -> None:
    exchange = program.exchange(ASKED, ERROR)
    assert exchange.run.status == Run.Status.FAILED and not exchange.turns.exists() and not audited()


@pytest.mark.parametrize("rest", [b"", ERROR], ids=["nothing more", "an error"])
def test_what_an_answer_cost_that_has_no_end_is_a_lower_bound(
    program: Asking, client: Client, rest: bytes
) -> None:
    exchange = program.exchange(ASKED, event(text_chunk("Double ", usage=counted(9_000))) + rest)
    assert exchange.usd and Booking.objects.get().cut_off and not audited()
    listed = client.get(reverse("capture")).content.decode()
    assert cost_of(exchange).text.startswith("≥\xa0$") and f">{cost_of(exchange).text}<" in listed


@pytest.mark.parametrize("fault", [CaptureFault.CLIENT_LEFT, CaptureFault.BROKEN_OFF])
def test_an_answer_that_breaks_off(program: Asking, fault: CaptureFault) -> None:
    exchange = program.exchange(ASKED, event(text_chunk("Double ")), fault=fault.value)
    assert facts(exchange)[2:] == (RELAY_ERROR, "cut_off")
    assert exchange.run.status == Run.Status.STOPPED and exchange.turns.get().cut
    assert exchange.error["reason"] == fault and not audited()


def test_a_program_that_leaves_before_anything_came(program: Asking) -> None:
    exchange = program.exchange(ASKED, b"", None, fault=CaptureFault.CLIENT_LEFT.value)
    assert facts(exchange)[2:] == (RELAY_ERROR, "not_answered")
    assert exchange.run.status == Run.Status.STOPPED and not exchange.turns.exists() and not audited()


def test_an_answer_too_large_to_be_kept_whole(program: Asking) -> None:
    exchange = program.exchange(ASKED, event(text_chunk("Double ")) + b'data: {"candi', is_cut=True)
    assert exchange.verdict_figures["reason"] == "cut_off" and exchange.turns.get().cut
    assert exchange.run.status == Run.Status.COMPLETED and not audited()


def test_a_stray_line_behind_the_events_loses_none_of_them(program: Asking) -> None:
    line = b"upstream connect error or disconnect\n"
    body = event(text_chunk("Double ")) + says("it.", 90) + line
    exchange = program.exchange(ASKED, body)
    assert facts(exchange) == (Run.Status.COMPLETED, "complete", "", "nothing_before")
    assert exchange.chunks.count() == 2 and exchange.turns.get().text == "Double it." and not audited()
    attempt, row = exchange.attempts.get(), CapturedRequest.objects.get()
    assert attempt.body and attempt.body.bytes == line and row.received_body() == body


UNREADABLE = [
    *(b"<html>Sign in</html>", b"\x1f\x8b\x08\x00", b'{"candidates": [{"con', b"[1,", b"[]", b"null"),
    *(b"data: nothing\n\n", b'data: {"candidates": [{"con'),
]


@pytest.mark.parametrize("body", UNREADABLE)
def test_an_answer_that_cannot_be_read_has_come(program: Asking, client: Client, body: bytes) -> None:
    exchange = program.exchange(ASKED, body)
    assert facts(exchange) == (Run.Status.FAILED, "", "AnswerRefused", "unreadable")
    assert exchange.error["reason"] == "answer_unreadable" and exchange.first_chunk_ms is None
    assert not exchange.turns.exists() and not Booking.objects.exists() and not audited()
    assert CapturedRequest.objects.get().received_body() == body
    pages = [client.get(f"{exchange.get_absolute_url()}?tab={tab}") for tab in ("response", "wire", "stream")]
    assert "An answer came that could not be read." in pages[0].content.decode()
    assert not any("No chunk arrived" in page.content.decode() for page in pages)


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b'{"candidates": [{"con'])
def test_what_came_in_the_place_of_an_answer_is_on_the_page(
    program: Asking, client: Client, body: bytes
) -> None:
    exchange = program.exchange(ASKED, body)
    attempt = exchange.attempts.get()
    assert attempt.body and attempt.body.bytes == body


def test_an_answer_that_is_empty_did_not_come(program: Asking) -> None:
    exchange = program.exchange(ASKED, b"")
    assert facts(exchange) == (Run.Status.COMPLETED, "", "", "not_answered") and not audited()


@pytest.mark.parametrize(("fields", "body"), [({"is_cut": True}, b""), ({"fault": "broken_off"}, b'{"cand')])
def test_an_answer_of_which_nothing_whole_came_is_cut_off(
    program: Asking, fields: dict[str, Any], body: bytes
) -> None:
    exchange = program.exchange(ASKED, body, **fields)
    assert (exchange.outcome, exchange.verdict_figures["reason"]) == ("", "cut_off") and not audited()


def test_the_list_counts_what_the_exchange_counts(program: Asking) -> None:
    """Also of an event that has no blank line behind it, and of an answer that is not whole."""
    for body, is_cut in ((says("Double it.", 90).rstrip(), False), (says("Double it.", 90), True)):
        exchange = program.exchange(ASKED, body, is_cut=is_cut)
        row = CapturedRequest.objects.get(exchange=exchange)
        assert (row.prompt_tokens, row.finish_reason) == (exchange.prompt_tokens, "STOP") == (90, "STOP")
